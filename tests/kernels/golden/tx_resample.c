TX_KERNEL(1, 1, 1) tx_resample(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i32 *i0_p, i64 i0_o, TX_GLOBAL const i32 *i1_p, i64 i1_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, TX_GLOBAL const f32 *x2_p, i64 x2_o, i32 n0, i32 w0, i32 w1, i32 t0, i32 t1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  i1_p += i1_o;
  x1_p += x1_o;
  x2_p += x2_o;
  const i32 pieces = (w1 + 255) / 256;
  const i32 total = n0 * w0 * pieces;
  TX_PARALLEL((i64)total * (w1 < 256 ? w1 : 256))
  for (i32 item = 0; item < total; item++) {
    const i32 row = item / pieces, begin = (item - row * pieces) * 256;
    const i32 stop = w1 - begin < 256 ? w1 : begin + 256;
    i32 row_q = row;
    const i32 o0 = row_q % w0; row_q /= w0;
    const i32 c0 = row_q;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    const i32 a0 = (i32)TX_LOAD_i32(i0_p, o0), e0 = a0 + (i32)TX_LOAD_i32(i0_p, w0 + o0);
    const i32 width = stop - begin;
    f32 sum[256];
    for (i32 l = 0; l < width; ++l) sum[l] = 0;
    TX_GLOBAL const i32 *first_v = i1_p + begin;
    TX_GLOBAL const i32 *many_v = i1_p + (w1 + begin);
    for (i32 j0 = a0; j0 < e0; ++j0) {
      f32 m0 = TX_LOAD_f32(x1_p, (j0 - a0) * w0 + o0);
      const f32 share0 = m0;
      TX_GLOBAL const f32 *x0_v = x0_p + (x0_c + j0 * x0_s1);
      for (i32 t = 0; t < t1; ++t) {
        TX_GLOBAL const f32 *m_v = x2_p + (t * w1 + begin);
        TX_SIMD
        for (i32 l = 0; l < width; ++l) {
          const i32 count = (i32)TX_LOAD_i32(many_v, l);
          const i32 at = (i32)TX_LOAD_i32(first_v, l) + (t < count ? t : 0);
          f32 x0 = TX_LOAD_f32(x0_v, at * 1);
          f32 m = TX_LOAD_f32(m_v, l);
          const f32 part = share0 * (m * x0);
          const f32 add = t < count ? part : 0;
          sum[l] = sum[l] + add;
        }
      }
    }
    TX_GLOBAL f32 *y0_v = y0_p + (y0_c + o0 * y0_s1 + begin);
    for (i32 l = 0; l < width; ++l) {
      f32 y0;
      y0 = sum[l];
      TX_STORE_f32(y0_v, l, y0);
    }
  }
}
