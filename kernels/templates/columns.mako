<%
    I = spec.index
    x, y = spec.inputs[0], spec.outputs[0]
    outer = [f"c{k}" for k in range(lead)]
    outs = [f"o{q}" for q in range(space)]
    last = names[-1]
    walks = span > 1
    parts = ["r", "i"] if T.is_complex(y.compute) else [""]

    def within(operand, coords):
        return X.offset(operand, [""] * lead + coords)

    taps = [f"t{q}" for q in range(space)]
    places = [f"j{q}" for q in range(space)]
    inside = " && ".join(f"j{q} >= 0 && j{q} < v{q}" for q in range(space))
    have, want = T.held(acc), T.held(y.compute)
%>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.operands:
  ${X.shift(o)}
% endfor
% if walks:
  const ${I} pieces = (w${space - 1} + ${span - 1}) / ${span};
  const ${I} total = ${" * ".join([*extents[:-1], "pieces"])};
  ${X.each(d, I, "total", f"(i64)total * (w{space - 1} < {span} ? w{space - 1} : {span})")}
    const ${I} row = item / pieces, begin = (item - row * pieces) * ${span};
    const ${I} stop = w${space - 1} - begin < ${span} ? w${space - 1} : begin + ${span};
    ${T.coords("row", names[:-1], extents[:-1], I)}
% else:
  const ${I} total = ${" * ".join(extents)};
  ${X.each(d, I, "total", "total")}
    ${T.coords("item", names, extents, I)}
% endif
    const ${I} x0_c = ${X.offset(x, outer + [""] * (2 * space if back else space))};
    const ${I} y0_c = ${X.offset(y, outer + ([] if back else taps) + [""] * space)};
% if back:
% for q in range(space - 1):
    ${visited(q, outs[q])}
% endfor
% else:
% for q in range(space - 1):
    const ${I} j${q} = o${q} * s${q} - p${q} + t${q} * d${q};
% endfor
    const ${I} from = t${space - 1} * d${space - 1} - p${space - 1};
% endif
% if walks:
    for (${I} ${last} = begin; ${last} < stop; ++${last}) {
% else:
    {
% endif
    ${T.declare(y)}
% if back:
      ${visited(space - 1, last)}
      ${T.part(acc)} ${", ".join(f"sum{s} = 0" for s in parts)};
% for q in range(space):
      for (${I} j${q} = a${q}; j${q} < e${q}; ++j${q}) {
        const ${I} u${q} = o${q} + p${q} - j${q} * s${q}, t${q} = u${q} / d${q};
        if (t${q} * d${q} == u${q}) {
% endfor
          ${T.load(x, "x0_c + " + within(x, taps + places))}
          ${added}
% for q in range(space):
        }
      }
% endfor
% for s in parts:
      y0${s} = ${T.cast("sum" + s, have, want)};
% endfor
% else:
      const ${I} j${space - 1} = ${last} * s${space - 1} + from;
% for s in parts:
      y0${s} = 0;
% endfor
      if (${inside}) {
        ${T.load(x, "x0_c + " + within(x, places))}
% for s in parts:
        y0${s} = x0${s};
% endfor
      }
% endif
      ${T.store(y, "y0_c + " + X.offset(y, [""] * (len(names) - space) + outs))}
    }
  }
}
