<%namespace name="rows" file="rows.mako"/>\
<%
    I = spec.index
    each = [o for o in spec.inputs if o.access != "b"]
    ks = [f"k{a}" for a in range(kept)]
    rs = [f"r{a}" for a in range(reduced)]
    last_kept, last = kept - 1, reduced - 1
    partial = stage == "partial"
    product = lambda names: " * ".join(names) or "1"
    indexed = how.indexed

    def along(o, names, letter):
        """Offset of the coordinates `names` by the operand's kept (s) or reduced (t) strides."""
        return T.address(f"{n} * {o.name}_{letter}{a}" for a, n in enumerate(names))

    def down(o, step):
        """Offset of `step` places on the last reduced axis."""
        return step if o.access == "r" else f"({step}) * {o.name}_t{last}"

    def moved(o, name, base, offset):
        """Declare a pointer."""
        return T.moved(o, o.name + name, o.name + base, offset)

    def across(o, step):
        """Offset of `step` places on the last kept axis."""
        return {"k": step, "e": "0"}.get(o.access, f"({step}) * {o.name}_s{last_kept}")
%>\
<%def name="loads(base, at, position)">\
% for o in each:
${T.load(o, at(o), base=o.name + base)}
% endfor
% if indexed:
${" ".join(f"{code} v0{suffix};" for suffix, code in how.fields if suffix != "_k")} ${I} v0_k = ${position};
% else:
${" ".join(f"{code} v0{suffix};" for suffix, code in how.fields)}
% endif
${spec.body}
</%def>\
<%def name="write(base)">\
<% count = "total" if stage == "final" else "reduced" %>\
% if indexed and not partial:
if (a0_k == ${how.identity("_k")}) a0_k = 0;
% endif
% if "count" in finish:
const i64 count = (i64)${count};
% endif
% for o in spec.outputs:
${T.declare(o)}
% endfor
${finish}
% for o in spec.outputs:
${T.store(o, base(o))}
% endfor
</%def>\
<%def name="range_of_split()">\
% if partial:
const ${I} lo = split * part, hi = lo + part < reduced ? lo + part : reduced;
% else:
const ${I} lo = 0, hi = reduced;
% endif
</%def>\
TX_KERNEL(${group}, 1, 1) ${signature} {
${T.start(spec.operands)}
% for o in spec.inputs:
% if o.access == "b":
${T.load(o, "0")}
% endif
% endfor
const ${I} kept = ${product(kept_sizes)}, reduced = ${product(reduced_sizes)};
% if partial:
const ${I} part = (reduced + splits - 1) / splits;
% endif
% if items:
${by_items()}\
% elif columns:
${by_columns()}\
% else:
${by_rows()}\
% endif
}
<%def name="by_rows()">\
const ${I} height = ${task_size} / (reduced + 1) + 1;
const ${I} strips = (kept + height - 1) / height;
% if not d.grid:
const i64 tasks = (i64)strips${" * splits" if partial else ""};
% endif
${T.tasks(d.grid, "tasks", "(i64)kept * reduced")}
const ${I} strip = (${I})(task % strips);
% if partial:
const ${I} split = (${I})(task / strips);
% endif
${range_of_split()}\
const ${I} stop = (strip + 1) * height < kept ? (strip + 1) * height : kept;
for (${I} k = strip * height; k < stop; ++k) {
${T.coords("k", ks, kept_sizes, I)}
% for o in each:
${T.pointer(o, o.name + "_q", along(o, ks, "s"))}
% endfor
${rows.begin(how, "a0%s")}\
for (${I} t = lo; t < hi;) {
% if reduced > 1:
${T.coords("t", rs, reduced_sizes, I)}
const ${I} run = m${last} - r${last} < hi - t ? m${last} - r${last} : hi - t;
% else:
const ${I} r0 = t, run = hi - t;
% endif
const i32 len = run < ${block} ? (i32)run : ${block};
% for o in each:
<% offset = T.address([f"{n} * {o.name}_t{a}" for a, n in enumerate(rs[:-1])] + [down(o, rs[-1])]) %>\
${moved(o, "_r", "_q", offset)}
% endfor
${rows.stretch(how, lanes, each, moved, down, loads, "_r", "t", spec.body)}\
${rows.take(how, "a0%s")}\
t += len;
}
${rows.end(how, "a0%s")}\
${write(lambda o: along(o, ks, "s") + (" + split" if partial else ""))}\
}
}
</%def>\
<%def name="by_columns()">\
<% outer = kept_sizes[:-1] %>\
const ${I} tiles = (n${last_kept} + ${wide - 1}) / ${wide};
% if not d.grid:
const i64 tasks = (i64)tiles * ${product(outer)}${" * splits" if partial else ""};
% endif
${T.tasks(d.grid, "tasks", "(i64)kept * reduced")}
const ${I} left = (${I})(task % tiles) * ${wide};
const i32 width = (i32)(n${last_kept} - left < ${wide} ? n${last_kept} - left : ${wide});
% if outer:
const ${I} o = (${I})(task / tiles % (${product(outer)}));
${T.coords("o", ks[:-1], outer, I)}
% endif
% if partial:
const ${I} split = (${I})(task / tiles${" / (" + product(outer) + ")" if outer else ""});
% endif
${range_of_split()}\
% for o in each:
${T.pointer(o, o.name + "_q", T.address([f"{n} * {o.name}_s{a}" for a, n in enumerate(ks[:-1])] + [across(o, "left")]))}
% endfor
${how.declare("a%s", str(wide))}
for (i32 j = 0; j < width; ++j) { ${how.reset("a%s[j]")} }
% if how.blocked:
${how.declare("b%s", str(wide))} ${how.declare("c%s", str(wide))}
for (i32 j = 0; j < width; ++j) { ${how.reset("b%s[j]")} ${how.reset("c%s[j]")} }
% endif
for (${I} t = lo; t < hi; ++t) {
${T.coords("t", rs, reduced_sizes, I)}
% for o in each:
<% offset = along(o, rs, "t") %>\
${moved(o, "_r", "_q", offset)}
% endfor
${SIMD}
for (i32 j = 0; j < width; ++j) {
${loads("_r", lambda o: across(o, "j"), "t")}\
${how.into("a%s[j]", "v0%s", ordered=True)}
}
% if how.blocked:
if (((t - lo) & 63) == 63) {
for (i32 j = 0; j < width; ++j) { ${how.into("b%s[j]", "a%s[j]")} ${how.reset("a%s[j]")} }
if (((t - lo) & 4095) == 4095) {
for (i32 j = 0; j < width; ++j) { ${how.into("c%s[j]", "b%s[j]")} ${how.reset("b%s[j]")} }
}
}
% endif
}
for (i32 j = 0; j < width; ++j) {
${" ".join(f"{code} a0{suffix} = a{suffix}[j];" for suffix, code in how.fields)}
% if how.blocked:
${how.into("a0%s", "b%s[j]")} ${how.into("a0%s", "c%s[j]")}
% endif
${write(lambda o: T.address([f"{n} * {o.name}_s{a}" for a, n in enumerate(ks[:-1])] + [f"(left + j) * {o.name}_s{last_kept}"]) + (" + split" if partial else ""))}\
}
}
</%def>\
<%def name="by_items()">\
% for suffix, code in how.fields:
TX_LOCAL ${code} sh${suffix}[${group}];
% endfor
const i32 lid = (i32)TX_LID(0);
const ${I} length = ${"part" if partial else "reduced"};
i32 lanes = 1;
while (lanes < ${max(1, group // 32) if columns else group} && lanes < length) lanes <<= 1;
const i32 cols = ${group} / lanes;
% if columns:
const i32 lane = lid / cols, col = lid % cols;
% else:
const i32 lane = lid % lanes, col = lid / lanes;
% endif
% if partial:
const ${I} split = (${I})(TX_GROUP(0) % splits);
const ${I} k = (${I})(TX_GROUP(0) / splits) * cols + col;
% else:
const ${I} k = (${I})TX_GROUP(0) * cols + col;
% endif
${range_of_split()}\
${how.declare("a0%s")}
if (k < kept) {
${T.coords("k", ks, kept_sizes, I)}
% for o in each:
${T.pointer(o, o.name + "_q", along(o, ks, "s"))}
% endfor
% if how.blocked:
${how.declare("b0%s")}
u32 turn = 0;
% endif
for (${I} t = lo + lane; t < hi; t += lanes) {
${T.coords("t", rs, reduced_sizes, I)}
${loads("_q", lambda o: T.address([f"{n} * {o.name}_t{a}" for a, n in enumerate(rs[:-1])] + [down(o, rs[-1])]), "t")}\
${how.into("a0%s", "v0%s", ordered=stage != "final")}
% if how.blocked:
if ((++turn & 255u) == 0u) { ${how.into("b0%s", "a0%s")} ${how.reset("a0%s")} }
% endif
}
% if how.blocked:
${how.into("a0%s", "b0%s")}
% endif
}
${how.copy(f"sh%s[lid]", "a0%s")}
TX_BARRIER;
for (i32 w = lanes / 2; w > 0; w >>= 1) {
if (lane < w) { ${how.into("sh%s[lid]", f"sh%s[lid + w{' * cols' if columns else ''}]")} }
TX_BARRIER;
}
if (k < kept && lane == 0) {
${T.coords("k", ks, kept_sizes, I)}
${how.copy("a0%s", "sh%s[lid]")}
${write(lambda o: along(o, ks, "s") + (" + split" if partial else ""))}\
}
</%def>\
