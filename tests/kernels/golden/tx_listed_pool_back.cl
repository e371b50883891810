TX_KERNEL(256, 1, 1) tx_listed_pool_back(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i64 *i0_p, i64 i0_o, i32 n0, i32 w0, i32 v0, i32 k0, i32 t0, i32 u0, i32 y0_s0, i32 x0_s0, i32 i0_s0) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  const i32 total = n0 * w0;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    i32 item_q = item;
    const i32 o0 = item_q % w0; item_q /= w0;
    const i32 c0 = item_q;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    const i32 i0_c = c0 * i0_s0;
    {
      const i32 a0 = t0 > 0 && o0 > k0 + 1 && (o0 - k0 - 1) * u0 / t0 - 1 > 0 ? (o0 - k0 - 1) * u0 / t0 - 1 : 0;
      const i32 e0 = t0 > 0 && (o0 + 2) * u0 / t0 + 2 < v0 ? (o0 + 2) * u0 / t0 + 2 : v0;
      const i64 place = (i64)o0;
      f32 sum = 0;
      for (i32 at = a0; at < e0; at += 512 * 1) {
        f32 row = 0;
        const i32 upto = e0 - at < 512 * 1 ? e0 : at + 512 * 1;
        for (i32 j0 = at; j0 < upto; j0 += 1) {
          i64 i0 = TX_LOAD_i64(i0_p, i0_c + j0);
          if (i0 == place) { f32 x0 = TX_LOAD_f32(x0_p, x0_c + j0); row = row + x0; }
        }
        sum = sum + row;
      }
      f32 y0;
      y0 = sum;
      TX_STORE_f32(y0_p, y0_c + o0, y0);
    }
  }
}
