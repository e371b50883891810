TX_KERNEL(256, 1, 1) tx_conj_mul(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, i64 n0) {
  y0_p += 2 * y0_o;
  x0_p += 2 * x0_o;
  x1_p += 2 * x1_o;
  const i64 total = n0;
  const i64 first = (i64)TX_GROUP(0) * 1024 + (i64)TX_LID(0);
  for (i32 k = 0; k < 4; ++k) {
    const i64 t = first + k * 256;
    if (t >= total) break;
    const i64 c0 = t;
    f32 x0r = TX_LOAD_f32(x0_p, 2 * (c0)), x0i = TX_LOAD_f32(x0_p, 2 * (c0) + 1);
    f32 x1r = TX_LOAD_f32(x1_p, 2 * (c0)), x1i = TX_LOAD_f32(x1_p, 2 * (c0) + 1);
    f32 y0r, y0i;
    y0r = x0r * x1r + x0i * x1i; y0i = x0r * x1i - x0i * x1r;
    TX_STORE_f32(y0_p, 2 * (c0), y0r); TX_STORE_f32(y0_p, 2 * (c0) + 1, y0i);
  }
}
