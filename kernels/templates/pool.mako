<%
    I = spec.index
    x, y = spec.inputs[0], spec.outputs[0]
    outer = [f"c{k}" for k in range(lead)]
    walked = [f"o{q}" for q in range(space)]
    places = [f"j{q}" for q in range(space)]
    names, extents = outer + walked, X.sizes(lead) + [f"w{q}" for q in range(space)]
    last = walked[-1]
    walks = span > 1
    step = [f"d{q}" if law == "windows" and not back else "1" for q in range(space)]

    def from_lead(operand):
        return X.offset(operand, outer + [""] * space)

    def within(operand, coords):
        return X.offset(operand, [""] * lead + coords)

    def flat(coords, extent):
        """The row-major place of the coordinates."""
        text = coords[0]
        for q in range(1, space):
            text = f"({text}) * {extent}{q} + {coords[q]}"
        return text
%>\
<%def name="visit(q)">for (${I} j${q} = a${q}; j${q} < e${q}; j${q} += ${step[q]})</%def>\
<%def name="max_forward()">\
${acc} best = ${lowest};
${I} place = ${flat([f"a{q}" for q in range(space)], "v")};
% for q in range(space):
${visit(q)} {
% endfor
${T.load(x, "x0_c + " + within(x, places))}
const int more = ${better};
best = more ? ${value} : best;
place = more ? ${flat(places, "v")} : place;
% for q in range(space):
}
% endfor
${T.declare(y)}
y0 = ${result("best")};
${T.store(y, "y0_c + " + within(y, walked))}
i64 y1 = place;
${T.store(spec.outputs[1], "y1_c + " + within(spec.outputs[1], walked))}
</%def>\
<%doc>
The maxima of a span of outputs, on a CPU: one tap of the windows after the other, for all of them at once, as vectors.
</%doc>\
<%def name="max_lanes()">\
<% q = space - 1 %>\
${acc} best[${span}];
${I} place[${span}];
for (${I} ${last} = begin; ${last} < stop; ++${last}) {
${visited(q, last)}
best[${last} - begin] = ${lowest};
place[${last} - begin] = ${flat([f"a{k}" for k in range(space)], "v")};
}
% for k in range(q):
${visit(k)} {
% endfor
for (${I} t = 0; t < k${q}; ++t) {
const ${I} shift = t * d${q} - p${q}, room = v${q} - 1 - shift;
const ${I} low = shift < 0 ? (s${q} - 1 - shift) / s${q} : 0, high = room < 0 ? 0 : room / s${q} + 1;
const ${I} from = low > begin ? low : begin, count = (high < stop ? high : stop) - from;
const ${I} at = ${flat([*places[:-1], f"(from * s{q} + shift)"], "v")}, step = ${"1" if x.access == "c" else f"{x.name}_s{lead + q}"} * s${q};
${T.moved(x, "x0_v", "x0_p", "x0_c + " + within(x, [*places[:-1], f"(from * s{q} + shift)"]))}
${SIMD}
for (${I} l = 0; l < count; ++l) {
${T.load(x, "l * step", base="x0_v")}
const ${acc} seen = ${value}, top = best[from - begin + l];
const int more = ${better.replace("x0", "seen").replace("best", "top")};
best[from - begin + l] = more ? seen : top;
place[from - begin + l] = more ? at + l * s${q} : place[from - begin + l];
}
}
% for k in range(q):
}
% endfor
for (${I} ${last} = begin; ${last} < stop; ++${last}) {
${T.declare(y)}
y0 = ${result(f"best[{last} - begin]")};
${T.store(y, "y0_c + " + within(y, walked))}
i64 y1 = place[${last} - begin];
${T.store(spec.outputs[1], "y1_c + " + within(spec.outputs[1], walked))}
}
</%def>\
<%def name="sum_of(each)">\
${acc} sum = 0;
% for q in range(space - 1):
${visit(q)} {
% endfor
<% z, stride = space - 1, step[space - 1] %>\
for (${I} at = a${z}; at < e${z}; at += ${block} * ${stride}) {
${acc} row = 0;
const ${I} upto = e${z} - at < ${block} * ${stride} ? e${z} : at + ${block} * ${stride};
for (${I} j${z} = at; j${z} < upto; j${z} += ${stride}) {
${each}
}
${added("sum", "row")}
}
% for q in range(space - 1):
}
% endfor
${T.declare(y)}
</%def>\
<%doc>
Backward on a CPU: the span of a row takes what each window near it has for it. A window is read once, and nothing is
divided for each element.
</%doc>\
<%def name="spread()">\
<% q = space - 1 %>\
${acc} held[${span}];
for (${I} c = 0; c < stop - begin; ++c) held[c] = 0;
${I} first, end;
{ ${visited(q, "begin")} first = a${q}; }
{ ${visited(q, "(stop - 1)")} end = e${q}; }
% if how == "max":
const i64 base = ${flat(["(i64)o0", *walked[1:]][:q] + ["begin" if q else "(i64)begin"], "w")};
% endif
% for k in range(q):
${visit(k)} {
% endfor
for (${I} j${q} = first; j${q} < end; ++j${q}) {
% if how == "max":
${T.load(spec.inputs[1], "i0_c + " + within(spec.inputs[1], places))}
const i64 c = i0 - base;
if (c >= 0 && c < stop - begin) {
${T.load(x, "x0_c + " + within(x, places))}
${added("held[c]", value)}
}
% else:
${T.load(x, "x0_c + " + within(x, places))}
const ${acc} share = ${value} / ${count(places)};
const ${I} low = ${covered[0]}, high = ${covered[1]};
for (${I} c = low > begin ? low : begin; c < (high < stop ? high : stop); ++c) ${added("held[c - begin]", "share")}
% endif
}
% for k in range(q):
}
% endfor
for (${I} ${last} = begin; ${last} < stop; ++${last}) {
${T.declare(y)}
y0 = ${result(f"held[{last} - begin]")};
${T.store(y, "y0_c + " + within(y, walked))}
}
</%def>\
<%def name="sums()">\
<%
    took = T.load(x, "x0_c + " + within(x, places))
    if how == "max":
        index = spec.inputs[1]
        each = f"{T.load(index, 'i0_c + ' + within(index, places))}\nif (i0 == place) {{ {took} {added('row', value)} }}"
    else:
        each = f"{took} {added('row', f'{value} / {count(places)}' if back else value)}"
