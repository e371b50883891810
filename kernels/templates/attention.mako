<%doc>
Attention, forward or backward: see kernels/attention.py for what the loops do. Tiles are products of packed panels by contract's microkernel:
slivers a[k][rows] (of keys, or of columns of values) against panels b[k][width].
</%doc>\
<%namespace name="micro" file="contract_micro.mako"/>\
<%
    names = [f"c{i}" for i in range(3)]
    if back:
        dq, dk, dv = (o[f"y{i}"] for i in range(3))
    def rows_of(x):
        """The batch's first element."""
        terms = " + ".join(f"c{i} * {x.name}_s{i}" for i in range(3))
        return f"{x.name}_o + (i64)({terms})"
    def at(x, pointer, place):
        return T.cast(f"TX_LOAD_{x.dtype}({pointer}, {place})", T.held(x.dtype), A)
    def put(y, pointer, place, value):
        return f"TX_STORE_{y.dtype}({pointer}, {place}, {T.cast(value, A, T.held(y.dtype))});"
%>\
## ------------------------------------------------------------------------------------------------------------------ packing
## dst[k * MR + i] = row i of a group, column k: a sliver whose sum runs along columns
<%def name="across(x, dst, first, count, columns, factor='')">\
        for (int i = 0; i < ${MR}; ++i) {
          TX_GLOBAL const ${x.dtype} *src = ${x.name}_b + (${I})(${first} + (i < ${count} ? i : 0)) * ${x.name}_r;
          if (i < ${count}) for (${I} k = 0; k < ${columns}; ++k) ${dst}[k * ${MR} + i] = ${at(x, "src", "k")}${factor};
          else for (${I} k = 0; k < ${columns}; ++k) ${dst}[k * ${MR} + i] = 0;
        }
</%def>\
## dst[k * MR + i] = row k, column i of a group: a sliver whose sum runs along rows
<%def name="along(x, dst, first, rows, group, count, factor='')">\
        for (int k = 0; k < ${rows}; ++k) {
          TX_GLOBAL const ${x.dtype} *src = ${x.name}_b + (${I})(${first} + k) * ${x.name}_r + ${group};
          for (int i = 0; i < ${MR}; ++i) ${dst}[k * ${MR} + i] = i < ${count} ? ${at(x, "src", "i")}${factor} : 0;
        }
</%def>\
## dst[k * NR + l] = row first + l, column k, of ``count`` rows: a panel whose sum runs along columns. Square blocks use up a cache line at once.
<%def name="panel(x, dst, first, count, columns, factor='')">\
        for (int l = 0; l < ${NR}; ++l) if (l >= ${count}) for (${I} k = 0; k < ${columns}; ++k) (${dst})[k * ${NR} + l] = 0;
        for (${I} q = 0; q < ${columns}; q += ${NR}) {
          const ${I} most = ${columns} - q < ${NR} ? ${columns} : q + ${NR};
          for (int l = 0; l < (${count} < ${NR} ? ${count} : ${NR}); ++l) {
            TX_GLOBAL const ${x.dtype} *src = ${x.name}_b + (${I})(${first} + l) * ${x.name}_r;
            for (${I} k = q; k < most; ++k) (${dst})[k * ${NR} + l] = ${at(x, "src", "k")}${factor};
          }
        }
</%def>\
<%def name="multiply(depth, a, b, t, first)">\
          ${e}_rows${MR}((int)(${depth}), ${a}, ${b}, ${t}, ${first});
</%def>\
<%def name="group(at, total)">\
        const int count = (int)(${total}) - ${at} < ${MR} ? (int)(${total}) - ${at} : ${MR};
</%def>\
<%def name="each_lane()">for (int l = 0; l < ${NR}; ++l)</%def>\
## exp of NR lanes
<%def name="exponential(dst, value)">\
% if opencl:
          for (int v = 0; v < ${tile.vectors}; ++v) {
            ${e}_vec TX_PRIVATE *to = (${e}_vec TX_PRIVATE *)(${dst}) + v;
            *to = exp(${value("v")});
          }
