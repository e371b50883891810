TX_KERNEL(256, 1, 1) tx_even_pool_back(TX_GLOBAL f64 *y0_p, i64 y0_o, TX_GLOBAL const f64 *x0_p, i64 x0_o, i32 n0, i32 w0, i32 v0, i32 y0_s0, i32 x0_s0) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i32 total = n0 * w0;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    i32 item_q = item;
    const i32 o0 = item_q % w0; item_q /= w0;
    const i32 c0 = item_q;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    {
      const i32 a0 = o0 * v0 / w0, e0 = ((o0 + 1) * v0 - 1) / w0 + 1;
      f64 sum = 0;
      for (i32 at = a0; at < e0; at += 512 * 1) {
        f64 row = 0;
        const i32 upto = e0 - at < 512 * 1 ? e0 : at + 512 * 1;
        for (i32 j0 = at; j0 < upto; j0 += 1) {
          f64 x0 = TX_LOAD_f64(x0_p, x0_c + j0); row = row + x0 / (f64)((((j0 + 1) * w0 - 1) / v0 + 1 - j0 * w0 / v0));
        }
        sum = sum + row;
      }
      f64 y0;
      y0 = sum;
      TX_STORE_f64(y0_p, y0_c + o0, y0);
    }
  }
}
