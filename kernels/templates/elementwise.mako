<%
    index = spec.index
    rank = spec.rank
    last = f"n{rank - 1}"
    outer = ["n%d" % a for a in range(rank - 1)]
    once = [o for o in spec.inputs if o.access == "b"]
    each = [o for o in spec.inputs if o.access != "b"]

    def place(operand, names):
        """The element's offset from the operand's pointer, given the coordinates' names."""
        if operand.access == "b":
            return "0"
        terms = [f"{n} * {s}" for n, s in zip(names, strides[operand.name])]
        return T.address(terms + ([names[-1]] if operand.access == "c" else []))
%>\
<%def name="start()">\
% for o in spec.operands:
  ${o.name}_p += ${"2 * " if T.is_complex(o.dtype) else ""}${o.name}_o;
% endfor
</%def>\
<%def name="element(names, linear)">\
% for o in each:
    ${T.load(o, place(o, names))}
% endfor
% if spec.uses_index:
    const u64 idx = (u64)(${linear});
% endif
% for o in spec.outputs:
    ${T.declare(o)}
% endfor
    ${spec.body}
% for o in spec.outputs:
    ${T.store(o, place(o, names))}
% endfor
</%def>\
TX_KERNEL(${group}, 1, 1) ${signature} {
${start()}\
% for o in once:
  ${T.load(o, "0")}
% endfor
% if not d.grid and flat:
  TX_PRAGMA(omp parallel for simd schedule(static) num_threads(tx_threads) if(n0 > 32768))
  for (${index} c0 = 0; c0 < n0; ++c0) {
${element(["c0"], "c0")}\
  }
% elif not d.grid:
  const ${index} rows = ${" * ".join(outer) or "1"};
  TX_PARALLEL((i64)rows * ${last})
  for (${index} r = 0; r < rows; ++r) {
    ${T.coords("r", ["c%d" % a for a in range(rank - 1)], outer, index)}
    TX_SIMD
    for (${index} c${rank - 1} = 0; c${rank - 1} < ${last}; ++c${rank - 1}) {
${element(["c%d" % a for a in range(rank)], f"(u64)r * {last} + c{rank - 1}")}\
    }
  }
% else:
  const ${index} total = ${" * ".join(outer + [last])};
  const ${index} first = (${index})TX_GROUP(0) * ${group * per_item} + (${index})TX_LID(0);
  for (i32 k = 0; k < ${per_item}; ++k) {
    const ${index} t = first + k * ${group};
    if (t >= total) break;
    ${T.coords("t", ["c%d" % a for a in range(rank)], outer + [last], index)}
${element(["c%d" % a for a in range(rank)], "t")}\
  }
% endif
}
