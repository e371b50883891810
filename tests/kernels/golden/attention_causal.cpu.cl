/* Plain vector accesses: PoCL's vload is a call that spills every register. The loose type needs no more alignment than its element. */
typedef float8 attention_causal_vec;
typedef float8 attention_causal_loose __attribute__((aligned(4)));
#define attention_causal_FUSED TX_FN
attention_causal_FUSED void attention_causal_rows4(int depth, TX_PRIVATE const f32 *a, TX_PRIVATE const f32 *b, TX_PRIVATE f32 *t, int first) {
  attention_causal_vec c0_0, c0_1, c1_0, c1_1, c2_0, c2_1, c3_0, c3_1;
  if (first) {
    c0_0 = c0_1 = c1_0 = c1_1 = c2_0 = c2_1 = c3_0 = c3_1 = (attention_causal_vec)(0);
  } else {
    c0_0 = ((const attention_causal_vec TX_PRIVATE *)t)[0]; c0_1 = ((const attention_causal_vec TX_PRIVATE *)t)[1];
    c1_0 = ((const attention_causal_vec TX_PRIVATE *)t)[2]; c1_1 = ((const attention_causal_vec TX_PRIVATE *)t)[3];
    c2_0 = ((const attention_causal_vec TX_PRIVATE *)t)[4]; c2_1 = ((const attention_causal_vec TX_PRIVATE *)t)[5];
    c3_0 = ((const attention_causal_vec TX_PRIVATE *)t)[6]; c3_1 = ((const attention_causal_vec TX_PRIVATE *)t)[7];
  }
  for (int k = 0; k < depth; ++k) {
    const attention_causal_vec b0 = ((const attention_causal_vec TX_PRIVATE *)b)[0], b1 = ((const attention_causal_vec TX_PRIVATE *)b)[1];
    { const f32 a0 = a[0]; c0_0 += a0 * b0; c0_1 += a0 * b1; }
    { const f32 a1 = a[1]; c1_0 += a1 * b0; c1_1 += a1 * b1; }
    { const f32 a2 = a[2]; c2_0 += a2 * b0; c2_1 += a2 * b1; }
    { const f32 a3 = a[3]; c3_0 += a3 * b0; c3_1 += a3 * b1; }
    a += 4;
    b += 16;
  }
  ((attention_causal_vec TX_PRIVATE *)t)[0] = c0_0; ((attention_causal_vec TX_PRIVATE *)t)[1] = c0_1;
  ((attention_causal_vec TX_PRIVATE *)t)[2] = c1_0; ((attention_causal_vec TX_PRIVATE *)t)[3] = c1_1;
  ((attention_causal_vec TX_PRIVATE *)t)[4] = c2_0; ((attention_causal_vec TX_PRIVATE *)t)[5] = c2_1;
  ((attention_causal_vec TX_PRIVATE *)t)[6] = c3_0; ((attention_causal_vec TX_PRIVATE *)t)[7] = c3_1;
}

