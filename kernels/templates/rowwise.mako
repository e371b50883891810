<%namespace name="rows" file="rows.mako"/>\
<%
    I = spec.index
    reads = uses  # Mako looks for context names outside of nested functions only
    ks = [f"k{a}" for a in range(kept)]
    product = lambda names: " * ".join(names) or "1"
    along_row = [o for o in spec.operands if o.access not in ("b", "row")]
    outs = [o for o in spec.outputs if o.access != "row"]
    ends = [o for o in spec.outputs if o.access == "row"]
    everything = " ".join([text for _, _, text in stages] + [spec.body, row_body, row_values])

    def place(o):
        """Offset of the row by the operand's kept strides."""
        return T.address(f"{n} * {o.name}_s{a}" for a, n in enumerate(ks))

    def down(o, step):
        """Offset of `step` places on the row."""
        return step if o.access == "c" else f"({step}) * {o.name}_t0"

    def moved(o, name, base, offset):
        """Declare a pointer."""
        return T.moved(o, o.name + name, o.name + base, offset)

    def inputs(text):
        return [o for o in along_row if o.name[0] == "x" and reads(o, text)]

    def saves(text):
        """The output that keeps the elements of the last stage, for the body."""
        return outs if keeps and text == stages[-1][2] else []

    def sided_by(text):
        """Operands that a stage walks along."""
        return inputs(text) + saves(text)
%>\
<%def name="loads(how, text, base, at, position)">\
% for o in inputs(text):
${T.load(o, at(o), base=o.name + base)}
% endfor
${" ".join(f"{code} v0{suffix};" for suffix, code in how.fields if suffix != "_k")}
% if how.indexed:
${I} v0_k = ${position};
% endif
% if placed(text):
const i64 place = (i64)(${position});
% endif
${text}
% for o in saves(text):
{ const ${o.compute} ${o.name} = v0; ${T.store(o, at(o), base=o.name + base)} }
% endfor
</%def>\
<%def name="element(base, at, position)">\
% for o in inputs(spec.body):
${T.load(o, at(o), base=o.name + base)}
% endfor
% for o in outs:
% if keeps:
${T.load(o, at(o), "ak", o.name + base)}
% endif
${T.declare(o)}
% endfor
% if placed(spec.body):
const i64 place = (i64)(${position});
% endif
${spec.body}
% for o in outs:
${T.store(o, at(o), base=o.name + base)}
% endfor
</%def>\
<%def name="row_start()">\
${T.coords("k", ks, kept_sizes, I)}
% for o in along_row:
${T.pointer(o, o.name + "_q", place(o))}
% endfor
% for o in spec.inputs:
% if o.access == "row":
${T.load(o, place(o))}
% endif
% endfor
</%def>\
<%def name="row_end()">\
% if ends:
{
% for o in ends:
${T.declare(o)}
% endfor
${row_body}
% for o in ends:
${T.store(o, place(o))}
% endfor
}
% endif
</%def>\
TX_KERNEL(${group}, 1, 1) ${signature} {
${T.start(spec.operands)}
% for o in spec.inputs:
% if o.access == "b":
${T.load(o, "0")}
% endif
% endfor
const ${I} kept = ${product(kept_sizes)};
% if "count" in everything:
const i64 count = (i64)m0;
% endif
% if items:
${by_items()}\
% elif columns:
${by_columns()}\
% else:
const ${I} height = ${task_size} / (m0 + 1) + 1, strips = (kept + height - 1) / height;
${T.tasks(d.grid, "strips", "(i64)kept * m0 * 4")}
const ${I} stop = (${I})(task + 1) * height < kept ? (${I})(task + 1) * height : kept;
for (${I} k = (${I})task * height; k < stop; ++k) {
${row_start()}\
% for how, name, text in stages:
${how.declare(f"{name}_acc%s")}
{
${rows.begin(how, "whole%s")}\
for (${I} t = 0; t < m0; t += ${block}) {
const i32 len = m0 - t < ${block} ? (i32)(m0 - t) : ${block};
% for o in sided_by(text):
${moved(o, "_r", "_q", down(o, "t"))}
% endfor
${rows.stretch(how, lanes, sided_by(text), moved, down, lambda base, at, position: capture(loads, how, text, base, at, position), "_r", "t", text)}\
${rows.take(how, "whole%s")}\
}
${rows.end(how, "whole%s")}\
${how.copy(f"{name}_acc%s", "whole%s")}
}
${result(how, name, f"{name}_acc%s")}
% endfor
% if outs:
${row_values}
for (${I} t = 0; t < m0; t += ${block}) {
const i32 len = m0 - t < ${block} ? (i32)(m0 - t) : ${block};
% for o in outs + inputs(spec.body):
${moved(o, "_r", "_q", down(o, "t"))}
% endfor
${SIMD}
for (i32 j = 0; j < len; ++j) {
${element("_r", lambda o: down(o, "j"), "t + j")}\
}
}
% endif
${row_end()}\
}
}
% endif
}
<%def name="by_items()">\
% for name, code in shared:
TX_LOCAL ${code} ${name}[${group}];
% endfor
const i32 lid = (i32)TX_LID(0);
i32 lanes = 1;
while (lanes < ${most_lanes} && lanes < m0) lanes <<= 1;
const i32 cols = ${group} / lanes;
% if columns:
const i32 lane = lid / cols, first = lid % cols;
${I} k = (${I})TX_GROUP(0) * cols + first;
% else:
const i32 lane = lid % lanes, first = lid - lane;
${I} k = (${I})TX_GROUP(0) * cols + lid / lanes;
% endif
const b8 valid = k < kept;
if (!valid) k = kept - 1; /* keeps step with the others at the barriers, stores nothing */
${row_start()}\
% for how, name, text in stages:
${how.declare(f"{name}_acc%s")}
<% local = f"sh_{how.code}%s" %>\
{
% if how.blocked:
${how.declare("far%s")}
u32 turn = 0;
% endif
for (${I} t = lane; t < m0; t += lanes) {
${loads(how, text, "_q", lambda o: down(o, "t"), "t")}\
${how.into(f"{name}_acc%s", "v0%s", ordered=True)}
% if how.blocked:
if ((++turn & 255u) == 0u) { ${how.into("far%s", f"{name}_acc%s")} ${how.reset(f"{name}_acc%s")} }
% endif
}
% if how.blocked:
${how.into(f"{name}_acc%s", "far%s")}
% endif
${how.copy(local.replace("%s", "%s[lid]"), f"{name}_acc%s")}
TX_BARRIER;
for (i32 w = lanes / 2; w > 0; w >>= 1) {
if (lane < w) { ${how.into(local.replace("%s", "%s[lid]"), local.replace("%s", "%s[lid + w * cols]" if columns else "%s[lid + w]"))} }
TX_BARRIER;
}
${how.copy(f"{name}_acc%s", local.replace("%s", "%s[first]"))}
TX_BARRIER;
}
${result(how, name, f"{name}_acc%s")}
% endfor
if (valid) {
% if outs:
${row_values}
for (${I} t = lane; t < m0; t += lanes) {
${element("_q", lambda o: down(o, "t"), "t")}\
}
% endif
% if ends:
if (lane == 0)
${row_end()}\
% endif
}
</%def>\
<%def name="by_columns()">\
<%
    outer, last = kept_sizes[:-1], kept - 1
    sided = [o for o in spec.operands if o.access != "b"]

    def across(o, step):
        """Offset of `step` rows."""
        return step if o.access == "k" else f"({step}) * {o.name}_s{last}"

    def at(o):
        return across(o, "j")
