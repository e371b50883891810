<%
    I = spec.index
    partial = stage == "partial"
    walked = inputs if partial else [*spec.outputs, *inputs]
    last = kept - 1
    wide = lanes > 1
    names = [f"c{k}" for k in range(kept)]
    outer = X.sizes(kept)[:-1] + ["tiles"] if wide else X.sizes(kept)
    # Chunk totals lie as [rows, splits]; the lanes of one item are neighbours on the last kept axis.
    packed = f"((i64)(row / tiles) * n{last} + c{last} + l) * splits" if wide else "(i64)row * splits"
    blocked = bool(block)
    result = "base" if blocked else "a"
    indexed = op in ("max", "min")
    lane = "[l]" if wide else ""

    def at(operand):
        """Offset of the element at place j of the row (and lane l)."""
        terms = [f"{operand.name}_row"]
        if operand.access != "b":
            terms.append("j" if operand.access == "c" else f"j * {operand.name}_s{kept}")
            if wide:
                terms.append(f"l * {operand.name}_s{last}")
        return " + ".join(terms)

    def suffixes():
        return ["r", "i"] if T.is_complex(acc) else ["", "s"] if op == "logsum" else [""]

    def assign(operand, variable, total=False):
        """Output variable(s) from the running value; a total for another stage keeps its parts apart."""
        want, have = T.held(operand.compute), T.held(acc)
        if T.is_complex(operand.compute):
            return " ".join(f"{operand.name}{s} = {T.cast(variable + s + lane, have, want)};" for s in suffixes())
        result = variable + lane
        if op == "logsum" and not total:
            result = f"{result} + tx_log_{acc}({variable}s{lane})"
        return f"{operand.name} = {T.cast(result, have, want)};"
%>\
<%def name="per_lane(text, indent)">\
${indent}${"for (int l = 0; l < width; ++l) " if wide else ""}{ ${text} }
</%def>\
<%doc>A whole block: several sums run side by side, since each waits for its last addition; what came before is added as vectors.</%doc>\
<%def name="whole_block()">\
<%
    start = "(n - 1 - first)" if reverse else "first"

    def moved(o):
        return T.moved(o, o.name + "_v", o.name + "_p", f"{o.name}_row" + ("" if o.access == "b" else f" + {start}" + ("" if o.access == "c" else f" * {o.name}_s{kept}")))

    def inside(o, k):
        step = f"(-({k}))" if reverse else f"({k})"
        return "0" if o.access == "b" else step if o.access == "c" else f"{step} * {o.name}_s{kept}"

    part = block // chains
%>\
% for o in walked:
    ${moved(o)}
% endfor
    for (i32 k = 0; k < ${block}; ++k) {
% for o in inputs:
      ${T.load(o, inside(o, "k"), base=o.name + "_v")}
% endfor
      ${value}
      held[k] = v0;
    }
% if partial:
% for w in [block >> k for k in range(1, block.bit_length())]:
    for (i32 k = 0; k < ${w}; ++k) held[k] = held[k] + held[k + ${w}];
% endfor
    base = base + held[0];
% else:
    for (i32 k = 1; k < ${part}; ++k) {
% for c in range(chains):
      held[k + ${c * part}] = held[k + ${c * part}] + held[k + ${c * part - 1}];
% endfor
    }
    ${acc} before = 0;
    for (i32 c = 0; c < ${block}; c += ${part}) {
      for (i32 k = 0; k < ${part}; ++k) {
        const ${acc} sum = base + (before + held[c + k]);
        ${T.declare(spec.outputs[0])}
        ${assign(spec.outputs[0], "sum")}
        ${T.store(spec.outputs[0], inside(spec.outputs[0], "c + k"), base=spec.outputs[0].name + "_v")}
      }
      before = before + held[c + ${part - 1}];
    }
    base = base + before;
% endif
</%def>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.operands:
  ${X.shift(o)}
% endfor
% if wide:
  const ${I} tiles = (n${last} + ${lanes - 1}) / ${lanes};