% else:
          ${SIMD}
          ${each_lane()} (${dst})[l] = tx_exp_${A}(${value("l")});
% endif
</%def>\
<%def name="places()">\
    const ${I} heads = n0 * n1 * n2;
    ${T.coords("batch", names, ["n0", "n1", "n2"], I)}
% for name, x in o.items():
% if x.access != "p":
    TX_GLOBAL ${"const " if name[0] == "x" else ""}${x.dtype} *${name}_b = ${name}_p + ${rows_of(x)};
% else:
    TX_GLOBAL ${"const " if name[0] == "x" else ""}${x.dtype} *${name}_b = ${name}_p + ${name}_o;
% endif
% endfor
</%def>\
## ------------------------------------------------------------------------------------------------------------------ forward
<%def name="masked(value, i, j)">\
% if keep:
            if (!TX_LOAD_b8(x6_b, ${i} * x6_r + ${j} * x6_c)) ${value} = ${lowest};
% endif
% if bias:
            ${value} += ${at(bias, "x7_b", f"{i} * x7_r + {j} * x7_c")};
% endif
</%def>\
<%def name="forward()">\
    TX_PRIVATE ${A} qt[${QB * DW}] __attribute__((aligned(64)));
    TX_PRIVATE ${A} sums[${QB * EP}] __attribute__((aligned(64)));
    TX_PRIVATE ${A} t[${KB * NR}] __attribute__((aligned(64)));
    TX_PRIVATE ${A} ks[${KB * DW}], vs[${KB * EP}], top[${QB}] __attribute__((aligned(64))), total[${QB}] __attribute__((aligned(64)));
    const ${I} batch = item / blocks;
    const ${I} i0 = (blocks - 1 - item % blocks) * tile_q; /* the longest first */
${places()}\
    const int rows = (int)(L - i0 < tile_q ? L - i0 : tile_q), strips = (rows + ${NR - 1}) / ${NR};
    for (int s = 0; s < strips; ++s) {
      const int left = rows - s * ${NR};
${panel(o["x0"], f"(qt + s * D * {NR})", f"i0 + s * {NR}", "left", "D", " * scale")}\
    }
    for (${I} k = 0; k < strips * ${EP * NR}; ++k) sums[k] = 0;
    for (int l = 0; l < strips * ${NR}; ++l) { top[l] = ${lowest}; total[l] = 0; }
% if causal:
    const ${I} seen = i0 + rows < S ? i0 + rows : S;
% else:
    const ${I} seen = S;
