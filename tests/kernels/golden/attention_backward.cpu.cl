/* Plain vector accesses: PoCL's vload is a call that spills every register. The loose type needs no more alignment than its element. */
typedef float8 attention_backward_vec;
typedef float8 attention_backward_loose __attribute__((aligned(4)));
#define attention_backward_FUSED TX_FN
attention_backward_FUSED void attention_backward_rows4(int depth, TX_PRIVATE const f32 *a, TX_PRIVATE const f32 *b, TX_PRIVATE f32 *t, int first) {
  attention_backward_vec c0_0, c0_1, c1_0, c1_1, c2_0, c2_1, c3_0, c3_1;
  if (first) {
    c0_0 = c0_1 = c1_0 = c1_1 = c2_0 = c2_1 = c3_0 = c3_1 = (attention_backward_vec)(0);
  } else {
    c0_0 = ((const attention_backward_vec TX_PRIVATE *)t)[0]; c0_1 = ((const attention_backward_vec TX_PRIVATE *)t)[1];
    c1_0 = ((const attention_backward_vec TX_PRIVATE *)t)[2]; c1_1 = ((const attention_backward_vec TX_PRIVATE *)t)[3];
    c2_0 = ((const attention_backward_vec TX_PRIVATE *)t)[4]; c2_1 = ((const attention_backward_vec TX_PRIVATE *)t)[5];
    c3_0 = ((const attention_backward_vec TX_PRIVATE *)t)[6]; c3_1 = ((const attention_backward_vec TX_PRIVATE *)t)[7];
  }
  for (int k = 0; k < depth; ++k) {
    const attention_backward_vec b0 = ((const attention_backward_vec TX_PRIVATE *)b)[0], b1 = ((const attention_backward_vec TX_PRIVATE *)b)[1];
    { const f32 a0 = a[0]; c0_0 += a0 * b0; c0_1 += a0 * b1; }
    { const f32 a1 = a[1]; c1_0 += a1 * b0; c1_1 += a1 * b1; }
    { const f32 a2 = a[2]; c2_0 += a2 * b0; c2_1 += a2 * b1; }
    { const f32 a3 = a[3]; c3_0 += a3 * b0; c3_1 += a3 * b1; }
    a += 4;
    b += 16;
  }
  ((attention_backward_vec TX_PRIVATE *)t)[0] = c0_0; ((attention_backward_vec TX_PRIVATE *)t)[1] = c0_1;
  ((attention_backward_vec TX_PRIVATE *)t)[2] = c1_0; ((attention_backward_vec TX_PRIVATE *)t)[3] = c1_1;
  ((attention_backward_vec TX_PRIVATE *)t)[4] = c2_0; ((attention_backward_vec TX_PRIVATE *)t)[5] = c2_1;
  ((attention_backward_vec TX_PRIVATE *)t)[6] = c3_0; ((attention_backward_vec TX_PRIVATE *)t)[7] = c3_1;
}

