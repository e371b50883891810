<%
    I = spec.index
    R = spec.rank
    names = [f"c{k}" for k in range(R)]
    y, x, v = spec.outputs[0], spec.inputs[0], spec.inputs[1]
    where = "TX_LOAD_i64(x2_p, order + middle * pace)" if sorter else "middle"
%>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.operands:
  ${X.shift(o)}
% endfor
  const ${I} total = ${" * ".join(X.sizes(R))};
  ${X.each(d, I, "total", "(i64)total * 8")}
    ${X.inset(T.coords("item", names, X.sizes(R), I), "    ")}
    const ${I} row = ${X.offset(x, names)};
% if sorter:
    const ${I} order = ${X.offset(sorter, names)};
% endif
    ${T.load(v, X.offset(v, names))}
    ${I} low = 0, high = m;
    while (low < high) {
      const ${I} middle = low + (high - low) / 2;
      const ${I} place = (${I})${where};
      ${T.load(x, "row + place * step")}
      if (x0 ${">" if right else ">="} x1) high = middle;
      else low = middle + 1;
    }
    const ${y.compute} y0 = (${y.compute})low;
    ${T.store(y, X.offset(y, names))}
  }
}
