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
