TX_KERNEL(256, 1, 1) tx_less(TX_GLOBAL b8 *y0_p, i64 y0_o, TX_GLOBAL f32 *y1_p, i64 y1_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, i64 n0) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  x1_p += x1_o;
  f32 x1 = TX_LOAD_f32(x1_p, 0);
  const i64 total = n0;
  const i64 first = (i64)TX_GROUP(0) * 1024 + (i64)TX_LID(0);
  /* All loads before the first store: an output may be an input, the compiler could not move them there itself. */
  f32 x0_v[4];
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      f32 x0 = TX_LOAD_f32(x0_p, c0); x0_v[k] = x0;
    }
  }
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      const f32 x0 = x0_v[k];
      b8 y0;
      f32 y1;
      b8 t1 = x0 < x1; y0 = t1; y1 = tx_where_f32(t1, x0, x1);
      TX_STORE_b8(y0_p, c0, y0);
      TX_STORE_f32(y1_p, c0, y1);
    }
  }
}