TX_KERNEL(1, 1, 1) attention_causal(TX_GLOBAL f16 *y0_p, i64 y0_o, TX_GLOBAL f32 *y1_p, i64 y1_o, TX_GLOBAL const f16 *x0_p, i64 x0_o, TX_GLOBAL const f16 *x1_p, i64 x1_o, TX_GLOBAL const f16 *x2_p, i64 x2_o, f32 scale, i32 n0, i32 n1, i32 n2, i32 L, i32 S, i32 D, i32 E, i32 y0_s0, i32 y0_s1, i32 y0_s2, i32 y0_r, i32 x0_s0, i32 x0_s1, i32 x0_s2, i32 x0_r, i32 x1_s0, i32 x1_s1, i32 x1_s2, i32 x1_r, i32 x2_s0, i32 x2_s1, i32 x2_s2, i32 x2_r) {
  /* As many queries an item as fit, yet evenly. */
  const i32 pieces = (L + 31) / 32, tile_q = pieces ? ((L + pieces - 1) / pieces + 15) / 16 * 16 : 1;
  const i32 blocks = (L + tile_q - 1) / tile_q, items = n0 * n1 * n2 * blocks;
  const i32 item = (i32)TX_GID(0);
  if (item < items) {
    TX_PRIVATE f32 qt[512] __attribute__((aligned(64)));
    TX_PRIVATE f32 sums[1024] __attribute__((aligned(64)));
    TX_PRIVATE f32 t[256] __attribute__((aligned(64)));
    TX_PRIVATE f32 ks[256], vs[512], top[32] __attribute__((aligned(64))), total[32] __attribute__((aligned(64)));
    const i32 batch = item / blocks;
    const i32 i0 = (blocks - 1 - item % blocks) * tile_q; /* the longest first */
    const i32 heads = n0 * n1 * n2;
    i32 batch_q = batch;
    const i32 c2 = batch_q % n2; batch_q /= n2;
    const i32 c1 = batch_q % n1; batch_q /= n1;
    const i32 c0 = batch_q;
    TX_GLOBAL f16 *y0_b = y0_p + y0_o + (i64)(c0 * y0_s0 + c1 * y0_s1 + c2 * y0_s2);
    TX_GLOBAL f32 *y1_b = y1_p + y1_o;
    TX_GLOBAL const f16 *x0_b = x0_p + x0_o + (i64)(c0 * x0_s0 + c1 * x0_s1 + c2 * x0_s2);
    TX_GLOBAL const f16 *x1_b = x1_p + x1_o + (i64)(c0 * x1_s0 + c1 * x1_s1 + c2 * x1_s2);
    TX_GLOBAL const f16 *x2_b = x2_p + x2_o + (i64)(c0 * x2_s0 + c1 * x2_s1 + c2 * x2_s2);
    const int rows = (int)(L - i0 < tile_q ? L - i0 : tile_q), strips = (rows + 15) / 16;
    for (int s = 0; s < strips; ++s) {
      const int left = rows - s * 16;
      for (int l = 0; l < 16; ++l) if (l >= left) for (i32 k = 0; k < D; ++k) ((qt + s * D * 16))[k * 16 + l] = 0;
      for (i32 q = 0; q < D; q += 16) {
        const i32 most = D - q < 16 ? D : q + 16;
        for (int l = 0; l < (left < 16 ? left : 16); ++l) {
          TX_GLOBAL const f16 *src = x0_b + (i32)(i0 + s * 16 + l) * x0_r;
          for (i32 k = q; k < most; ++k) ((qt + s * D * 16))[k * 16 + l] = TX_LOAD_f16(src, k) * scale;
        }
      }
    }
    for (i32 k = 0; k < strips * 512; ++k) sums[k] = 0;
    for (int l = 0; l < strips * 16; ++l) { top[l] = -tx_bits_u32_f32(0x7f800000u); total[l] = 0; }
    const i32 seen = i0 + rows < S ? i0 + rows : S;
    for (i32 j0 = 0; j0 < seen; j0 += 16) {
      const int keys = (int)(seen - j0 < 16 ? seen - j0 : 16);
      for (int g = 0; g < keys; g += 4) {
        const int count = (int)(keys) - g < 4 ? (int)(keys) - g : 4;
        TX_PRIVATE f32 *dst = ks + g * D;
        for (int i = 0; i < 4; ++i) {
          TX_GLOBAL const f16 *src = x1_b + (i32)(j0 + g + (i < count ? i : 0)) * x1_r;
          if (i < count) for (i32 k = 0; k < D; ++k) dst[k * 4 + i] = TX_LOAD_f16(src, k);
          else for (i32 k = 0; k < D; ++k) dst[k * 4 + i] = 0;
        }
      }
      for (int g = 0; g < E; g += 4) {
        const int count = (int)(E) - g < 4 ? (int)(E) - g : 4;
        TX_PRIVATE f32 *dst = vs + g * 16;
        for (int k = 0; k < keys; ++k) {
          TX_GLOBAL const f16 *src = x2_b + (i32)(j0 + k) * x2_r + g;
          for (int i = 0; i < 4; ++i) dst[k * 4 + i] = i < count ? TX_LOAD_f16(src, i) : 0;
        }
      }
      for (int s = 0; s < strips; ++s) {
        const i32 i1 = i0 + s * 16;
        if (j0 > i1 + 15) continue;
        const int kept = i1 + 16 - j0 < keys ? (int)(i1 + 16 - j0) : keys;
        TX_PRIVATE f32 *m = top + s * 16, *z = total + s * 16, *sum = sums + s * 512;
        for (int g = 0; g < kept; g += 4) {
          const int count = (int)(keys) - g < 4 ? (int)(keys) - g : 4;
          attention_causal_rows4((int)(D), ks + g * D, qt + s * D * 16, t + g * 16, 1);
        }
        if (j0 + kept - 1 > i1) for (int j = 0; j < kept; ++j) {
          TX_SIMD
          for (int l = 0; l < 16; ++l) if (j0 + j > i1 + l) t[j * 16 + l] = -tx_bits_u32_f32(0x7f800000u);
        }
        f32 best[16] __attribute__((aligned(64))), base[16] __attribute__((aligned(64))), part[16] __attribute__((aligned(64)));
        for (int l = 0; l < 16; ++l) { best[l] = m[l]; part[l] = 0; }
        for (int j = 0; j < kept; ++j) {
          TX_PRIVATE const f32 *row = t + j * 16;
          TX_SIMD
          for (int l = 0; l < 16; ++l) best[l] = row[l] > best[l] ? row[l] : best[l];
        }
        /* A row that is masked altogether so far has its sums at 0, whatever they are taken relative to. */
        TX_SIMD
        for (int l = 0; l < 16; ++l) { base[l] = best[l] == -tx_bits_u32_f32(0x7f800000u) ? 0 : best[l]; m[l] = m[l] - base[l]; }
        for (int v = 0; v < 2; ++v) {
          attention_causal_vec TX_PRIVATE *to = (attention_causal_vec TX_PRIVATE *)(m) + v;
          *to = exp(*to);
        }
        TX_SIMD
        for (int l = 0; l < 16; ++l) z[l] *= m[l];
        for (int k = 0; k < E; ++k) {
          TX_PRIVATE f32 *row = sum + k * 16;
          TX_SIMD
          for (int l = 0; l < 16; ++l) row[l] *= m[l];
        }
        for (int j = 0; j < kept; ++j) {
          TX_PRIVATE f32 *row = t + j * 16;
          for (int v = 0; v < 2; ++v) {
            attention_causal_vec TX_PRIVATE *to = (attention_causal_vec TX_PRIVATE *)(row) + v;
            *to = exp(*to - (((attention_causal_vec TX_PRIVATE *)base)[v]));
          }
          TX_SIMD
          for (int l = 0; l < 16; ++l) part[l] += row[l];
        }
        TX_SIMD
        for (int l = 0; l < 16; ++l) { z[l] += part[l]; m[l] = best[l]; }
        for (int g = 0; g < E; g += 4) {
          const int count = (int)(E) - g < 4 ? (int)(E) - g : 4;
          attention_causal_rows4((int)(kept), vs + g * 16, t, sum + g * 16, 0);
        }
      }
    }
    for (int s = 0; s < strips; ++s) for (int l = 0; l < 16 && s * 16 + l < rows; ++l) {
      const i32 i = i0 + s * 16 + l;
      const f32 z = total[s * 16 + l];
      /* Masked altogether: the output is 0, and exp(-inf - 0) gives the same weights backward. */
      y1_b[batch * L + i] = z == 0 ? 0 : top[s * 16 + l] + tx_log_f32(z);
      const f32 inverse = 1 / (z == 0 ? 1 : z);
      TX_GLOBAL f16 *dst = y0_b + i * y0_r;
      for (i32 k = 0; k < E; ++k) TX_STORE_f16(dst, k, sums[(s * 32 + k) * 16 + l] * inverse);
    }
  }
}