TX_KERNEL(1, 1, 1) attention_backward(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL f32 *y1_p, i64 y1_o, TX_GLOBAL f32 *y2_p, i64 y2_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, TX_GLOBAL const f32 *x2_p, i64 x2_o, TX_GLOBAL const f32 *x3_p, i64 x3_o, TX_GLOBAL const f32 *x4_p, i64 x4_o, TX_GLOBAL const f32 *x5_p, i64 x5_o, TX_GLOBAL const b8 *x6_p, i64 x6_o, TX_GLOBAL const f32 *x7_p, i64 x7_o, f32 scale, f32 s1, i64 n0, i64 n1, i64 n2, i64 L, i64 S, i64 D, i64 E, i64 splits, i64 y1_s0, i64 y1_s1, i64 y1_s2, i64 y1_r, i64 y2_s0, i64 y2_s1, i64 y2_s2, i64 y2_r, i64 x0_s0, i64 x0_s1, i64 x0_s2, i64 x0_r, i64 x1_s0, i64 x1_s1, i64 x1_s2, i64 x1_r, i64 x2_s0, i64 x2_s1, i64 x2_s2, i64 x2_r, i64 x3_s0, i64 x3_s1, i64 x3_s2, i64 x3_r, i64 x6_s0, i64 x6_s1, i64 x6_s2, i64 x6_r, i64 x6_c, i64 x7_s0, i64 x7_s1, i64 x7_s2, i64 x7_r, i64 x7_c) {
  const i64 items = n0 * n1 * n2 * splits;
  const i64 item = (i64)TX_GID(0);
  if (item < items) {
    TX_PRIVATE f32 kt[512] __attribute__((aligned(64)));
    TX_PRIVATE f32 vt[1024] __attribute__((aligned(64)));
    TX_PRIVATE f32 kn[512] __attribute__((aligned(64)));
    TX_PRIVATE f32 dkt[512] __attribute__((aligned(64)));
    TX_PRIVATE f32 dvt[1024] __attribute__((aligned(64)));
    TX_PRIVATE f32 p[256] __attribute__((aligned(64)));
    TX_PRIVATE f32 ds[256] __attribute__((aligned(64)));
    TX_PRIVATE f32 dq[256] __attribute__((aligned(64)));
    TX_PRIVATE f32 qs[256], gs[512], qn[256], gn[512], turned[512];
    const i64 batch = item / splits, split = item % splits;
    const i64 heads = n0 * n1 * n2;
    i64 batch_q = batch;
    const i64 c2 = batch_q % n2; batch_q /= n2;
    const i64 c1 = batch_q % n1; batch_q /= n1;
    const i64 c0 = batch_q;
    TX_GLOBAL f32 *y0_b = y0_p + y0_o;
    TX_GLOBAL f32 *y1_b = y1_p + y1_o + (i64)(c0 * y1_s0 + c1 * y1_s1 + c2 * y1_s2);
    TX_GLOBAL f32 *y2_b = y2_p + y2_o + (i64)(c0 * y2_s0 + c1 * y2_s1 + c2 * y2_s2);
    TX_GLOBAL const f32 *x0_b = x0_p + x0_o + (i64)(c0 * x0_s0 + c1 * x0_s1 + c2 * x0_s2);
    TX_GLOBAL const f32 *x1_b = x1_p + x1_o + (i64)(c0 * x1_s0 + c1 * x1_s1 + c2 * x1_s2);
    TX_GLOBAL const f32 *x2_b = x2_p + x2_o + (i64)(c0 * x2_s0 + c1 * x2_s1 + c2 * x2_s2);
    TX_GLOBAL const f32 *x3_b = x3_p + x3_o + (i64)(c0 * x3_s0 + c1 * x3_s1 + c2 * x3_s2);
    TX_GLOBAL const f32 *x4_b = x4_p + x4_o;
    TX_GLOBAL const f32 *x5_b = x5_p + x5_o;
    TX_GLOBAL const b8 *x6_b = x6_p + x6_o + (i64)(c0 * x6_s0 + c1 * x6_s1 + c2 * x6_s2);
    TX_GLOBAL const f32 *x7_b = x7_p + x7_o + (i64)(c0 * x7_s0 + c1 * x7_s1 + c2 * x7_s2);
    y0_b += ((i64)split * heads + batch) * L * D;
    x4_b += (i64)batch * L;
    x5_b += (i64)batch * L;
    for (i64 k = 0; k < (i64)L * D; ++k) y0_b[k] = 0;
    for (i64 j0 = split * 32; j0 < S; j0 += splits * 32) {
      const int keys = (int)(S - j0 < 32 ? S - j0 : 32), strips = (keys + 15) / 16;
      for (int s = 0; s < strips; ++s) {
        const int left = keys - s * 16;
        for (int l = 0; l < 16; ++l) if (l >= left) for (i64 k = 0; k < D; ++k) ((kt + s * D * 16))[k * 16 + l] = 0;
        for (i64 q = 0; q < D; q += 16) {
          const i64 most = D - q < 16 ? D : q + 16;
          for (int l = 0; l < (left < 16 ? left : 16); ++l) {
            TX_GLOBAL const f32 *src = x1_b + (i64)(j0 + s * 16 + l) * x1_r;
            for (i64 k = q; k < most; ++k) ((kt + s * D * 16))[k * 16 + l] = TX_LOAD_f32(src, k);
          }
        }
        for (int l = 0; l < 16; ++l) if (l >= left) for (i64 k = 0; k < E; ++k) ((vt + s * E * 16))[k * 16 + l] = 0;
        for (i64 q = 0; q < E; q += 16) {
          const i64 most = E - q < 16 ? E : q + 16;
          for (int l = 0; l < (left < 16 ? left : 16); ++l) {
            TX_GLOBAL const f32 *src = x2_b + (i64)(j0 + s * 16 + l) * x2_r;
            for (i64 k = q; k < most; ++k) ((vt + s * E * 16))[k * 16 + l] = TX_LOAD_f32(src, k);
          }
        }
      }
      for (int c = 0; c < D; c += 16) for (int k = 0; k < keys; ++k) {
        TX_GLOBAL const f32 *src = x1_b + (j0 + k) * x1_r + c;
        const i64 most = D - c;
        for (int l = 0; l < 16; ++l) kn[(c / 16 * 32 + k) * 16 + l] = l < most ? TX_LOAD_f32(src, l) : 0;
      }
      for (int k = 0; k < 512; ++k) dkt[k] = 0;
      for (int k = 0; k < 1024; ++k) dvt[k] = 0;
      for (i64 i0 = 0; i0 < L; i0 += 16) {
        const int rows = (int)(L - i0 < 16 ? L - i0 : 16);
        for (int g = 0; g < rows; g += 4) {
          const int count = (int)(rows) - g < 4 ? (int)(rows) - g : 4;
          TX_PRIVATE f32 *dst = qs + g * D;
          for (int i = 0; i < 4; ++i) {
            TX_GLOBAL const f32 *src = x0_b + (i64)(i0 + g + (i < count ? i : 0)) * x0_r;
            if (i < count) for (i64 k = 0; k < D; ++k) dst[k * 4 + i] = TX_LOAD_f32(src, k) * scale;
            else for (i64 k = 0; k < D; ++k) dst[k * 4 + i] = 0;
          }
          dst = gs + g * E;
          for (int i = 0; i < 4; ++i) {
            TX_GLOBAL const f32 *src = x3_b + (i64)(i0 + g + (i < count ? i : 0)) * x3_r;
            if (i < count) for (i64 k = 0; k < E; ++k) dst[k * 4 + i] = TX_LOAD_f32(src, k);
            else for (i64 k = 0; k < E; ++k) dst[k * 4 + i] = 0;
          }
        }
        for (int g = 0; g < D; g += 4) {
          const int count = (int)(D) - g < 4 ? (int)(D) - g : 4;
          TX_PRIVATE f32 *dst = qn + g * 16;
          for (int k = 0; k < rows; ++k) {
            TX_GLOBAL const f32 *src = x0_b + (i64)(i0 + k) * x0_r + g;
            for (int i = 0; i < 4; ++i) dst[k * 4 + i] = i < count ? TX_LOAD_f32(src, i) * scale : 0;
          }
        }
        for (int g = 0; g < E; g += 4) {
          const int count = (int)(E) - g < 4 ? (int)(E) - g : 4;
          TX_PRIVATE f32 *dst = gn + g * 16;
          for (int k = 0; k < rows; ++k) {
            TX_GLOBAL const f32 *src = x3_b + (i64)(i0 + k) * x3_r + g;
            for (int i = 0; i < 4; ++i) dst[k * 4 + i] = i < count ? TX_LOAD_f32(src, i) : 0;
          }
        }
        for (int s = 0; s < strips; ++s) {
          const i64 j1 = j0 + s * 16;
          for (int g = 0; g < rows; g += 4) {
            const int count = (int)(rows) - g < 4 ? (int)(rows) - g : 4;
            attention_backward_rows4((int)(D), qs + g * D, kt + s * D * 16, p + g * 16, 1);
            attention_backward_rows4((int)(E), gs + g * E, vt + s * E * 16, ds + g * 16, 1);
          }
          for (int r = 0; r < rows; ++r) {
            const i64 i = i0 + r;
            TX_PRIVATE f32 *row = p + r * 16, *slope = ds + r * 16;
            const f32 known = x4_b[i], mean = x5_b[i];
            for (int l = 0; l < 16 && j1 + l < S; ++l) {
              f32 value = row[l];
              if (!TX_LOAD_b8(x6_b, i * x6_r + (j1 + l) * x6_c)) value = -tx_bits_u32_f32(0x7f800000u);
              value += TX_LOAD_f32(x7_b, i * x7_r + (j1 + l) * x7_c);
              row[l] = value;
            }
            for (int v = 0; v < 2; ++v) {
              attention_backward_vec TX_PRIVATE *to = (attention_backward_vec TX_PRIVATE *)(row) + v;
              *to = exp(*to - known);
            }
            for (int l = 0; l < 16; ++l) {
              const u64 idx = ((u64)batch * L + i) * S + j1 + l;
              const f32 x0 = row[l], x1 = slope[l];
              f32 y0, y1;
              y0 = x0 * s1; y1 = x1 * s1;
              slope[l] = x0 * (y1 - mean);
              row[l] = y0;
            }
          }
          for (int g = 0; g < E; g += 4) {
            const int count = (int)(E) - g < 4 ? (int)(E) - g : 4;
            attention_backward_rows4((int)(rows), gn + g * 16, p, dvt + (s * 32 + g) * 16, 0);
          }
          for (int g = 0; g < D; g += 4) {
            const int count = (int)(D) - g < 4 ? (int)(D) - g : 4;
            attention_backward_rows4((int)(rows), qn + g * 16, ds, dkt + (s * 16 + g) * 16, 0);
          }
          for (int g = 0; g < rows; g += 4) {
            const int count = (int)(rows) - g < 4 ? (int)(rows) - g : 4;
            TX_PRIVATE f32 *dst = turned + g * 32 + s * 64;
            for (int i = 0; i < 4; ++i) for (int l = 0; l < 16; ++l) dst[l * 4 + i] = ds[(g + (i < count ? i : 0)) * 16 + l];
          }
        }
        for (int g = 0; g < rows; g += 4) {
          const int count = (int)(rows) - g < 4 ? (int)(rows) - g : 4;
          for (int c = 0; c < D; c += 16) {
            TX_PRIVATE f32 *to = dq + (c / 16 * 16 + g) * 16;
            attention_backward_rows4((int)(keys), turned + g * 32, kn + c * 32, to, 1);
          }
        }
        for (int c = 0; c < D; c += 16) for (int r = 0; r < rows; ++r) {
          TX_GLOBAL f32 *dst = y0_b + (i0 + r) * D + c;
          TX_PRIVATE const f32 *row = dq + (c / 16 * 16 + r) * 16;
          const int most = D - c < 16 ? (int)(D - c) : 16;
          for (int l = 0; l < most; ++l) dst[l] += row[l] * scale;
        }
      }
      for (int s = 0; s < strips; ++s) for (int l = 0; l < 16 && s * 16 + l < keys; ++l) {
        TX_GLOBAL f32 *dst = y1_b + (j0 + s * 16 + l) * y1_r;
        for (i64 k = 0; k < D; ++k) TX_STORE_f32(dst, k, dkt[(s * 16 + k) * 16 + l]);
        TX_GLOBAL f32 *to = y2_b + (j0 + s * 16 + l) * y2_r;
        for (i64 k = 0; k < E; ++k) TX_STORE_f32(to, k, dvt[(s * 32 + k) * 16 + l]);
      }
    }
  }
}
