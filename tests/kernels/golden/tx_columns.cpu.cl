TX_KERNEL(1, 1, 1) tx_columns(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 w0, i32 w1, i32 v0, i32 v1, i32 k0, i32 s0, i32 p0, i32 d0, i32 k1, i32 s1, i32 p1, i32 d1, i32 y0_s0, i32 y0_s1, i32 y0_s2, i32 y0_s3, i32 x0_s0, i32 x0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i32 pieces = (w1 + 255) / 256;
  const i32 total = n0 * k0 * k1 * w0 * pieces;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    const i32 row = item / pieces, begin = (item - row * pieces) * 256;
    const i32 stop = w1 - begin < 256 ? w1 : begin + 256;
    i32 row_q = row;
    const i32 o0 = row_q % w0; row_q /= w0;
    const i32 t1 = row_q % k1; row_q /= k1;
    const i32 t0 = row_q % k0; row_q /= k0;
    const i32 c0 = row_q;
    const i32 x0_c = c0 * x0_s0;
    const i32 y0_c = c0 * y0_s0 + t0 * y0_s1 + t1 * y0_s2;
    const i32 j0 = o0 * s0 - p0 + t0 * d0;
    const i32 from = t1 * d1 - p1;
    for (i32 o1 = begin; o1 < stop; ++o1) {
      f32 y0;
      const i32 j1 = o1 * s1 + from;
      y0 = 0;
      if (j0 >= 0 && j0 < v0 && j1 >= 0 && j1 < v1) {
        f32 x0 = TX_LOAD_f32(x0_p, x0_c + j0 * x0_s1 + j1);
        y0 = x0;
      }
      TX_STORE_f32(y0_p, y0_c + o0 * y0_s3 + o1, y0);
    }
  }
}
