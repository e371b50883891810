TX_KERNEL(1, 1, 1) tx_cumsum(TX_GLOBAL f16 *y0_p, i64 y0_o, TX_GLOBAL const f16 *x0_p, i64 x0_o, i64 n0, i64 n, i64 y0_s0, i64 x0_s0) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i64 chunk = n > 0 ? n : 1;
  const i64 splits = (n + chunk - 1) / chunk;
  const i64 total = n0 * splits;
  TX_PARALLEL((i64)total * chunk)
  for (i64 item = 0; item < total; item++) {
    const i64 row = item / splits, piece = item - row * splits;
    const i64 c0 = row;
    const i64 begin = piece * chunk, end = n - begin < chunk ? n : begin + chunk;
    const i64 y0_row = c0 * y0_s0;
    const i64 x0_row = c0 * x0_s0;
    f32 a = (f32)0;
    f32 base = (f32)0;
    f32 held[256];
    for (i64 first = begin; first < end; first += 256) {
      const i64 stop = end - first < 256 ? end : first + 256;
      if (stop - first == 256) {
        TX_GLOBAL f16 *y0_v = y0_p + (y0_row + first);
        TX_GLOBAL const f16 *x0_v = x0_p + (x0_row + first);
        for (i32 k = 0; k < 256; ++k) {
          f32 x0 = TX_LOAD_f16(x0_v, (k));
          f32 v0; v0 = x0;
          held[k] = v0;
        }
        for (i32 k = 1; k < 32; ++k) {
          held[k + 0] = held[k + 0] + held[k + -1];
          held[k + 32] = held[k + 32] + held[k + 31];
          held[k + 64] = held[k + 64] + held[k + 63];
          held[k + 96] = held[k + 96] + held[k + 95];
          held[k + 128] = held[k + 128] + held[k + 127];
          held[k + 160] = held[k + 160] + held[k + 159];
          held[k + 192] = held[k + 192] + held[k + 191];
          held[k + 224] = held[k + 224] + held[k + 223];
        }
        f32 before = 0;
        for (i32 c = 0; c < 256; c += 32) {
          for (i32 k = 0; k < 32; ++k) {
            const f32 sum = base + (before + held[c + k]);
            f32 y0;
            y0 = sum;
            TX_STORE_f16(y0_v, (c + k), y0);
          }
          before = before + held[c + 31];
        }
        base = base + before;
        continue;
      }
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