%>\
% if back and how == "max":
const i64 place = ${flat(["(i64)o0", *walked[1:]], "w")};
% endif
${sum_of(each)}\
y0 = ${result("sum" if back else f"sum / {count(walked)}")};
${T.store(y, "y0_c + " + within(y, walked))}
</%def>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.operands:
  ${X.shift(o)}
% endfor
% if walks:
  const ${I} pieces = (w${space - 1} + ${span - 1}) / ${span};
  const ${I} total = ${" * ".join([*extents[:-1], "pieces"])};
  ${X.each(d, I, "total", f"(i64)total * (w{space - 1} < {span} ? w{space - 1} : {span})")}
    const ${I} row_ = item / pieces, begin = (item - row_ * pieces) * ${span};
    const ${I} stop = w${space - 1} - begin < ${span} ? w${space - 1} : begin + ${span};
    ${T.coords("row_", names[:-1], extents[:-1], I)}
% else:
  const ${I} total = ${" * ".join(extents)};
  ${X.each(d, I, "total", "total")}
    ${T.coords("item", names, extents, I)}
% endif
% for o in spec.operands:
% if o.name[0] != "i" or o.name == "i0":
    const ${I} ${o.name}_c = ${from_lead(o)};
% endif
% endfor
% for q in range(space - 1):
    ${visited(q, walked[q])}
% endfor
% if walks and back:
${spread()}\
% elif walks and how == "max" and law == "windows":
${max_lanes()}\
% else:
% if walks:
    for (${I} ${last} = begin; ${last} < stop; ++${last}) {
% else:
    {
% endif
    ${visited(space - 1, last)}
% if how == "max" and not back:
${max_forward()}\
% else:
${sums()}\
% endif
    }
% endif
  }
}