% endif
    for (${I} j0 = 0; j0 < seen; j0 += ${KB}) {
      const int keys = (int)(seen - j0 < ${KB} ? seen - j0 : ${KB});
      for (int g = 0; g < keys; g += ${MR}) {
${group("g", "keys")}\
        TX_PRIVATE ${A} *dst = ks + g * D;
${across(o["x1"], "dst", "j0 + g", "count", "D")}\
      }
      for (int g = 0; g < E; g += ${MR}) {
${group("g", "E")}\
        TX_PRIVATE ${A} *dst = vs + g * ${KB};
${along(o["x2"], "dst", "j0", "keys", "g", "count")}\
      }
      for (int s = 0; s < strips; ++s) {
        const ${I} i1 = i0 + s * ${NR};
% if causal:
        if (j0 > i1 + ${NR - 1}) continue;
        const int kept = i1 + ${NR} - j0 < keys ? (int)(i1 + ${NR} - j0) : keys;
% else:
        const int kept = keys;
% endif
        TX_PRIVATE ${A} *m = top + s * ${NR}, *z = total + s * ${NR}, *sum = sums + s * ${EP * NR};
        for (int g = 0; g < kept; g += ${MR}) {
${group("g", "keys")}\
${multiply("D", "ks + g * D", f"qt + s * D * {NR}", f"t + g * {NR}", "1")}\
        }
% if keep or bias:
        for (int j = 0; j < kept; ++j) for (int l = 0; l < ${NR} && i1 + l < L; ++l) {
            ${A} value = t[j * ${NR} + l];
${masked("value", "(i1 + l)", "(j0 + j)")}\
            t[j * ${NR} + l] = value;
        }
% endif
% if causal:
        if (j0 + kept - 1 > i1) for (int j = 0; j < kept; ++j) {
          ${SIMD}
          ${each_lane()} if (j0 + j > i1 + l) t[j * ${NR} + l] = ${lowest};
        }
% endif
        ${A} best[${NR}] __attribute__((aligned(64))), base[${NR}] __attribute__((aligned(64))), part[${NR}] __attribute__((aligned(64)));
        ${each_lane()} { best[l] = m[l]; part[l] = 0; }
        for (int j = 0; j < kept; ++j) {
          TX_PRIVATE const ${A} *row = t + j * ${NR};
          ${SIMD}
          ${each_lane()} best[l] = row[l] > best[l] ? row[l] : best[l];
        }
        /* A row that is masked altogether so far has its sums at 0, whatever they are taken relative to. */
        ${SIMD}
        ${each_lane()} { base[l] = best[l] == ${lowest} ? 0 : best[l]; m[l] = m[l] - base[l]; }
${exponential("m", lambda l: f"m[{l}]" if not opencl else "*to")}\
        ${SIMD}
        ${each_lane()} z[l] *= m[l];
        for (int k = 0; k < E; ++k) {
          TX_PRIVATE ${A} *row = sum + k * ${NR};
          ${SIMD}
          ${each_lane()} row[l] *= m[l];
        }
        for (int j = 0; j < kept; ++j) {
          TX_PRIVATE ${A} *row = t + j * ${NR};
${exponential("row", lambda l: f"row[{l}] - base[{l}]" if not opencl else f"*to - ((({e}_vec TX_PRIVATE *)base)[{l}])")}\
          ${SIMD}
          ${each_lane()} part[l] += row[l];
        }
        ${SIMD}
        ${each_lane()} { z[l] += part[l]; m[l] = best[l]; }
% if spec.body:
        for (int j = 0; j < kept; ++j) for (int l = 0; l < ${NR}; ++l) {
          const u64 idx = ((u64)batch * L + i1 + l) * S + j0 + j;
          const ${A} x0 = t[j * ${NR} + l];
          ${A} y0;
          ${spec.body}
          t[j * ${NR} + l] = y0;
        }
% endif
        for (int g = 0; g < E; g += ${MR}) {
${group("g", "E")}\
${multiply("kept", f"vs + g * {KB}", "t", f"sum + g * {NR}", "0")}\
        }
      }
    }
    for (int s = 0; s < strips; ++s) for (int l = 0; l < ${NR} && s * ${NR} + l < rows; ++l) {
      const ${I} i = i0 + s * ${NR} + l;
      const ${A} z = total[s * ${NR} + l];
      /* Masked altogether: the output is 0, and exp(-inf - 0) gives the same weights backward. */
      y1_b[batch * L + i] = z == 0 ? 0 : top[s * ${NR} + l] + tx_log_${A}(z);
      const ${A} inverse = 1 / (z == 0 ? 1 : z);
      TX_GLOBAL ${o["y0"].dtype} *dst = y0_b + i * y0_r;
      for (${I} k = 0; k < E; ++k) ${put(o["y0"], "dst", "k", f"sums[(s * {EP} + k) * {NR} + l] * inverse")}
    }
</%def>\
## ----------------------------------------------------------------------------------------------------------------- backward
<%def name="backward()">\
% for name, n in [("kt", KB * DW), ("vt", KB * EW), ("kn", KB * DN), ("dkt", KB * DP), ("dvt", KB * EP), ("p", QB * NR), ("ds", QB * NR), ("dq", QB * DN)]:
    TX_PRIVATE ${A} ${name}[${n}] __attribute__((aligned(64)));
