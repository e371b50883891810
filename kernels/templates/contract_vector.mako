<%doc>
Contract with a VectorTile: each thread (C) or work item (OpenCL) packs panels of its tile of y0 through the accessors and runs a
register-tiled microkernel over them; the loop order is that of BLIS (https://doi.org/10.1145/2764454) within one tile.
</%doc>\
<%namespace name="parts" file="contract_parts.mako"/>\
<%namespace name="thin" file="contract_thin.mako"/>\
<%namespace name="micro" file="contract_micro.mako"/>\
## NR consecutive elements of x1 into a packed row, vector by vector
<%def name="copy_row(dst, src, place)">\
<% get = f"*(TX_GLOBAL const {e}_loose *)(" if T.part(x1.dtype) == A else f"{e}_cast(" %>\
        ${" ".join(f"(({e}_vec TX_PRIVATE *)({dst}))[{v}] = {get}{src} + {place} + {v * tile.lanes});" for v in range(tile.vectors))}
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
${parts.bases()}\
% if tile.thin:
${thin.thin_sums()}\
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
          TX_PRIVATE ${A} *dst = panel + (s * depth + k) * ${NR};
${copy_row("dst", "src", f"s * {NR}")}\
        }
      }
% endif
      for (int s = ${f"tn / {NR}" if dense else "0"}; s < strips; ++s) {
        TX_PRIVATE ${A} *dst = panel + s * depth * ${NR};
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
        TX_PRIVATE ${A} *dst = sliver;
        TX_PRIVATE ${A} *t = sums + r * strips * ${MR * NR};
        if (count >= ${MR}) {
${pack(x0, "m", MR, MR, "first", None, "k_x0", coords0)}\
          for (int s = 0; s < strips; ++s) ${e}_rows${MR}(depth, sliver, panel + s * depth * ${NR}, t + s * ${MR * NR}, k0 == 0);
        } else {
          const int w = ${" : ".join(f"count <= {v} ? {v}" for v in variants[:-1])} : ${variants[-1]};
${pack(x0, "m", "w", MR, "first", "count", "k_x0", coords0)}\
          for (int s = 0; s < strips; ++s) {
            TX_PRIVATE ${A} *b = panel + s * depth * ${NR}, *c = t + s * ${MR * NR};
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
      ${I} m_${o.name}[${MR}] = {0};
% endfor
      for (int i = 0; i < rows; ++i) {
        const ${I} lin = i0 + r * ${MR} + i;
        ${maps.locate("m", "lin", [(o, f"m_{o.name}[i]", ()) for o in placed])}
      }
      for (int s = 0; s < strips; ++s) {
        TX_PRIVATE const ${A} *t = sums + (r * strips + s) * ${MR * NR};
        const int cols = (tn - s * ${NR} < ${NR} ? tn - s * ${NR} : ${NR})${" / 2" if half == 2 else ""};
        for (int i = 0; i < rows; ++i) {
          if (cols == ${NR // half}) {
% if not d.grid:
            TX_PRAGMA(GCC ivdep)
% endif
            for (int l = 0; l < ${NR // half}; ++l) {
${parts.element(row, col, value)}\
            }
          } else {
            for (int l = 0; l < cols; ++l) {
${parts.element(row, col, value)}\
            }
          }
        }
      }
    }
</%def>\
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
    heap = TX_MALLOC((u64)(need * threads * ${size} + 64));
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
  TX_FREE(heap);
% endif
</%def>\
## --------------------------------------------------------------------------------------------------------------------------- the kernel
${micro.types()}\
% if tile.thin or (x1.access == "n" and not pairs):
${parts.vector_cast()}
% endif
% if tile.thin:
${thin.thin_functions()}
% else:
% for v in variants:
${micro.microkernel(v)}
% endfor
% endif
TX_KERNEL(1, 1, 1) ${signature} {
  const ${I} M = ${M}, N = ${N}, K = ${K};
% if d.grid:
  const ${I} across = (N + tile_n - 1) / tile_n, down = (M + tile_m - 1) / tile_m, tile_number = (${I})TX_GID(0);
% if not tile.thin:
  TX_PRIVATE ${A} panel[${tile.depth * tile.max_n}] __attribute__((aligned(64)));
% endif
  TX_PRIVATE ${A} sliver[${tile.depth * tile.rows}] __attribute__((aligned(64)));
  TX_PRIVATE ${A} sums[${tile.max_m * tile.max_n}] __attribute__((aligned(64)));
  {
${vector_tile()}\
  }
% else:
${c_threads()}\
% endif
}
