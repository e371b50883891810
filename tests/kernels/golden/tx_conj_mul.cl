TX_KERNEL(256, 1, 1) tx_conj_mul(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, i64 n0) {
  y0_p += 2 * y0_o;
  x0_p += 2 * x0_o;
  x1_p += 2 * x1_o;
  const i64 total = n0;
  const i64 first = (i64)TX_GROUP(0) * 1024 + (i64)TX_LID(0);
  /* All loads before the first store: an output may be an input, the compiler could not move them there itself. */
  f32 x0r_v[4], x0i_v[4];
  f32 x1r_v[4], x1i_v[4];
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      f32 x0r = TX_LOAD_f32(x0_p, 2 * (c0)), x0i = TX_LOAD_f32(x0_p, 2 * (c0) + 1); x0r_v[k] = x0r; x0i_v[k] = x0i;
      f32 x1r = TX_LOAD_f32(x1_p, 2 * (c0)), x1i = TX_LOAD_f32(x1_p, 2 * (c0) + 1); x1r_v[k] = x1r; x1i_v[k] = x1i;
    }
  }
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      const f32 x0r = x0r_v[k]; const f32 x0i = x0i_v[k];
      const f32 x1r = x1r_v[k]; const f32 x1i = x1i_v[k];
      f32 y0r, y0i;
      y0r = x0r * x1r + x0i * x1i; y0i = x0r * x1i - x0i * x1r;
      TX_STORE_f32(y0_p, 2 * (c0), y0r); TX_STORE_f32(y0_p, 2 * (c0) + 1, y0i);
    }
  }
}
