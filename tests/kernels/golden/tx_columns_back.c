TX_KERNEL(1, 1, 1) tx_columns_back(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 w0, i32 w1, i32 v0, i32 v1, i32 k0, i32 s0, i32 p0, i32 d0, i32 k1, i32 s1, i32 p1, i32 d1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1, i32 x0_s2, i32 x0_s3) {
  y0_p += 2 * y0_o;
  x0_p += 2 * x0_o;
  const i32 pieces = (w1 + 255) / 256;
  const i32 total = n0 * w0 * pieces;
  TX_PARALLEL((i64)total * (w1 < 256 ? w1 : 256))
  for (i32 item = 0; item < total; item++) {
    const i32 row = item / pieces, begin = (item - row * pieces) * 256;
    const i32 stop = w1 - begin < 256 ? w1 : begin + 256;
    i32 row_q = row;
    const i32 o0 = row_q % w0; row_q /= w0;
    const i32 c0 = row_q;
    const i32 x0_c = c0 * x0_s0;
    const i32 y0_c = c0 * y0_s0;
    const i32 b0 = o0 + p0 - (k0 - 1) * d0, f0 = (o0 + p0) / s0 + 1;
    const i32 a0 = b0 > 0 ? (b0 + s0 - 1) / s0 : 0;
    const i32 e0 = f0 < v0 ? f0 : v0;
    for (i32 o1 = begin; o1 < stop; ++o1) {
      f32 y0r, y0i;
      const i32 b1 = o1 + p1 - (k1 - 1) * d1, f1 = (o1 + p1) / s1 + 1;
      const i32 a1 = b1 > 0 ? (b1 + s1 - 1) / s1 : 0;
      const i32 e1 = f1 < v1 ? f1 : v1;
      f32 sumr = 0, sumi = 0;
      for (i32 j0 = a0; j0 < e0; ++j0) {
        const i32 u0 = o0 + p0 - j0 * s0, t0 = u0 / d0;
        if (t0 * d0 == u0) {
          for (i32 j1 = a1; j1 < e1; ++j1) {
            const i32 u1 = o1 + p1 - j1 * s1, t1 = u1 / d1;
            if (t1 * d1 == u1) {
              f32 x0r = TX_LOAD_f32(x0_p, 2 * (x0_c + t0 * x0_s1 + t1 * x0_s2 + j0 * x0_s3 + j1)), x0i = TX_LOAD_f32(x0_p, 2 * (x0_c + t0 * x0_s1 + t1 * x0_s2 + j0 * x0_s3 + j1) + 1);
              sumr = sumr + x0r; sumi = sumi + x0i;
            }
          }
        }
      }
      y0r = sumr;
      y0i = sumi;
      TX_STORE_f32(y0_p, 2 * (y0_c + o0 * y0_s1 + o1), y0r); TX_STORE_f32(y0_p, 2 * (y0_c + o0 * y0_s1 + o1) + 1, y0i);
    }
  }
}
