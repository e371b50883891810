TX_KERNEL(256, 1, 1) tx_listed_pool(TX_GLOBAL i32 *y0_p, i64 y0_o, TX_GLOBAL i64 *y1_p, i64 y1_o, TX_GLOBAL const i32 *x0_p, i64 x0_o, TX_GLOBAL const i64 *i1_p, i64 i1_o, i32 n0, i32 w0, i32 v0, i32 k0, i32 t0, i32 u0, i32 y0_s0, i32 y1_s0, i32 x0_s0, i32 i1_s0, i32 i1_s1) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  i1_p += i1_o;
  const i32 total = n0 * w0;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    i32 item_q = item;
    const i32 o0 = item_q % w0; item_q /= w0;
    const i32 c0 = item_q;
    const i32 y0_c = c0 * y0_s0;
    const i32 y1_c = c0 * y1_s0;
    const i32 x0_c = c0 * x0_s0;
    {
      const i32 a0 = (i32)TX_LOAD_i64(i1_p, c0 * i1_s0 + o0 * i1_s1);
      const i32 e0 = a0 + k0;
      i32 best = (i32)(-2147483647 - 1);
      i32 place = a0;
      for (i32 j0 = a0; j0 < e0; j0 += 1) {
        i32 x0 = TX_LOAD_i32(x0_p, x0_c + j0);
        const int more = x0 > best;
        best = more ? x0 : best;
        place = more ? j0 : place;
      }
      i32 y0;
      y0 = best;
      TX_STORE_i32(y0_p, y0_c + o0, y0);
      i64 y1 = place;
      TX_STORE_i64(y1_p, y1_c + o0, y1);
    }
  }
}
