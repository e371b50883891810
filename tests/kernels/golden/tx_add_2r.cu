TX_KERNEL(256, 1, 1) tx_add_2r(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, i32 n0, i32 n1, i32 y0_s0, i32 x0_s0, i32 x1_s0) {
  y0_p += y0_o;
  x0_p += x0_o;
  x1_p += x1_o;
  const i32 total = n0 * n1;
  const i32 first = (i32)TX_GROUP(0) * 1024 + (i32)TX_LID(0);
  for (i32 k = 0; k < 4; ++k) {
    const i32 t = first + k * 256;
    if (t >= total) break;
    i32 t_q = t;
    const i32 c1 = t_q % n1; t_q /= n1;
    const i32 c0 = t_q;
    f32 x0 = TX_LOAD_f32(x0_p, c0 * x0_s0 + c1);
    f32 x1 = TX_LOAD_f32(x1_p, c0 * x1_s0);
    f32 y0;
    y0 = x0 + x1;
    TX_STORE_f32(y0_p, c0 * y0_s0 + c1, y0);
  }
}
