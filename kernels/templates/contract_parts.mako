<%doc>
Contract, shared by all forms: where a batch starts, and what happens to a finished sum.
</%doc>\
<%def name="bases()">\
    i64 ${", ".join(base(o) for o in spec.operands)};
    ${maps.locate("b", "batch", [(o, base(o), ()) for o in spec.operands])}
% for o in spec.operands:
    ${base(o)} += ${"2 * " if o in (x0, x1) and pairs else ""}${o.name}_o;
% endfor
</%def>\
## ------------------------------------------------------------------------------------------------------------- the body, per element
<%def name="element(row, col, value)">\
<% at = {o.name: f"{base(o)} + {row(o)} + {col(o)}" for o in placed} %>\
% if pairs:
        const ${A} accr = ${value("0")}, acci = ${value("1")};
% else:
        const ${A} acc = ${value("")};
% endif
% for o in extras:
        ${T.load(o, at[o.name])}
% endfor
        ${T.declare(y0)}
        ${spec.body}
        ${T.store(y0, at["y0"])}
</%def>\
## ------------------------------------------------------------------------------------ C: contraction within this function (gcc: attribute)
<%def name="fuse()">\
% if fused and not opencl:
#ifdef __clang__
  TX_PRAGMA(clang fp contract(fast))
#endif
% endif
</%def>\
## ------------------------------------------------------------- neighbours of x1 as one vector in the accumulation dtype (nothing: as they are)
<%def name="vector_cast()">\
<% L, real = tile.lanes, T.part(x1.dtype) %>\
% if real in ("f16", "bf16"):
<%
    def bits(value):
        return f"as_uint{L}({value})" if opencl else f"({e}_bits)({value})"
    def number(value):
        return f"as_float{L}({value})" if opencl else f"({e}_vec)({value})"
    half = f"*(TX_GLOBAL const {e}_half *)p"
%>\
/* By the bits, as TX_LOAD does one: through an array the compilers would load, convert and insert each alone. */
% if opencl:
typedef ushort${L} ${e}_half __attribute__((aligned(2)));
typedef uint${L} ${e}_bits;
% else:
typedef u16 ${e}_half __attribute__((vector_size(${2 * L}), aligned(2), may_alias));
typedef u32 ${e}_bits __attribute__((vector_size(${4 * L})));
% endif
TX_FN ${e}_vec ${e}_cast(TX_GLOBAL const ${real} *p) {
  const ${e}_bits h = ${f"convert_uint{L}({half})" if opencl else f"TX_CONVERT({half}, {e}_bits)"};
% if real == "bf16":
  return ${number("h << 16")};
% else:
  const ${e}_bits m = (h & 0x7fffu) << 13, v = ${bits(number("m") + " * 5192296858534827628530496329220096.0f")};
  return ${number(f"v | ({bits('m >= 0x0f800000u')} & 0x7f800000u) | (h & 0x8000u) << 16")};
% endif
}
% elif real != A:
TX_FN ${e}_vec ${e}_cast(TX_GLOBAL const ${real} *p) {
  ${A} t[${L}] __attribute__((aligned(64)));
  for (int l = 0; l < ${L}; ++l) t[l] = ${maps.element(x1, "p", "l")};
  return *(TX_PRIVATE const ${e}_vec *)t;
}
% endif
</%def>\
