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
        return f"const {I} a{q} = ({I})TX_LOAD_i32(i{q}_p, {walked[q]}), e{q} = a{q} + ({I})TX_LOAD_i32(i{q}_p, w{q} + {walked[q]});"

    def weight(q):
        return T.load(weights[f"x{q + 1}"], f"(j{q} - a{q}) * w{q} + {walked[q]}", f"m{q}")

    z = space - 1
    along = "1" if x.access == "c" else f"{x.name}_s{lead + z}"
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
<%doc>A span of results at once, on a CPU: neighbour by neighbour, as vectors.</%doc>\
<%def name="lanes(k)">\
% if k < z:
for (${I} j${k} = a${k}; j${k} < e${k}; ++j${k}) {
% if not plain:
${weight(k)}
const ${acc} share${k} = ${f"share{k - 1} * m{k}" if k else "m0"};
% endif
${lanes(k + 1)}\
}
% else:
${T.moved(x, "x0_v", "x0_p", "x0_c + " + within(x, [f"j{i}" for i in range(z)] + ["" ]))}
for (${I} t = 0; t < t${z}; ++t) {
% if not plain:
${T.moved(weights[f"x{z + 1}"], "m_v", f"x{z + 1}_p", f"t * w{z} + begin")}
% endif
${SIMD}
for (${I} l = 0; l < width; ++l) {
const ${I} count = (${I})TX_LOAD_i32(many_v, l);
const ${I} at = (${I})TX_LOAD_i32(first_v, l) + (t < count ? t : 0);
${T.load(x, f"at * {along}", base="x0_v")}
% if plain:
const ${acc} part = ${value};
% else:
${T.load(weights[f"x{z + 1}"], "l", "m", "m_v")}
const ${acc} part = ${f"share{z - 1} * " if z else ""}(m * ${value});
% endif
const ${acc} add = t < count ? part : 0;
${added("sum[l]", "add")}
}
}
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
    const ${I} width = stop - begin;
    ${acc} sum[${span}];
    for (${I} l = 0; l < width; ++l) sum[l] = 0;
    TX_GLOBAL const i32 *first_v = i${z}_p + begin;
    TX_GLOBAL const i32 *many_v = i${z}_p + (w${z} + begin);
${lanes(0)}\
    ${T.moved(y, "y0_v", "y0_p", "y0_c + " + within(y, [*walked[:-1], "begin"]))}
    for (${I} l = 0; l < width; ++l) {
      ${T.declare(y)}
      y0 = ${result("sum[l]")};
      ${T.store(y, "l" if y.access == "c" else f"l * {y.name}_s{lead + z}", base="y0_v")}
    }
% else:
    {
      ${start(space - 1)}
${sums(0)}\
      ${T.declare(y)}
      y0 = ${result("sum0")};
      ${T.store(y, "y0_c + " + within(y, walked))}
    }
% endif
  }
}
