TX_KERNEL(8, 1, 1) tx_embedding(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i64 *i0_p, i64 i0_o, TX_GLOBAL i64 *err_p, i32 code, i32 n0, i32 n1, i32 e0, i32 t0, i32 y0_s0, i32 x0_s0, i32 i0_s0, i32 i0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  const i32 pieces = (n1 + 1023) / 1024;
  const i32 total = n0 * pieces;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    const i32 row = item / pieces, begin = (item - row * pieces) * 1024;
    const i32 end = n1 - begin < 1024 ? n1 : begin + 1024;
    const i32 c0 = row;
    const i64 r0 = TX_LOAD_i64(i0_p, c0 * i0_s0);
    i64 w0 = r0 < 0 ? r0 + e0 : r0;
    if (w0 < 0 || w0 >= e0) { TX_FAIL(err_p, code + 0, (i64)row * n1 + begin, r0); w0 = 0; }
    const i32 from = c0 * x0_s0 + (i32)w0 * t0;
    const i32 to = c0 * y0_s0;
    TX_GLOBAL const f32 *x0_v = x0_p + (from);
    TX_GLOBAL f32 *y0_v = y0_p + (to);
    for (i32 c1 = begin; c1 < end; ++c1) {
      y0_v[c1] = x0_v[c1];
    }
  }
}
