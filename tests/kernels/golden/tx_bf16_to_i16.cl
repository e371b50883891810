TX_KERNEL(256, 1, 1) tx_bf16_to_i16(TX_GLOBAL i16 *y0_p, i64 y0_o, TX_GLOBAL const bf16 *x0_p, i64 x0_o, i64 n0) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i64 total = n0;
  const i64 first = (i64)TX_GROUP(0) * 1024 + (i64)TX_LID(0);
  /* All loads before the first store: an output may be an input, the compiler could not move them there itself. */
  f32 x0_v[4];
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      f32 x0 = TX_LOAD_bf16(x0_p, c0); x0_v[k] = x0;
    }
  }
  TX_UNROLL
  for (i32 k = 0; k < 4; ++k) {
    const i64 c0 = first + k * 256;
    if (c0 < total) {
      const f32 x0 = x0_v[k];
      f32 y0;
      y0 = x0;
      TX_STORE_i16(y0_p, c0, tx_cast_f32_i16(y0));
    }
  }
}
