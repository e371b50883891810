TX_KERNEL(256, 1, 1) tx_max_pool_back(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i64 *i0_p, i64 i0_o, i32 n0, i32 w0, i32 w1, i32 v0, i32 v1, i32 k0, i32 s0, i32 p0, i32 d0, i32 k1, i32 s1, i32 p1, i32 d1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1, i32 i0_s0, i32 i0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  const i32 total = n0 * w0 * w1;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    i32 item_q = item;
    const i32 o1 = item_q % w1; item_q /= w1;
    const i32 o0 = item_q % w0; item_q /= w0;
    const i32 c0 = item_q;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    const i32 i0_c = c0 * i0_s0;
    const i32 b0 = o0 + p0 - (k0 - 1) * d0, f0 = (o0 + p0) / s0 + 1;
    const i32 a0 = b0 > 0 ? (b0 + s0 - 1) / s0 : 0;
    const i32 e0 = f0 < v0 ? f0 : v0;
    {
      const i32 b1 = o1 + p1 - (k1 - 1) * d1, f1 = (o1 + p1) / s1 + 1;
      const i32 a1 = b1 > 0 ? (b1 + s1 - 1) / s1 : 0;
      const i32 e1 = f1 < v1 ? f1 : v1;
      const i64 place = ((i64)o0) * w1 + o1;
      f32 sum = 0;
      for (i32 j0 = a0; j0 < e0; j0 += 1) {
        for (i32 at = a1; at < e1; at += 512 * 1) {
          f32 row = 0;
          const i32 upto = e1 - at < 512 * 1 ? e1 : at + 512 * 1;
          for (i32 j1 = at; j1 < upto; j1 += 1) {
            i64 i0 = TX_LOAD_i64(i0_p, i0_c + j0 * i0_s1 + j1);
            if (i0 == place) { f32 x0 = TX_LOAD_f32(x0_p, x0_c + j0 * x0_s1 + j1); row = row + x0; }
          }
          sum = sum + row;
        }
      }
      f32 y0;
      y0 = sum;
      TX_STORE_f32(y0_p, y0_c + o0 * y0_s1 + o1, y0);
    }
  }
}
