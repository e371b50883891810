<%
    I = spec.index
    names = [f"c{k}" for k in range(spec.rank)]
    count = X.sizes(spec.rank)
%>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.operands:
  ${X.shift(o)}
% endfor
  const ${I} total = ${" * ".join(count)};
  ${X.each(d, I, "total", "total")}
    const i64 upto = TX_LOAD_i64(x0_p, item), before = item > 0 ? TX_LOAD_i64(x0_p, item - 1) : 0;
    if (upto != before) {
      ${X.inset(T.coords("item", names, count, I), "      ")}
% for k, name in enumerate(names):
      TX_STORE_i64(y0_p, before * ${spec.rank} + ${k}, ${name});
% endfor
    }
  }
}
