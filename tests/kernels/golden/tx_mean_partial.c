TX_KERNEL(1, 1, 1) tx_mean_partial(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 m0, i32 splits, i32 y0_s0, i32 x0_s0, i32 x0_t0) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i32 kept = n0, reduced = m0;
  const i32 part = (reduced + splits - 1) / splits;
  const i32 height = 8192 / (reduced + 1) + 1;
  const i32 strips = (kept + height - 1) / height;
  const i64 tasks = (i64)strips * splits;
  TX_PARALLEL((i64)kept * reduced)
  for (i64 task = 0; task < tasks; ++task) {
    const i32 strip = (i32)(task % strips);
    const i32 split = (i32)(task / strips);
    const i32 lo = split * part, hi = lo + part < reduced ? lo + part : reduced;
    const i32 stop = (strip + 1) * height < kept ? (strip + 1) * height : kept;
    for (i32 k = strip * height; k < stop; ++k) {
      const i32 k0 = k;
      TX_GLOBAL const f32 *x0_q = x0_p + (k0 * x0_s0);
      f32 a0 = 0;
      f32 level[32];
      u32 blocks = 0;
      for (i32 t = lo; t < hi;) {
        const i32 r0 = t, run = hi - t;
        const i32 len = run < 2048 ? (i32)run : 2048;
        TX_GLOBAL const f32 *x0_r = x0_q + (r0);
        f32 p = 0;
        if (len < 64) {

          for (i32 j = 0; j < len; ++j) {
            f32 x0 = TX_LOAD_f32(x0_r, j);
            f32 v0;
            v0 = x0;
            p = p + v0;
          }
        } else {
          f32 lane[32];
          for (i32 j = 0; j < 32; ++j) { lane[j] = 0; }
          i32 i = 0;
          for (; i + 32 <= len; i += 32) {
            TX_GLOBAL const f32 *x0_v = x0_r + (i);
            TX_SIMD_SHORT
            for (i32 j = 0; j < 32; ++j) {
              f32 x0 = TX_LOAD_f32(x0_v, j);
              f32 v0;
              v0 = x0;
              lane[j] = lane[j] + v0;
            }
          }
          const i32 rest = len - i;
          TX_GLOBAL const f32 *x0_v = x0_r + (i);
          TX_SIMD
          for (i32 j = 0; j < rest; ++j) {
            f32 x0 = TX_LOAD_f32(x0_v, j);
            f32 v0;
            v0 = x0;
            lane[j] = lane[j] + v0;
          }
          for (i32 j = 0; j < 16; ++j) { lane[j] = lane[j] + lane[j + 16]; }
          for (i32 j = 0; j < 8; ++j) { lane[j] = lane[j] + lane[j + 8]; }
          for (i32 j = 0; j < 4; ++j) { lane[j] = lane[j] + lane[j + 4]; }
          for (i32 j = 0; j < 2; ++j) { lane[j] = lane[j] + lane[j + 2]; }
          for (i32 j = 0; j < 1; ++j) { lane[j] = lane[j] + lane[j + 1]; }
          p = lane[0];
        }
        i32 l = 0;
        for (u32 q = blocks++; q & 1u; q >>= 1, ++l) { p = p + level[l]; }
        level[l] = p;
        t += len;
      }
      for (i32 l = 0; blocks; blocks >>= 1, ++l) { if (blocks & 1u) { a0 = a0 + level[l]; } }
      f32 y0;
      y0 = a0;
      TX_STORE_f32(y0_p, k0 * y0_s0 + split, y0);
    }
  }
}
