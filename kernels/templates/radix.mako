<%
    I = spec.index
    names = [f"c{k}" for k in range(kept)]
    values, places, keys_a, keys_b, from_a, from_b = spec.outputs
    x, = spec.inputs
    K, H = keys_a.compute, T.held(x.dtype)
    P = places.compute

    def at(operand, j):
        """Offset of element j of the row."""
        step = j if operand.access == "c" else f"({j}) * {operand.name}_s{kept}"
        return f"{operand.name}_row" + ("" if operand.access == "b" else f" + {step}")
%>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.operands:
  ${X.shift(o)}
% endfor
  const ${I} total = n > 0 ? ${" * ".join(X.sizes(kept)) or "1"} : 0;
  ${X.each(d, I, "total", f"(i64)total * n * {digits}")}
    ${X.inset(T.coords("item", names, X.sizes(kept), I), "    ")}
% for o in (values, places, x):
    const ${I} ${o.name}_row = ${X.offset(o, names + [""])};
% endfor
% for o in (keys_a, keys_b, from_a, from_b):
    ${T.pointer(o, o.name + "_q", "(i64)item * n")}
% endfor
    u32 counts[${digits * 256}];
    for (int k = 0; k < ${digits * 256}; ++k) counts[k] = 0u;
    for (${I} j = 0; j < n; ++j) {
      const ${H} v = TX_LOAD_${x.dtype}(x0_p, ${at(x, "j")});
      ${key("v")}
      y2_q[j] = key;
      y4_q[j] = (i32)j;
% for k in range(digits):
      ++counts[${256 * k} + (key >> ${8 * k} & 255u)];
% endfor
    }
    int swapped = 0;
    for (int k = 0; k < ${digits}; ++k) {
      TX_GLOBAL ${K} *keys = swapped ? y3_q : y2_q, *sorted = swapped ? y2_q : y3_q;
      TX_GLOBAL i32 *from = swapped ? y5_q : y4_q, *moved = swapped ? y4_q : y5_q;
      const int low = 8 * k;
      /* A digit that all keys share moves nothing. */
      if (counts[256 * k + (int)(keys[0] >> low & 255u)] == (u32)n) continue;
      u32 start = 0u;
      for (int b = 256 * k; b < 256 * k + 256; ++b) {
        const u32 many = counts[b];
        counts[b] = start;
        start += many;
      }
      for (${I} j = 0; j < n; ++j) {
        const ${K} key = keys[j];
        const u32 slot = counts[256 * k + (int)(key >> low & 255u)]++;
        sorted[slot] = key;
        moved[slot] = from[j];
      }
      swapped = !swapped;
    }
    TX_GLOBAL const i32 *found = swapped ? y5_q : y4_q;
    for (${I} j = 0; j < n; ++j) {
      const ${P} y1 = (${P})found[j];
      ${T.store(places, at(places, "j"))}
      ${T.load(x, at(x, "found[j]"), "y0")}
      ${T.store(values, at(values, "j"))}
    }
  }
}