% endfor
    TX_PRIVATE ${A} qs[${QB * DP}], gs[${QB * EP}], qn[${QB * DP}], gn[${QB * EP}], turned[${QB * KB}];
    const ${I} batch = item / splits, split = item % splits;
${places()}\
    y0_b += ((i64)split * heads + batch) * L * D;
    x4_b += (i64)batch * L;
    x5_b += (i64)batch * L;
    for (i64 k = 0; k < (i64)L * D; ++k) y0_b[k] = 0;
    for (${I} j0 = split * ${KB}; j0 < S; j0 += splits * ${KB}) {
      const int keys = (int)(S - j0 < ${KB} ? S - j0 : ${KB}), strips = (keys + ${NR - 1}) / ${NR};
      for (int s = 0; s < strips; ++s) {
        const int left = keys - s * ${NR};
${panel(o["x1"], f"(kt + s * D * {NR})", f"j0 + s * {NR}", "left", "D")}\
${panel(o["x2"], f"(vt + s * E * {NR})", f"j0 + s * {NR}", "left", "E")}\
      }
      for (int c = 0; c < D; c += ${NR}) for (int k = 0; k < keys; ++k) {
        TX_GLOBAL const ${o["x1"].dtype} *src = x1_b + (j0 + k) * x1_r + c;
        const ${I} most = D - c;
        ${each_lane()} kn[(c / ${NR} * ${KB} + k) * ${NR} + l] = l < most ? ${at(o["x1"], "src", "l")} : 0;
      }
      for (int k = 0; k < ${KB * DP}; ++k) dkt[k] = 0;
      for (int k = 0; k < ${KB * EP}; ++k) dvt[k] = 0;
      for (${I} i0 = ${"j0" if causal else "0"}; i0 < L; i0 += ${QB}) {
        const int rows = (int)(L - i0 < ${QB} ? L - i0 : ${QB});
        for (int g = 0; g < rows; g += ${MR}) {
${group("g", "rows")}\
          TX_PRIVATE ${A} *dst = qs + g * D;
${across(o["x0"], "dst", "i0 + g", "count", "D", " * scale")}\
          dst = gs + g * E;
${across(o["x3"], "dst", "i0 + g", "count", "E")}\
        }
        for (int g = 0; g < D; g += ${MR}) {
${group("g", "D")}\
          TX_PRIVATE ${A} *dst = qn + g * ${QB};
${along(o["x0"], "dst", "i0", "rows", "g", "count", " * scale")}\
        }
        for (int g = 0; g < E; g += ${MR}) {
${group("g", "E")}\
          TX_PRIVATE ${A} *dst = gn + g * ${QB};
${along(o["x3"], "dst", "i0", "rows", "g", "count")}\
        }
        for (int s = 0; s < strips; ++s) {
          const ${I} j1 = j0 + s * ${NR};
          for (int g = 0; g < rows; g += ${MR}) {
${group("g", "rows")}\
${multiply("D", "qs + g * D", f"kt + s * D * {NR}", f"p + g * {NR}", "1")}\
${multiply("E", "gs + g * E", f"vt + s * E * {NR}", f"ds + g * {NR}", "1")}\
          }
          for (int r = 0; r < rows; ++r) {
            const ${I} i = i0 + r;
            TX_PRIVATE ${A} *row = p + r * ${NR}, *slope = ds + r * ${NR};
            const ${A} known = x4_b[i], mean = x5_b[i];
% if keep or bias:
            for (int l = 0; l < ${NR} && j1 + l < S; ++l) {
            ${A} value = row[l];
${masked("value", "i", "(j1 + l)")}\
            row[l] = value;
            }
% endif
% if causal:
            if (j1 + ${NR - 1} > i) {
              ${SIMD}
              ${each_lane()} if (j1 + l > i) row[l] = ${lowest};
            }
% endif
${exponential("row", lambda l: f"row[{l}] - known" if not opencl else f"*to - known")}\
% if spec.body:
            ${each_lane()} {
              const u64 idx = ((u64)batch * L + i) * S + j1 + l;
              const ${A} x0 = row[l], x1 = slope[l];
              ${A} y0, y1;
              ${spec.body}
              slope[l] = x0 * (y1 - mean);
              row[l] = y0;
            }
% else:
            ${SIMD}
            ${each_lane()} slope[l] = row[l] * (slope[l] - mean);
% endif
          }
          for (int g = 0; g < E; g += ${MR}) {
${group("g", "E")}\
${multiply("rows", f"gn + g * {QB}", "p", f"dvt + (s * {EP} + g) * {NR}", "0")}\
          }
          for (int g = 0; g < D; g += ${MR}) {
${group("g", "D")}\
${multiply("rows", f"qn + g * {QB}", "ds", f"dkt + (s * {DP} + g) * {NR}", "0")}\
          }
          for (int g = 0; g < rows; g += ${MR}) {
${group("g", "rows")}\
            TX_PRIVATE ${A} *dst = turned + g * ${KB} + s * ${NR * MR};
            for (int i = 0; i < ${MR}; ++i) ${each_lane()} dst[l * ${MR} + i] = ds[(g + (i < count ? i : 0)) * ${NR} + l];
          }
        }
        for (int g = 0; g < rows; g += ${MR}) {
${group("g", "rows")}\
          for (int c = 0; c < D; c += ${NR}) {
            TX_PRIVATE ${A} *to = dq + (c / ${NR} * ${QB} + g) * ${NR};
${multiply("keys", f"turned + g * {KB}", f"kn + c * {KB}", "to", "1")}\
          }
        }
        for (int c = 0; c < D; c += ${NR}) for (int r = 0; r < rows; ++r) {
          TX_GLOBAL ${A} *dst = y0_b + (i0 + r) * D + c;
          TX_PRIVATE const ${A} *row = dq + (c / ${NR} * ${QB} + r) * ${NR};
          const int most = D - c < ${NR} ? (int)(D - c) : ${NR};
          for (int l = 0; l < most; ++l) dst[l] += row[l] * scale;
        }
      }
      for (int s = 0; s < strips; ++s) for (int l = 0; l < ${NR} && s * ${NR} + l < keys; ++l) {
        TX_GLOBAL ${dk.dtype} *dst = y1_b + (j0 + s * ${NR} + l) * y1_r;
        for (${I} k = 0; k < D; ++k) ${put(dk, "dst", "k", f"dkt[(s * {DP} + k) * {NR} + l]")}
        TX_GLOBAL ${dv.dtype} *to = y2_b + (j0 + s * ${NR} + l) * y2_r;
        for (${I} k = 0; k < E; ++k) ${put(dv, "to", "k", f"dvt[(s * {EP} + k) * {NR} + l]")}
      }
    }
</%def>\
## --------------------------------------------------------------------------------------------------------------- the kernel
${micro.types()}\
${micro.microkernel(MR)}
TX_KERNEL(1, 1, 1) ${signature} {
% if back:
  const ${I} items = n0 * n1 * n2 * splits;
% else:
  /* As many queries an item as fit, yet evenly. */
  const ${I} pieces = (L + ${QB - 1}) / ${QB}, tile_q = pieces ? ((L + pieces - 1) / pieces + ${NR - 1}) / ${NR} * ${NR} : 1;
  const ${I} blocks = (L + tile_q - 1) / tile_q, items = n0 * n1 * n2 * blocks;
% endif
% if d.grid:
  const ${I} item = (${I})TX_GID(0);
  if (item < items) {
% else:
  TX_PRAGMA(omp parallel for schedule(dynamic) num_threads(tx_threads) if(items > 1 && (i64)items * S * (D + E) > 4096))
  for (${I} item = 0; item < items; ++item) {
% endif
${backward() if back else forward()}\
  }
}