%>\
const ${I} tiles = (n${last} + ${wide - 1}) / ${wide};
% if not d.grid:
const i64 tasks = (i64)tiles * ${product(outer)};
% endif
${T.tasks(d.grid, "tasks", "(i64)kept * m0 * 4")}
const ${I} left = (${I})(task % tiles) * ${wide};
const i32 width = (i32)(n${last} - left < ${wide} ? n${last} - left : ${wide});
% if outer:
const ${I} o = (${I})(task / tiles);
${T.coords("o", ks[:-1], outer, I)}
% endif
% for o in sided:
${T.pointer(o, o.name + "_q", T.address([f"{n} * {o.name}_s{a}" for a, n in enumerate(ks[:-1])] + [across(o, "left")]))}
% endfor
% for i, (how, name, text) in enumerate(stages):
${how.declare(f"{name}_v%s", str(wide))}
for (i32 j = 0; j < width; ++j) { ${how.reset(f"{name}_v%s[j]")} }
{
% if how.blocked:
${how.declare("b%s", str(wide))} ${how.declare("c%s", str(wide))}
for (i32 j = 0; j < width; ++j) { ${how.reset("b%s[j]")} ${how.reset("c%s[j]")} }
% endif
for (${I} t = 0; t < m0; ++t) {
% for o in sided_by(text):
${moved(o, "_r", "_q", f"t * {o.name}_t0")}
% endfor
${SIMD}
for (i32 j = 0; j < width; ++j) {
${side(i, text, at)}\
${loads(how, text, "_r", at, "t")}\
${how.into(f"{name}_v%s[j]", "v0%s", ordered=True)}
}
% if how.blocked:
if ((t & 63) == 63) {
for (i32 j = 0; j < width; ++j) { ${how.into("b%s[j]", f"{name}_v%s[j]")} ${how.reset(f"{name}_v%s[j]")} }
if ((t & 4095) == 4095) {
for (i32 j = 0; j < width; ++j) { ${how.into("c%s[j]", "b%s[j]")} ${how.reset("b%s[j]")} }
}
}
% endif
}
% if how.blocked:
for (i32 j = 0; j < width; ++j) { ${how.into(f"{name}_v%s[j]", "b%s[j]")} ${how.into(f"{name}_v%s[j]", "c%s[j]")} }
% endif
}
% endfor
% if outs:
for (${I} t = 0; t < m0; ++t) {
% for o in outs + inputs(spec.body):
${moved(o, "_r", "_q", f"t * {o.name}_t0")}
% endfor
${SIMD}
for (i32 j = 0; j < width; ++j) {
${side(len(stages), spec.body, at)}\
${row_values}
${element("_r", at, "t")}\
}
}
% endif
% if ends:
for (i32 j = 0; j < width; ++j) {
${side(len(stages), row_body, at)}\
% for o in ends:
${T.declare(o)}
% endfor
${row_body}
% for o in ends:
${T.store(o, at(o), base=o.name + "_q")}
% endfor
}
% endif
}
</%def>\
<%doc>What column j knows of its row before stage `upto`: per-row operands and the results of earlier stages.</%doc>\
<%def name="side(upto, text, at)">\
% for o in spec.inputs:
% if o.access == "row" and (reads(o, text) or reads(o, row_values)):
${T.load(o, at(o), base=o.name + "_q")}
% endif
% endfor
% for how, name, _ in stages[:upto]:
${result(how, name, f"{name}_v%s[j]")}
% endfor
</%def>\
