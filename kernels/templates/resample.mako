<%
    I = spec.index
    x, y = spec.inputs[0], spec.outputs[0]
    outer = [f"c{k}" for k in range(lead)]
    walked = [f"o{q}" for q in range(space)]
    names, extents = outer + walked, X.sizes(lead) + [f"w{q}" for q in range(space)]
    last = walked[-1]
    walks = span > 1

    def within(operand, coords):
        return X.offset(operand, [""] * lead + coords)

    def start(q):
        return f"const {I} a{q} = ({I})TX_LOAD_i32(i{q}_p, 2 * {walked[q]}), e{q} = a{q} + ({I})TX_LOAD_i32(i{q}_p, 2 * {walked[q]} + 1);"

    def weight(q):
        return T.load(weights[f"x{q + 1}"], f"{walked[q]} * t{q} + j{q} - a{q}", f"m{q}")
%>\
<%def name="sums(q)">\
% if q < space:
${acc} sum${q} = 0;
for (${I} j${q} = a${q}; j${q} < e${q}; ++j${q}) {
${sums(q + 1)}\
% if plain:
${added(f"sum{q}", f"sum{q + 1}")}
% else:
${weight(q)}
sum${q} = sum${q} + m${q} * sum${q + 1};
% endif
}
% else:
${T.load(x, "x0_c + " + within(x, [f"j{k}" for k in range(space)]))}
const ${acc} sum${q} = ${value};
% endif
</%def>\
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
% for o in (y, x):
    const ${I} ${o.name}_c = ${X.offset(o, outer + [""] * space)};
% endfor
% for q in range(space - 1):
    ${start(q)}
% endfor
% if walks:
    for (${I} ${last} = begin; ${last} < stop; ++${last}) {
% else:
    {
% endif
      ${start(space - 1)}
${sums(0)}\
      ${T.declare(y)}
      y0 = ${result("sum0")};
      ${T.store(y, "y0_c + " + within(y, walked))}
    }
  }
}
