<%
    index, rank = spec.index, spec.rank
    each = [o for o in spec.operands if o.access != "b"]
    per_row = [o for o in spec.inputs if o.access == "r"]
    names = ["c%d" % a for a in range(rank)]

    def offset(operand, names):
        """The offset of a place, by the operand's strides."""
        return T.address(f"{n} * {s}" for n, s in zip(names, strides[operand.name]))

    def inner(operand):
        """The offset of column c in a row."""
        return {"b": "0", "c": "c", "s": f"c * {operand.name}_s{rank - 1}"}[operand.access]

    def whole(operand):
        return "0" if operand.access == "b" else T.address(
            [f"{n} * {s}" for n, s in zip(names, strides[operand.name])] + ([names[-1]] if operand.access == "c" else []))
%>\
<%def name="compute(linear)">\
% if spec.uses_index:
const u64 idx = (u64)(${linear});
% endif
% for o in spec.outputs:
${T.declare(o)}
% endfor
${spec.body}
</%def>\
<%def name="element(at, suffix, linear, loaded=())">\
% for o in spec.inputs:
% if o.access != "b" and o not in loaded:
${T.load(o, at(o), base=o.name + suffix)}
% endif
% endfor
${compute(linear)}\
% for o in spec.outputs:
${T.store(o, at(o), base=o.name + ("_p" if o.access == "b" else suffix))}
% endfor
</%def>\
TX_KERNEL(${group}, 1, 1) ${signature} {
${T.start(spec.operands)}
% for o in spec.inputs:
% if o.access == "b":
${T.load(o, "0")}
% endif
% endfor
% if items:
const ${index} total = ${" * ".join(sizes)};
const ${index} first = (${index})TX_GROUP(0) * ${group * per_item} + (${index})TX_LID(0);
% if not transposed and rank == 1:
/* All loads before the first store: an output may be an input, the compiler could not move them there itself. */
% for o in spec.inputs:
% if o.access != "b":
${T.array(o, per_item)}
% endif
% endfor
TX_UNROLL
for (i32 k = 0; k < ${per_item}; ++k) {
const ${index} c0 = first + k * ${group};
if (c0 < total) {
% for o in spec.inputs:
% if o.access != "b":
${T.load(o, whole(o))} ${T.keep(o, "k")}
% endif
% endfor
}
}
TX_UNROLL
for (i32 k = 0; k < ${per_item}; ++k) {
const ${index} c0 = first + k * ${group};
if (c0 < total) {
% for o in spec.inputs:
% if o.access != "b":
${T.kept(o, "k")}
% endif
% endfor
${compute("c0")}\
% for o in spec.outputs:
${T.store(o, whole(o))}
% endfor
}
}
% else:
for (i32 k = 0; k < ${per_item}; ++k) {
const ${index} t = first + k * ${group};
if (t >= total) break;
${T.coords("t", names, sizes, index)}
${element(whole, "_p", "t")}\
}
% endif
% else:
<% outer = sizes[:-2] %>\
const ${index} cols = ${sizes[-1]}, rows = ${sizes[-2] if rank > 1 else 1};
if (cols < 1) return;
const ${index} width = cols < ${tile[1]} ? cols : ${tile[1]};
const ${index} height = width < ${tile[0]} ? ${tile[0]} / width : 1;
const ${index} across = (cols + width - 1) / width, down = (rows + height - 1) / height;
% if not d.grid:
const i64 tasks = (i64)across * down${"".join(f" * {n}" for n in outer)};
% endif
${T.tasks(d.grid, "tasks", f"tasks * {tile[0]}" if rank == 1 else "(i64)" + " * ".join(sizes))}
const ${index} left = (${index})(task % across) * width, top = (${index})(task / across % down) * height;
% if outer:
const ${index} o = (${index})(task / across / down);
${T.coords("o", names[:-2], outer, index)}
% endif
const ${index} stop = top + height < rows ? top + height : rows;
const i32 count = (i32)(left + width < cols ? width : cols - left);
% if transposed:
const i32 strip = ${" || ".join(f"{o.name}_s{rank - 1} > {o.name}_s{rank - 2}" for o in transposed)} ? ${strip} : count;
for (i32 from = 0; from < count; from += strip) {
const i32 upto = count - from < strip ? count - from : strip;
% endif
for (${index} r = top; r < stop; ++r) {
% for o in each:
<%
    place = offset(o, names[:-2] + (["r"] if rank > 1 else []))
    column = "(left + from)" if transposed else "left"
    step = "0" if o.access == "r" else column if o.access == "c" else f"{column} * {o.name}_s{rank - 1}"
%>\
${T.pointer(o, o.name + "_q", step if place == "0" else place if step == "0" else f"{place} + {step}")}
% endfor
% for o in per_row:
${T.load(o, "0", base=o.name + "_q")}
% endfor
% if spec.uses_index:
const u64 first = (${"(u64)o * rows + r" if outer else "(u64)r"}) * cols + left${" + from" if transposed else ""};
% endif
${SIMD}
for (i32 c = 0; c < ${"upto" if transposed else "count"}; ++c) {
${element(inner, "_q", "first + c", per_row)}\
}
}
% if transposed:
}
% endif
}
% endif
}
