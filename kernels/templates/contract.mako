<%
    I, A, e = spec.index, acc, spec.entry
    x0, x1 = spec.inputs[:2]
    y0, extras = spec.outputs[0], spec.inputs[2:]
    placed = (y0, *extras)
    pairs = maps.pairs
    M, N, K = maps.extent("m"), maps.extent("n"), maps.extent("k")
    if pairs:
        N, K = f"2 * ({N})", f"2 * ({K})"
    opencl = d.name == "opencl"
    private = "__private " if opencl else ""
    tables = [o for o in placed if o.access != "n"]

    def base(o):
        return f"{o.name}_b"
%>\
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
## ------------------------------------------------------------------------------------- microkernel: rows x vectors of sums in registers
<%def name="microkernel(rows)">\
<%
    R, V = range(rows), range(tile.vectors)
    def get(p, i):
        return f"((const {e}_vec {private}*){p})[{i}]"
    def put(v, p, i):
        return f"(({e}_vec {private}*){p})[{i}] = {v}"
    def add(i, v):
        if opencl and fused:
            return f"c{i}_{v} = fma(({vector})a{i}, b{v}, c{i}_{v});"
        return f"c{i}_{v} += a{i} * b{v};"
%>\
% if opencl:
static inline void ${e}_rows${rows}(int depth, __private const ${A} *a, __private const ${A} *b, __private ${A} *t, int first) {
% else:
${e}_FUSED static void ${e}_rows${rows}(int depth, const ${A} *restrict a, const ${A} *restrict b, ${A} *restrict t, int first) {
% if fused:
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
% endif
% endif
  ${e}_vec ${", ".join(f"c{i}_{v}" for i in R for v in V)};
  if (first) {
    ${" = ".join(f"c{i}_{v}" for i in R for v in V)} = (${e}_vec)${"(0)" if opencl else "{0}"};
  } else {
% for i in R:
    ${" ".join(f"c{i}_{v} = {get('t', i * tile.vectors + v)};" for v in V)}
% endfor
  }
  for (int k = 0; k < depth; ++k) {
    const ${e}_vec ${", ".join(f"b{v} = {get('b', v)}" for v in V)};
% for i in R:
    { const ${A} a${i} = a[${i}]; ${" ".join(add(i, v) for v in V)} }
% endfor
    a += ${rows};
    b += ${tile.width};
  }
% for i in R:
  ${" ".join(put(f"c{i}_{v}", "t", i * tile.vectors + v) + ";" for v in V)}
% endfor
}
</%def>\
## NR consecutive elements of x into a packed row: one copy of constant size where no cast is needed
<%def name="copy_row(x, dst, src, place)">\
% if T.part(x.dtype) == A and opencl:
        ${" ".join(f"(({e}_vec {private}*)({dst}))[{v}] = *(TX_GLOBAL const {e}_loose *)({src} + {place} + {v * tile.lanes});" for v in range(tile.vectors))}
% elif T.part(x.dtype) == A:
        __builtin_memcpy(${dst}, ${src} + ${place}, ${tile.width * size});
% else:
        for (int l = 0; l < ${tile.width}; ++l) (${dst})[l] = ${maps.element(x, src, f"{place} + l")};
% endif
</%def>\
## ------------------------------------------------ packing: dst[k * W + lane] from x, lanes first .. first + count (count None: all of W)
<%def name="pack(x, axis, W, room, first, count, ktab, kco)">\
<%
    S, lane_unit, depth_unit = maps.spatial(x), x.access == axis, x.access == "k"
    lo, lc = "lane", [f"lane_c{d}" for d in range(S)]
    kept = f"{count} - 1" if count else ""
    live = f"l < {count}" if count else ""
    def guarded(value):
        return f"{live} ? {value} : 0" if live else value
    def signed(value):
        # The block [[re, im], [-im, re]] of a complex x1: odd k meets even lanes with a minus.
        return f"(k & 1 & ~l) ? -{value} : {value}" if pairs and x is x1 else value
    twist = " + ((k ^ l) & 1)" if pairs and x is x1 else ""
    ptr, at = f"{x.name}_p", base(x)
    each = f"for (int k = 0; k < depth; ++k) for (int l = 0; l < {W}; ++l)"
%>\
% if lane_unit and S == 0:
      TX_GLOBAL const ${T.part(x.dtype)} *src = ${ptr} + ${at} + ${first};
      ${each}
        dst[k * ${W} + l] = ${guarded(maps.element(x, "src", f"{ktab}[k] + l"))};
% else:
      ${I} ${lo}[${room}]; ${f"i32 {', '.join(f'{c}[{room}]' for c in lc)};" if S else ""}
      for (int l = 0; l < ${W}; ++l) {
        const ${I} lin = ${first} + ${f"(l < {count} ? l : {kept})" if count else "l"};
        ${maps.locate(axis, "lin", [(x, f"{lo}[l]", [f"{c}[l]" for c in lc])])}
% if S and count:
        if (l >= ${count}) ${lc[0]}[l] = -(1 << 30); /* outside for every k */
% endif
      }
      TX_GLOBAL const ${T.part(x.dtype)} *src = ${ptr} + ${at}${" + k0" if depth_unit else ""};
% if S == 0:
% if depth_unit and not count and x is x1:
      /* Square blocks use up a cache line at once: columns a power of two apart would evict each other. */
      for (int q = 0; q < depth; q += ${tile.width}) {
        const int most = depth - q < ${tile.width} ? depth - q : ${tile.width};
        for (int l = 0; l < ${W}; ++l) for (int k = q; k < q + most; ++k)
          dst[k * ${W} + l] = ${maps.element(x, "src", f"{lo}[l] + k")};
      }
% elif depth_unit:
      ${each}
        dst[k * ${W} + l] = ${guarded(maps.element(x, "src", f"{lo}[l] + k"))};
% elif count or twist:
      ${each}
        dst[k * ${W} + l] = ${guarded("(" + signed(maps.element(x, "src", f"{ktab}[k] + {lo}[l]{twist}")) + ")")};
% else:
      int run = 1;
      for (int l = 1; l < ${W}; ++l) run &= ${lo}[l] == ${lo}[0] + l;
      if (run) {
        ${each}
          dst[k * ${W} + l] = ${maps.element(x, "src", f"{ktab}[k] + {lo}[0] + l")};
      } else {
        ${each}
          dst[k * ${W} + l] = ${maps.element(x, "src", f"{ktab}[k] + {lo}[l]")};
      }
% endif
% else:
<% inner = f"{lc[-1]}[0] + {kco[-1]}[k]" %>\
      int run = ${"0" if count or twist else "1"};
% if not (count or twist):
      for (int l = 1; l < ${W}; ++l)
        run &= ${" & ".join([f"({lo}[l] == {lo}[0] + l)", f"({lc[-1]}[l] == {lc[-1]}[0] + l)"] + [f"({c}[l] == {c}[0])" for c in lc[:-1]])};
% endif
      for (int k = 0; k < depth; ++k) {
        if (run && ${inner} >= 0 && ${inner} + ${W} <= ${x.name}_e${S - 1}${"".join(f" && (u32)({lc[d]}[0] + {kco[d]}[k]) < (u32){x.name}_e{d}" for d in range(S - 1))}) {
          for (int l = 0; l < ${W}; ++l) dst[k * ${W} + l] = ${maps.element(x, "src", f"{ktab}[k] + {lo}[0] + l")};
        } else {
          for (int l = 0; l < ${W}; ++l) {
            const int ok = ${maps.inside(x, [f"{c}[l]" for c in lc], [f"{c}[k]" for c in kco])};
            const ${I} place = ok ? ${ktab}[k] + ${lo}[l]${twist} : 0;
            const ${A} value = ${maps.element(x, "src", "place")};
            dst[k * ${W} + l] = ok ? ${"(" + signed("value") + ")"} : 0;
          }
        }
      }
% endif
% endif
</%def>\
## ---------------------------------------------------------------------------- few rows: x1 is read once, in place, without packing
<%def name="thin_functions()">\
<%
    R, L, V = range(tile.rows), tile.lanes, e + "_vec"
    Q = range(4) if x1.access == "n" or tile.rows < 4 else range(2)
    real = T.part(x1.dtype)
    head = "static inline void" if opencl else f"{e}_FUSED static void"
    def vector_of(place):
        if real == A:
            return f"*(TX_GLOBAL const {e}_loose *)({place})"
        return f"{e}_cast({place})"
    def add(c, a, b):
        return f"{c} = fma({a}, {b}, {c});" if opencl and fused else f"{c} += {a} * {b};"
    def splat(value):
        return f"({V})({value})" if opencl and fused else value
    columns = ", ".join(f"TX_GLOBAL const {real} *b{q}" for q in Q)
%>\
% if real != A:
static inline ${V} ${e}_cast(TX_GLOBAL const ${real} *p) {
  ${A} t[${L}] __attribute__((aligned(64)));
  for (int l = 0; l < ${L}; ++l) t[l] = ${maps.element(x1, "p", "l")};
  return *(${private}const ${V} *)t;
}
% endif
% if x1.access == "n":
/* sums[row][j] += a[row][q] * b_q[j] for four k at a time */
${head} ${e}_axpy(int n, ${private}const ${A} *a, ${columns}, ${private}${A} *sums) {
% if fused and not opencl:
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
% endif
  int j = 0;
  for (; j + ${L} <= n; j += ${L}) {
    const ${V} ${", ".join(f"v{q} = {vector_of(f'b{q} + j')}" for q in Q)};
% for r in R:
    { ${V} s = *(${private}${V} *)(sums + ${r * tile.max_n} + j); ${" ".join(add("s", splat(f"a[{r * tile.depth} + {q}]"), f"v{q}") for q in Q)} *(${private}${V} *)(sums + ${r * tile.max_n} + j) = s; }
% endfor
  }
  for (; j < n; ++j) {
% for r in R:
    ${" ".join(f"sums[{r * tile.max_n} + j] += a[{r * tile.depth} + {q}] * {maps.element(x1, f'b{q}', 'j')};" for q in Q)}
% endfor
  }
}
% else:
/* sums[row][q] += dot(a[row], b_q) for some columns at a time */
${head} ${e}_dots(int depth, ${private}const ${A} *a, ${columns}, ${private}${A} *sums) {
% if fused and not opencl:
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
% endif
  ${V} ${", ".join(f"c{r}_{q}" for r in R for q in Q)};
  ${A} ${", ".join(f"s{r}_{q} = 0" for r in R for q in Q)}, t[${L}] __attribute__((aligned(64)));
  ${" = ".join(f"c{r}_{q}" for r in R for q in Q)} = (${V})${"(0)" if opencl else "{0}"};
  int k = 0;
  for (; k + ${L} <= depth; k += ${L}) {
    const ${V} ${", ".join(f"v{q} = {vector_of(f'b{q} + k')}" for q in Q)};
% for r in R:
    { const ${V} v = *(${private}const ${V} *)(a + ${r * tile.depth} + k); ${" ".join(add(f"c{r}_{q}", "v", f"v{q}") for q in Q)} }
% endfor
  }
  for (; k < depth; ++k) {
% for r in R:
    ${" ".join(f"s{r}_{q} += a[{r * tile.depth} + k] * {maps.element(x1, f'b{q}', 'k')};" for q in Q)}
% endfor
  }
% for r in R:
% for q in Q:
  *(${private}${V} *)t = c${r}_${q};
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
      for (int k = 0; k < (depth + 3) / 4 * 4; ++k) {
        ${I} place;
        const ${I} at_k = k < depth ? k0 + k : K - 1;
        ${maps.locate("k", "at_k", [(x0, "place", ())])}
        for (int r = 0; r < ${tile.rows}; ++r) {
          ${I} across_m;
          const ${I} lin = r < tm ? i0 + r : i0;
          ${maps.locate("m", "lin", [(x0, "across_m", ())])}
          sliver[r * ${tile.depth} + k] = k < depth ? ${maps.element(x0, "x0_p", f"{base(x0)} + place + across_m")} : 0;
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
        ${e}_axpy(tn, sliver + k, ${", ".join(f"b + place[{q}]" for q in range(Q))}, sums);
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
## ------------------------------------------------------------------------------------------------ one tile of y0, by one thread or item
<%def name="vector_tile()">\
<%
    MR, NR, KC = tile.rows, tile.width, tile.depth
    S0, S1 = maps.spatial(x0), maps.spatial(x1)
    ktables = ([] if x0.access == "k" else [(x0, "k_x0[k]", [f"k_x0c{i}[k]" for i in range(S0)])])
    ktables += ([] if x1.access == "k" else [(x1, "k_x1[k]", [f"k_x1c{i}[k]" for i in range(S1)])])
    coords0, coords1 = [f"k_x0c{i}" for i in range(S0)], [f"k_x1c{i}" for i in range(S1)]
    half = 2 if pairs else 1
    def row(o):
        return f"m_{o.name}[i]"
    def col(o):
        first = f"j0 + s * {NR}" if half == 1 else f"(j0 + s * {NR}) / 2"
        return f"{first} + l" if o.access == "n" else f"n_{o.name}[s * {NR // half} + l]"
    def value(p):
        return f"t[i * {NR} + " + (f"2 * l + {p}]" if p else "l]")
    if tile.thin:
        NR = tile.max_n
%>\
    ${I} q = tile_number;
    const ${I} j0 = (q % across) * tile_n; q /= across;
    const ${I} i0 = (q % down) * tile_m;
    const ${I} batch = q / down;
    const int tm = (int)(M - i0 < tile_m ? M - i0 : tile_m), tn = (int)(N - j0 < tile_n ? N - j0 : tile_n);
${bases()}\
% if tile.thin:
${thin_sums()}\
% else:
    const int strips = (tn + ${NR - 1}) / ${NR};
    ${I} k0 = 0;
    do { /* once at least: with K == 0 the sums become zero */
      const int depth = (int)(K - k0 < ${KC} ? K - k0 : ${KC});
% for o, name, coordinates in ktables:
      ${I} ${name.replace("[k]", f"[{KC}]")}; ${" ".join(f"i32 {c.replace('[k]', f'[{KC}]')};" for c in coordinates)}
% endfor
% if ktables:
      for (int k = 0; k < depth; ++k) ${maps.locate("k", "k0 + k", ktables)}
% endif
<% dense = x1.access == "n" and not pairs %>\
% if dense:
      /* Row by row: reads run along y0's rows, a page at a time. */
      for (int k = 0; k < depth; ++k) {
        TX_GLOBAL const ${T.part(x1.dtype)} *src = x1_p + ${base(x1)} + j0 + k_x1[k];
        for (int s = 0; s * ${NR} + ${NR} <= tn; ++s) {
          ${private}${A} *dst = panel + (s * depth + k) * ${NR};
${copy_row(x1, "dst", "src", f"s * {NR}")}\
        }
      }
% endif
      for (int s = ${f"tn / {NR}" if dense else "0"}; s < strips; ++s) {
        ${private}${A} *dst = panel + s * depth * ${NR};
        const int count = tn - s * ${NR};
        const ${I} first = j0 + s * ${NR};
% if dense:
        {
% else:
        if (count >= ${NR}) {
${pack(x1, "n", NR, NR, "first", None, "k_x1", coords1)}\
        } else {
% endif
${pack(x1, "n", NR, NR, "first", "count", "k_x1", coords1)}\
        }
      }
      for (int r = 0; r * ${MR} < tm; ++r) {
        const int count = tm - r * ${MR};
        const ${I} first = i0 + r * ${MR};
        ${private}${A} *dst = sliver;
        ${private}${A} *t = sums + r * strips * ${MR * NR};
        if (count >= ${MR}) {
${pack(x0, "m", MR, MR, "first", None, "k_x0", coords0)}\
          for (int s = 0; s < strips; ++s) ${e}_rows${MR}(depth, sliver, panel + s * depth * ${NR}, t + s * ${MR * NR}, k0 == 0);
        } else {
          const int w = ${" : ".join(f"count <= {v} ? {v}" for v in variants[:-1])} : ${variants[-1]};
${pack(x0, "m", "w", MR, "first", "count", "k_x0", coords0)}\
          for (int s = 0; s < strips; ++s) {
            ${private}${A} *b = panel + s * depth * ${NR}, *c = t + s * ${MR * NR};
            switch (w) {
% for v in variants:
              case ${v}: ${e}_rows${v}(depth, sliver, b, c, k0 == 0); break;
% endfor
            }
          }
        }
      }
      k0 += ${KC};
    } while (k0 < K);
% endif
% for o in tables:
    ${I} n_${o.name}[${tile.max_n // half}];
% endfor
% if tables:
    for (int j = 0; j < tn${" / 2" if half == 2 else ""}; ++j) {
      const ${I} lin = j0${" / 2" if half == 2 else ""} + j;
      ${maps.locate("n", "lin", [(o, f"n_{o.name}[j]", ()) for o in tables])}
    }
% endif
    for (int r = 0; r * ${MR} < tm; ++r) {
      const int rows = tm - r * ${MR} < ${MR} ? tm - r * ${MR} : ${MR};
% for o in placed:
      ${I} m_${o.name}[${MR}];
% endfor
      for (int i = 0; i < rows; ++i) {
        const ${I} lin = i0 + r * ${MR} + i;
        ${maps.locate("m", "lin", [(o, f"m_{o.name}[i]", ()) for o in placed])}
      }
      for (int s = 0; s < strips; ++s) {
        ${private}const ${A} *t = sums + (r * strips + s) * ${MR * NR};
        const int cols = (tn - s * ${NR} < ${NR} ? tn - s * ${NR} : ${NR})${" / 2" if half == 2 else ""};
        for (int i = 0; i < rows; ++i) {
          if (cols == ${NR // half}) {
% if not d.grid:
            TX_PRAGMA(GCC ivdep)
% endif
            for (int l = 0; l < ${NR // half}; ++l) {
${element(row, col, value)}\
            }
          } else {
            for (int l = 0; l < cols; ++l) {
${element(row, col, value)}\
            }
          }
        }
      }
    }
</%def>\
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
        ${store}[k * ${lanes} + l] = ${"(k & 1 & ~l) ? -value : value" if sign else "value"};
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
  TX_LOCAL ${A} left[${tile.k * tile.m}];
  TX_LOCAL ${A} right[${tile.k * tile.n}];
  const int lid = (int)TX_LID(0), tx = lid % ${across}, ty = lid / ${across};
  const ${I} M = ${M}, N = ${N}, K = ${K};
  const ${I} wide = (N + ${tile.n - 1}) / ${tile.n}, tall = (M + ${tile.m - 1}) / ${tile.m};
  ${I} q = (${I})TX_GROUP(0);
  const ${I} j0 = (q % wide) * ${tile.n}; q /= wide;
  const ${I} i0 = (q % tall) * ${tile.m};
  const ${I} batch = q / tall;
  {
${bases()}\
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
        for (int i = 0; i < ${TM}; ++i) a[i] = left[k * ${tile.m} + ty + i * ${down}];
        for (int j = 0; j < ${TN}; ++j) b[j] = right[k * ${tile.n} + ${column("j")}];
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
${element(row, col, value)}\
      }
    }
  }
</%def>\
## --------------------------------------------------------------------------------------------------------------------------- the kernel
% if vectorised:
% if opencl:
/* Plain vector accesses: PoCL's vload is a call that spills every register. The loose type needs no more alignment than its element. */
typedef ${vector} ${e}_vec;
typedef ${vector} ${e}_loose __attribute__((aligned(${size})));
% else:
typedef ${A} ${e}_vec __attribute__((vector_size(${tile.lanes * size}), may_alias));
typedef ${A} ${e}_loose __attribute__((vector_size(${tile.lanes * size}), aligned(${size}), may_alias));
/* The only place where a * b + c may become one instruction. */
% if fused:
#if defined(__GNUC__) && !defined(__clang__)
#define ${e}_FUSED __attribute__((noinline, optimize("fp-contract=fast")))
#else
#define ${e}_FUSED __attribute__((noinline))
#endif
% else:
#define ${e}_FUSED __attribute__((noinline))
% endif
% endif
% if tile.thin:
${thin_functions()}
% else:
% for v in variants:
${microkernel(v)}
% endfor
% endif
% endif
TX_KERNEL(${tile.items if not vectorised else 1}, 1, 1) ${signature} {
% if not vectorised:
${local_tile()}\
% else:
  const ${I} M = ${M}, N = ${N}, K = ${K};
% if d.grid:
  const ${I} across = (N + tile_n - 1) / tile_n, down = (M + tile_m - 1) / tile_m, tile_number = (${I})TX_GID(0);
% if not tile.thin:
  ${private}${A} panel[${tile.depth * tile.max_n}] __attribute__((aligned(64)));
% endif
  ${private}${A} sliver[${tile.depth * tile.rows}] __attribute__((aligned(64)));
  ${private}${A} sums[${tile.max_m * tile.max_n}] __attribute__((aligned(64)));
  {
${vector_tile()}\
  }
% else:
${c_threads()}\
% endif
% endif
}
<%def name="c_threads()">\
<%
    small_m, small_n, depth = 4 * tile.rows, 4 * tile.width, tile.depth
    small = tile.rows * (tile.max_n + depth) if tile.thin else depth * (small_n + tile.rows) + small_m * small_n
%>\
  const i64 batches = ${maps.extent("b")};
  i64 tiles = ((N + tile_n - 1) / tile_n) * ((M + tile_m - 1) / tile_m) * batches;
  int threads = (i64)batches * M * N * (K + 16) > ${16384 if tile.thin else 65536} ? tx_threads : 1;
  if (threads > tiles) threads = (int)tiles;
% if not tile.thin:
  /* Scratch of a thread: a panel, the sums and a sliver. Small ones live on the stack; so do all, with smaller tiles, if the heap is full. */
  const i64 k_most = K < ${depth} ? (K + 1) / 2 * 2 : ${depth};
  const i64 need = (k_most * (tile_n + ${tile.rows}) + (i64)tile_m * tile_n + 15) / 16 * 16;
  char *heap = 0;
  int next = 0;
  if (need > ${small}) {
    heap = __builtin_malloc((u64)(need * threads * ${size} + 64));
    if (!heap) {
      tile_m = ${small_m};
      tile_n = ${small_n};
    }
  }
  ${A} *aligned = (${A} *)(((uintptr_t)heap + 63) / 64 * 64);
% endif
  const ${I} across = (N + tile_n - 1) / tile_n, down = (M + tile_m - 1) / tile_m;
  tiles = (i64)across * down * batches;
  TX_PRAGMA(omp parallel num_threads(threads) if(threads > 1))
  {
    ${A} stack[${small}] __attribute__((aligned(64)));
% if tile.thin:
    ${A} *const sums = stack, *const sliver = stack + ${tile.rows * tile.max_n};
% else:
    int slot = 0;
    TX_PRAGMA(omp atomic capture)
    slot = next++;
    ${A} *const panel = heap ? aligned + need * slot : stack;
    ${A} *const sums = panel + k_most * tile_n, *const sliver = sums + (i64)tile_m * tile_n; /* vectors first: aligned */
% endif
    TX_PRAGMA(omp for schedule(dynamic))
    for (${I} tile_number = 0; tile_number < (${I})tiles; ++tile_number) {
${vector_tile()}\
    }
  }
% if not tile.thin:
  __builtin_free(heap);
% endif
</%def>\
