<%
    I = spec.index
    names = [f"c{k}" for k in range(kept)]
    merge = stage == "merge"
    per_item = "chunk" if merge else str(block)
    key, place = spec.outputs
    P = place.compute

    def at(operand, j):
        """Offset of element j of the row."""
        step = j if operand.access == "c" else f"({j}) * {operand.name}_s{kept}"
        return f"{operand.name}_row" + ("" if operand.access == "b" else f" + {step}")

    def fetch(operand, j):
        return T.cast(f"TX_LOAD_{operand.dtype}({operand.name}_p, {at(operand, j)})", T.held(operand.dtype), T.held(operand.compute))
%>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.operands:
  ${X.shift(o)}
% endfor
  const ${I} pieces = (n + ${per_item} - 1) / ${per_item};
  const ${I} total = ${" * ".join([*X.sizes(kept), "pieces"])};
  ${X.each(d, I, "total", f"(i64)total * {per_item}")}
    const ${I} row = item / pieces, begin = (item - row * pieces) * ${per_item};
    ${X.inset(T.coords("row", names, X.sizes(kept), I), "    ")}
    const ${I} end = n - begin < ${per_item} ? n : begin + ${per_item};
% for o in spec.operands:
    const ${I} ${o.name}_row = ${X.offset(o, names + [""])};
% endfor
% if not merge:
    ${key.compute} keys[${block}];
    int from[${block}];
    const int count = (int)(end - begin);
    for (int k = 0; k < count; ++k) {
      const ${key.compute} key = ${fetch(spec.inputs[0], "begin + k")};
      int slot = k;
      while (slot > 0 && ${before("key", "keys[slot - 1]")}) {
        keys[slot] = keys[slot - 1];
        from[slot] = from[slot - 1];
        --slot;
      }
      keys[slot] = key;
      from[slot] = k;
    }
    for (int k = 0; k < count; ++k) {
      const ${key.compute} y0 = keys[k];
      const ${P} y1 = (${P})(begin + from[k]);
      ${T.store(key, at(key, "begin + k"))}
      ${T.store(place, at(place, "begin + k"))}
    }
% else:
<%
    x, source = spec.inputs
    K = x.compute
%>\
    const ${I} left = begin / (2 * width) * (2 * width);
    const ${I} right = n - left < width ? n : left + width;
    const ${I} stop = n - right < width ? n : right + width;
    const ${I} skip = begin - left, size_a = right - left, size_b = stop - right;
    /* How many of the first skip merged elements come from the left run: the smallest i at which left[i] follows right[skip - i - 1]. */
    ${I} low = skip > size_b ? skip - size_b : 0, high = skip < size_a ? skip : size_a;
    while (low < high) {
      const ${I} middle = low + (high - low) / 2;
      const ${K} a = ${fetch(x, "left + middle")}, b = ${fetch(x, "right + skip - middle - 1")};
      if (${before("b", "a")}) high = middle;
      else low = middle + 1;
    }
    ${I} i = left + low, j = right + skip - low;
    ${K} a = 0, b = 0;
    if (i < right) a = ${fetch(x, "i")};
    if (j < stop) b = ${fetch(x, "j")};
    for (${I} k = begin; k < end; ++k) {
      const int take_b = j < stop && (i >= right || ${before("b", "a")});
      const ${K} y0 = take_b ? b : a;
      const ${P} y1 = ${X.inset(fetch(source, "(take_b ? j : i)"), "")};
      ${T.store(key, at(key, "k"))}
      ${T.store(place, at(place, "k"))}
      if (take_b) {
        ++j;
        if (j < stop) b = ${fetch(x, "j")};
      } else {
        ++i;
        if (i < right) a = ${fetch(x, "i")};
      }
    }
% endif
  }
}
