TX_KERNEL(256, 1, 1) tx_resample(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i32 *i0_p, i64 i0_o, TX_GLOBAL const i32 *i1_p, i64 i1_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, TX_GLOBAL const f32 *x2_p, i64 x2_o, i32 n0, i32 w0, i32 w1, i32 t0, i32 t1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  i1_p += i1_o;
  x1_p += x1_o;
  x2_p += x2_o;
  const i32 total = n0 * w0 * w1;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    i32 item_q = item;
    const i32 o1 = item_q % w1; item_q /= w1;
    const i32 o0 = item_q % w0; item_q /= w0;
    const i32 c0 = item_q;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    const i32 a0 = (i32)TX_LOAD_i32(i0_p, o0), e0 = a0 + (i32)TX_LOAD_i32(i0_p, w0 + o0);
    {
      const i32 a1 = (i32)TX_LOAD_i32(i1_p, o1), e1 = a1 + (i32)TX_LOAD_i32(i1_p, w1 + o1);
      f32 sum0 = 0;
      for (i32 j0 = a0; j0 < e0; ++j0) {
        f32 sum1 = 0;
        for (i32 j1 = a1; j1 < e1; ++j1) {
          f32 x0 = TX_LOAD_f32(x0_p, x0_c + j0 * x0_s1 + j1);
          const f32 sum2 = x0;
          f32 m1 = TX_LOAD_f32(x2_p, (j1 - a1) * w1 + o1);
          sum1 = sum1 + m1 * sum2;
        }
        f32 m0 = TX_LOAD_f32(x1_p, (j0 - a0) * w0 + o0);
        sum0 = sum0 + m0 * sum1;
      }
      f32 y0;
      y0 = sum0;
      TX_STORE_f32(y0_p, y0_c + o0 * y0_s1 + o1, y0);
    }
  }
}
