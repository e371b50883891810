TX_KERNEL(1, 1, 1) tx_sum_k(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 n1, i32 m0, i32 m1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1, i32 x0_t0, i32 x0_t1) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i32 kept = n0 * n1, reduced = m0 * m1;
  const i32 tiles = (n1 + 255) / 256;
  const i64 tasks = (i64)tiles * n0;
  TX_PARALLEL((i64)kept * reduced)
  for (i64 task = 0; task < tasks; ++task) {
    const i32 left = (i32)(task % tiles) * 256;
    const i32 width = (i32)(n1 - left < 256 ? n1 - left : 256);
    const i32 o = (i32)(task / tiles % (n0));
    const i32 k0 = o;
    const i32 lo = 0, hi = reduced;
    TX_GLOBAL const f32 *x0_q = x0_p + (k0 * x0_s0 + left);
    f32 a[256];
    for (i32 j = 0; j < width; ++j) { a[j] = 0; }
    f32 b[256]; f32 c[256];
    for (i32 j = 0; j < width; ++j) { b[j] = 0; c[j] = 0; }
    for (i32 t = lo; t < hi; ++t) {
      i32 t_q = t;
      const i32 r1 = t_q % m1; t_q /= m1;
      const i32 r0 = t_q;
      TX_GLOBAL const f32 *x0_r = x0_q + (r0 * x0_t0 + r1 * x0_t1);
      TX_SIMD
      for (i32 j = 0; j < width; ++j) {
        f32 x0 = TX_LOAD_f32(x0_r, j);
        f32 v0;
        v0 = x0;
        a[j] = a[j] + v0;
      }
      if (((t - lo) & 63) == 63) {
        for (i32 j = 0; j < width; ++j) { b[j] = b[j] + a[j]; a[j] = 0; }
        if (((t - lo) & 4095) == 4095) {
          for (i32 j = 0; j < width; ++j) { c[j] = c[j] + b[j]; b[j] = 0; }
        }
      }
    }
    for (i32 j = 0; j < width; ++j) {
      f32 a0 = a[j];
      a0 = a0 + b[j]; a0 = a0 + c[j];
      f32 y0;
      y0 = a0;
      TX_STORE_f32(y0_p, k0 * y0_s0 + (left + j) * y0_s1, y0);
    }
  }
}
