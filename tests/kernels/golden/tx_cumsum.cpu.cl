TX_KERNEL(8, 1, 1) tx_cumsum(TX_GLOBAL f16 *y0_p, i64 y0_o, TX_GLOBAL const f16 *x0_p, i64 x0_o, i64 n0, i64 n, i64 y0_s0, i64 x0_s0) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i64 chunk = n > 0 ? n : 1;
  const i64 splits = (n + chunk - 1) / chunk;
  const i64 total = n0 * splits;
  const i64 item = (i64)TX_GID(0);
  if (item < total) {
    const i64 row = item / splits, piece = item - row * splits;
    const i64 c0 = row;
    const i64 begin = piece * chunk, end = n - begin < chunk ? n : begin + chunk;
    const i64 y0_row = c0 * y0_s0;
    const i64 x0_row = c0 * x0_s0;
    f32 a = (f32)0;
    f32 base = (f32)0;
    for (i64 first = begin; first < end; first += 256) {
      const i64 stop = end - first < 256 ? end : first + 256;
      { a = (f32)0; }
      for (i64 t = first; t < stop; ++t) {
        const i64 j = t;
        {
          f32 x0 = TX_LOAD_f16(x0_p, x0_row + j);
          f32 v0; v0 = x0;
          a = a + v0;
          f32 sum = base;
          sum = sum + a;
          f32 y0;
          y0 = sum;
          TX_STORE_f16(y0_p, y0_row + j, y0);
        }
      }
      { base = base + a; }
    }
  }
}
