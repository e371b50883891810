<%doc>
Contract with a LocalTile: a work-group copies its tiles of x0 and x1 into local memory, every item sums rows x cols elements.
</%doc>\
<%namespace name="parts" file="contract_parts.mako"/>\
## ----------------------------------------------------------------------------------- one tile of y0, by a work-group with local memory
<%def name="local_load(x, axis, lanes, store, base_lane)">\
<%
    S = maps.spatial(x)
    total, count = lanes * tile.k, -(-lanes * tile.k // tile.items)
    along_k = x.access == "k"
    kk = f"e % {tile.k}" if along_k else f"e / {lanes}"
    ll = f"e / {tile.k}" if along_k else f"e % {lanes}"
    sign = pairs and x is x1
    twist = " + ((k ^ l) & 1)" if sign else ""
    n = x.name
    bound = "M" if axis == "m" else "N"
%>\
      for (int u = 0; u < ${count}; ++u) {
        const int e = lid + u * ${tile.items};
% if total % tile.items:
        if (e >= ${total}) break;
% endif
        const int k = ${kk}, l = ${ll};
        ${I} ko; ${f"i32 {', '.join(f'kc{i}' for i in range(S))};" if S else ""}
        const ${I} at_k = k0 + k < K ? k0 + k : 0;
        ${maps.locate("k", "at_k", [(x, "ko", [f"kc{i}" for i in range(S)])])}
        const int ok = (k0 + k < K) & (${base_lane} + l < ${bound})${" & " + maps.inside(x, [f"{n}_lc{i}[u]" for i in range(S)], [f"kc{i}" for i in range(S)]) if S else ""};
        ${A} value = 0;
        if (ok) value = ${maps.element(x, n + "_p", f"{base(x)} + ko + {n}_lane[u]{twist}")};
        ${store}[k * ${lanes + 1} + l] = ${"(k & 1 & ~l) ? -value : value" if sign else "value"};
      }
</%def>\
<%def name="local_lanes(x, axis, lanes, base_lane)">\
<%
    S, n = maps.spatial(x), x.name
    count = -(-lanes * tile.k // tile.items)
    ll = f"e / {tile.k}" if x.access == "k" else f"e % {lanes}"
    bound = "M" if axis == "m" else "N"
%>\
    ${I} ${n}_lane[${count}]; ${f"i32 {', '.join(f'{n}_lc{i}[{count}]' for i in range(S))};" if S else ""}
    for (int u = 0; u < ${count}; ++u) {
      const int e = lid + u * ${tile.items}, l = ${ll};
      const ${I} lin = ${base_lane} + l < ${bound} ? ${base_lane} + l : ${base_lane};
      ${maps.locate(axis, "lin", [(x, f"{n}_lane[u]", [f"{n}_lc{i}[u]" for i in range(S)])])}
    }
</%def>\
<%def name="local_tile()">\
<%
    TM, TN, down, across = tile.rows, tile.cols, tile.m // tile.rows, tile.n // tile.cols
    half = 2 if pairs else 1
    def fma(a, b, c):
        if not fused:
            return f"{a} * {b} + {c}"
        return f"{'fmaf' if d.name == 'cuda' and A == 'f32' else 'fma'}({a}, {b}, {c})"
    def row(o):
        return f"m_{o.name}"
    def col(o):
        return f"n_{o.name}"
    def value(p):
        return f"sum[i][j + {p}]" if p else "sum[i][j]"
    # Neighbouring items own neighbouring columns (pairs of columns for complex): local reads without bank conflicts, dense stores.
    def column(j):
        return f"tx + ({j}) * {across}" if half == 1 else f"2 * tx + ({j}) / 2 * {2 * across} + (({j}) & 1)"
%>\
  TX_LOCAL ${A} left[${tile.k * (tile.m + 1)}];
  TX_LOCAL ${A} right[${tile.k * (tile.n + 1)}];
  const int lid = (int)TX_LID(0), tx = lid % ${across}, ty = lid / ${across};
  const ${I} M = ${M}, N = ${N}, K = ${K};
  const ${I} wide = (N + ${tile.n - 1}) / ${tile.n}, tall = (M + ${tile.m - 1}) / ${tile.m};
  ${I} q = (${I})TX_GROUP(0);
  const ${I} j0 = (q % wide) * ${tile.n}; q /= wide;
  const ${I} i0 = (q % tall) * ${tile.m};
  const ${I} batch = q / tall;
  {
${parts.bases()}\
${local_lanes(x0, "m", tile.m, "i0")}\
${local_lanes(x1, "n", tile.n, "j0")}\
    ${A} sum[${TM}][${TN}];
    for (int i = 0; i < ${TM}; ++i)
      for (int j = 0; j < ${TN}; ++j) sum[i][j] = 0;
    for (${I} k0 = 0; k0 < K; k0 += ${tile.k}) {
${local_load(x0, "m", tile.m, "left", "i0")}\
${local_load(x1, "n", tile.n, "right", "j0")}\
      TX_BARRIER;
      for (int k = 0; k < ${tile.k}; ++k) {
        ${A} a[${TM}], b[${TN}];
        for (int i = 0; i < ${TM}; ++i) a[i] = left[k * ${tile.m + 1} + ty + i * ${down}];
        for (int j = 0; j < ${TN}; ++j) b[j] = right[k * ${tile.n + 1} + ${column("j")}];
        for (int i = 0; i < ${TM}; ++i)
          for (int j = 0; j < ${TN}; ++j) sum[i][j] = ${fma("a[i]", "b[j]", "sum[i][j]")};
      }
      TX_BARRIER;
    }
    for (int i = 0; i < ${TM}; ++i) {
      const ${I} row = i0 + ty + i * ${down};
      if (row >= M) break;
      ${I} ${", ".join(f"m_{o.name}" for o in placed)};
      ${maps.locate("m", "row", [(o, f"m_{o.name}", ()) for o in placed])}
      for (int j = 0; j < ${TN}; j += ${half}) {
        const ${I} lin = j0 + ${column("j")};
        if (lin >= N) break;
        ${I} ${", ".join(f"n_{o.name}" for o in placed)};
        const ${I} column = ${"lin / 2" if half == 2 else "lin"};
        ${maps.locate("n", "column", [(o, f"n_{o.name}", ()) for o in placed])}
${parts.element(row, col, value)}\
      }
    }
  }
</%def>\
TX_KERNEL(${tile.items}, 1, 1) ${signature} {
${local_tile()}\
}