% endif
% if stage == "full":
  const ${I} chunk = n > 0 ? n : 1;
% endif
  const ${I} splits = (n + chunk - 1) / chunk;
  const ${I} total = ${" * ".join([*outer, "splits"])};
  ${X.each(d, I, "total", "(i64)total * chunk")}
    const ${I} row = item / splits, piece = item - row * splits;
% if kept:
    ${X.inset(T.coords("row", names[:-1] + ["tile"] if wide else names, outer, I), "    ")}
% endif
% if wide:
    const ${I} c${last} = tile * ${lanes}, room = n${last} - c${last};
    const int width = (int)(room < ${lanes} ? room : ${lanes});
% endif
    const ${I} begin = piece * chunk, end = n - begin < chunk ? n : begin + chunk;
% for o in walked:
    const ${I} ${o.name}_row = ${X.offset(o, names + [""])};
% endfor
% for name, code, start in state("a") + (state("base") if blocked else []):
% if wide:
    ${code} ${name}[${lanes}];
    for (int l = 0; l < ${lanes}; ++l) ${name}[l] = ${start};
% else:
    ${code} ${name} = ${start};
% endif
% endfor
% if chains:
    ${acc} held[${block}];
% endif
% if stage == "apply":
    for (${I} p = 0; p < piece; ++p) {
      ${"for (int l = 0; l < width; ++l) " if wide else ""}{
        ${T.load(scratch[0], packed + " + p", "v0")}
% if indexed:
        ${T.load(scratch[1], packed + " + p", "v0k")}
% elif op == "logsum":
        ${T.load(scratch[1], packed + " + p", "v0s")}
% endif
        ${fold(result, "v0", lane)}
      }
    }
% endif
% if blocked:
    for (${I} first = begin; first < end; first += ${block}) {
    const ${I} stop = end - first < ${block} ? end : first + ${block};
% if chains:
    if (stop - first == ${block}) {
${whole_block()}\
    continue;
    }
% endif
% for name, code, start in state("a"):
${per_lane(f"{name}{lane} = {start};", "    ")}\
% endfor
% else:
    const ${I} first = begin, stop = end;
% endif
    for (${I} t = first; t < stop; ++t) {
      const ${I} j = ${"n - 1 - t" if reverse else "t"};
% if wide and not d.grid:
      ${SIMD}
% endif
% if wide:
      for (int l = 0; l < width; ++l) {
% else:
      {
% endif
% for o in inputs:
        ${T.load(o, at(o))}
% endfor
        ${value}
% if indexed:
        const i64 v0k = j;
% elif op == "logsum":
        const ${acc} v0s = 1;
% endif
        ${fold("a", "v0", lane)}
% if not partial:
% if blocked:
% for s in suffixes():
        ${T.held(acc)} sum${s} = base${s}${lane};
% endfor
        ${fold("sum", "a", "", lane)}
% endif
% for o in spec.outputs:
        ${T.declare(o)}
% endfor
% if blocked:
        ${assign(spec.outputs[0], "sum").replace(lane, "") if wide else assign(spec.outputs[0], "sum")}
% else:
        ${assign(spec.outputs[0], "a")}
% endif
% if indexed:
        y1 = ak${lane};
% endif
% for o in spec.outputs:
        ${T.store(o, at(o))}
% endfor
% endif
      }
    }
% if blocked:
${per_lane(fold("base", "a", lane, lane), "    ")}\
    }
% endif
% if partial:
    ${"for (int l = 0; l < width; ++l) " if wide else ""}{
% for o in spec.outputs:
      ${T.declare(o)}
% endfor
      ${assign(spec.outputs[0], result, True)}
% if indexed:
      y1 = ak${lane};
% elif op == "logsum":
      y1 = ${result}s${lane};
% endif
% for o in spec.outputs:
      ${T.store(o, packed + " + piece")}
% endfor
    }
% endif
  }
}
