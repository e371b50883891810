<%doc>
Contract with few rows of x0 (VectorTile.thin): x1 is read once, in place, without packing. `axpy` runs along x1's dense n, `dots`
along its dense k.
</%doc>\
<%namespace name="parts" file="contract_parts.mako"/>\
## ---------------------------------------------------------------------------- few rows: x1 is read once, in place, without packing
<%def name="thin_functions()">\
<%
    R, L, V = range(tile.rows), tile.lanes, e + "_vec"
    Q = range(4) if x1.access == "n" or tile.rows < 4 else range(2)
    real = T.part(x1.dtype)
    def vector_of(place):
        if real == A:
            return f"*(TX_GLOBAL const {e}_loose *)({place})"
        return f"{e}_cast({place})"
    def add(c, a, b):
        return f"{c} = fma({a}, {b}, {c});" if opencl and fused else f"{c} += {a} * {b};"
    def splat(value):
        return f"({V})({value})" if opencl and fused else value
    def pointers(columns):
        return ", ".join(f"TX_GLOBAL const {real} *b{q}" for q in columns)
%>\
% if x1.access == "n":
% for S in (range(4), range(1)):
/* sums[row][j] += a[row][q] * b_q[j] for ${len(S)} k at once (not by zeros in a: 0 * inf is not 0) */
${e}_FUSED void ${e}_axpy${len(S)}(int n, TX_PRIVATE const ${A} *a, ${pointers(S)}, TX_PRIVATE ${A} *sums) {
${parts.fuse()}\
  int j = 0;
  for (; j + ${L} <= n; j += ${L}) {
    const ${V} ${", ".join(f"v{q} = {vector_of(f'b{q} + j')}" for q in S)};
% for r in R:
    {
      ${V} s = *(TX_PRIVATE ${V} *)(sums + ${r * tile.max_n} + j);
      ${" ".join(add("s", splat(f"a[{r * tile.depth} + {q}]"), f"v{q}") for q in S)}
      *(TX_PRIVATE ${V} *)(sums + ${r * tile.max_n} + j) = s;
    }
% endfor
  }
  for (; j < n; ++j) {
% for r in R:
    ${" ".join(f"sums[{r * tile.max_n} + j] += a[{r * tile.depth} + {q}] * {maps.element(x1, f'b{q}', 'j')};" for q in S)}
% endfor
  }
}
% endfor
% else:
/* sums[row][q] += dot(a[row], b_q) for some columns at a time */
${e}_FUSED void ${e}_dots(int depth, TX_PRIVATE const ${A} *a, ${pointers(Q)}, TX_PRIVATE ${A} *sums) {
${parts.fuse()}\
  ${V} ${", ".join(f"c{r}_{q}" for r in R for q in Q)};
  ${A} ${", ".join(f"s{r}_{q} = 0" for r in R for q in Q)}, t[${L}] __attribute__((aligned(64)));
  ${" = ".join(f"c{r}_{q}" for r in R for q in Q)} = (${V})${"(0)" if opencl else "{0}"};
  int k = 0;
  for (; k + ${L} <= depth; k += ${L}) {
    const ${V} ${", ".join(f"v{q} = {vector_of(f'b{q} + k')}" for q in Q)};
% for r in R:
    { const ${V} v = *(TX_PRIVATE const ${V} *)(a + ${r * tile.depth} + k); ${" ".join(add(f"c{r}_{q}", "v", f"v{q}") for q in Q)} }
% endfor
  }
  for (; k < depth; ++k) {
% for r in R:
    ${" ".join(f"s{r}_{q} += a[{r * tile.depth} + k] * {maps.element(x1, f'b{q}', 'k')};" for q in Q)}
% endfor
  }
% for r in R:
% for q in Q:
  *(TX_PRIVATE ${V} *)t = c${r}_${q};
  for (int l = 0; l < ${L}; ++l) s${r}_${q} += t[l];
  sums[${r * tile.max_n + q}] += s${r}_${q};
% endfor
% endfor
}
% endif
</%def>\
<%def name="thin_sums()">\
<% Q = 4 if x1.access == "n" or tile.rows < 4 else 2 %>\
    const int strips = 1;
    for (int j = 0; j < ${tile.rows * tile.max_n}; ++j) sums[j] = 0;
    for (${I} k0 = 0; k0 < K; k0 += ${tile.depth}) {
      const int depth = (int)(K - k0 < ${tile.depth} ? K - k0 : ${tile.depth});
      for (int k = 0; k < depth; ++k) {
        ${I} place;
        const ${I} at_k = k0 + k;
        ${maps.locate("k", "at_k", [(x0, "place", ())])}
        for (int r = 0; r < ${tile.rows}; ++r) {
          ${I} across_m;
          const ${I} lin = r < tm ? i0 + r : i0;
          ${maps.locate("m", "lin", [(x0, "across_m", ())])}
          sliver[r * ${tile.depth} + k] = ${maps.element(x0, "x0_p", f"{base(x0)} + place + across_m")};
        }
      }
% if x1.access == "n":
      for (int k = 0; k < depth; k += ${Q}) {
        ${I} place[${Q}];
        for (int q = 0; q < ${Q}; ++q) {
          const ${I} at_k = k + q < depth ? k0 + k + q : k0 + depth - 1;
          ${maps.locate("k", "at_k", [(x1, "place[q]", ())])}
        }
        TX_GLOBAL const ${T.part(x1.dtype)} *b = x1_p + ${base(x1)} + j0;
        if (k + ${Q} <= depth) {
          ${e}_axpy${Q}(tn, sliver + k, ${", ".join(f"b + place[{q}]" for q in range(Q))}, sums);
        } else {
          for (int q = 0; k + q < depth; ++q) ${e}_axpy1(tn, sliver + k + q, b + place[q], sums);
        }
      }
% else:
      for (int j = 0; j < tn; j += ${Q}) {
        ${I} place[${Q}];
        for (int q = 0; q < ${Q}; ++q) {
          const ${I} lin = j + q < tn ? j0 + j + q : j0 + tn - 1;
          ${maps.locate("n", "lin", [(x1, "place[q]", ())])}
        }
        TX_GLOBAL const ${T.part(x1.dtype)} *b = x1_p + ${base(x1)} + k0;
        ${e}_dots(depth, sliver, ${", ".join(f"b + place[{q}]" for q in range(Q))}, sums + j);
      }
% endif
    }
</%def>\
