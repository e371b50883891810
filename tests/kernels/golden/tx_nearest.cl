TX_KERNEL(256, 1, 1) tx_nearest(TX_GLOBAL u8 *y0_p, i64 y0_o, TX_GLOBAL const u8 *x0_p, i64 x0_o, TX_GLOBAL const i32 *i0_p, i64 i0_o, TX_GLOBAL const i32 *i1_p, i64 i1_o, i32 n0, i32 w0, i32 w1, i32 t0, i32 t1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  i1_p += i1_o;
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
      i64 sum0 = 0;
      for (i32 j0 = a0; j0 < e0; ++j0) {
        i64 sum1 = 0;
        for (i32 j1 = a1; j1 < e1; ++j1) {
          u8 x0 = TX_LOAD_u8(x0_p, x0_c + j0 * x0_s1 + j1);
          const i64 sum2 = ((i64)(x0));
          sum1 = (i64)((u64)sum1 + (u64)sum2);
        }
        sum0 = (i64)((u64)sum0 + (u64)sum1);
      }
      u8 y0;
      y0 = ((u8)(sum0));
      TX_STORE_u8(y0_p, y0_c + o0 * y0_s1 + o1, y0);
    }
  }
}
