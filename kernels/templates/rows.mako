<%doc>
A stretch of one row, reduced by a CPU-like task: LANES accumulators side by side become vectors whatever the combine is, no
compiler has to recognise a reduction. The result is left in the accumulator `p`.

`how` combines; `each` are the operands that the loads read; `moved(o, name, base, offset)` declares a pointer,
`down(o, step)` is the offset of `step` places on the row; `loads(base, at, position)` writes the load. `len` is an i32.
</%doc>\
<%def name="stretch(how, lanes, each, moved, down, loads, base, position, text)">\
<%
    # Filling and folding the lanes costs about 40 plain loads, or a few transcendentals.
    least = 16 if "tx_" in text else 2 * lanes

    def halves(n):
        """Written out: gcc makes one vector operation of each loop of a known length."""
        return [n >> k for k in range(1, n.bit_length())]
%>\
${how.declare("p%s")}
if (len < ${least}) {
${SCALAR}
for (i32 j = 0; j < len; ++j) {
${loads(base, lambda o: down(o, "j"), f"{position} + j")}\
${how.into("p%s", "v0%s", ordered=True)}
}
} else {
${how.declare("lane%s", str(lanes))}
for (i32 j = 0; j < ${lanes}; ++j) { ${how.reset("lane%s[j]")} }
i32 i = 0;
for (; i + ${lanes} <= len; i += ${lanes}) {
% for o in each:
${moved(o, "_v", base, down(o, "i"))}
% endfor
${SIMD_SHORT if how.blocked else SIMD}
for (i32 j = 0; j < ${lanes}; ++j) {
${loads("_v", lambda o: down(o, "j"), f"{position} + i + j")}\
${how.into("lane%s[j]", "v0%s", ordered=True)}
}
}
const i32 rest = len - i;
% for o in each:
${moved(o, "_v", base, down(o, "i"))}
% endfor
${SIMD}
for (i32 j = 0; j < rest; ++j) {
${loads("_v", lambda o: down(o, "j"), f"{position} + i + j")}\
${how.into("lane%s[j]", "v0%s", ordered=True)}
}
% for w in halves(lanes):
for (i32 j = 0; j < ${w}; ++j) { ${how.into("lane%s[j]", f"lane%s[j + {w}]")} }
% endfor
${how.copy("p%s", "lane%s[0]")}
}
</%def>\
<%doc>Take the stretch into accumulator `name`: float sums through a stack of partial sums (pairwise summation), the rest at once.</%doc>\
<%def name="take(how, name)">\
% if how.blocked:
i32 l = 0;
for (u32 q = blocks++; q & 1u; q >>= 1, ++l) { ${how.into("p%s", "level%s[l]")} }
${how.copy("level%s[l]", "p%s")}
% else:
${how.into(name, "p%s", ordered=True)}
% endif
</%def>\
<%def name="begin(how, name)">\
${how.declare(name)}
% if how.blocked:
${how.declare("level%s", "32")}
u32 blocks = 0;
% endif
</%def>\
<%def name="end(how, name)">\
% if how.blocked:
for (i32 l = 0; blocks; blocks >>= 1, ++l) { if (blocks & 1u) { ${how.into(name, "level%s[l]")} } }
% endif
</%def>\
