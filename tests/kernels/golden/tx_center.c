TX_KERNEL(1, 1, 1) tx_center(TX_GLOBAL f16 *y0_p, i64 y0_o, TX_GLOBAL f32 *y1_p, i64 y1_o, TX_GLOBAL const f16 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, TX_GLOBAL const f32 *x2_p, i64 x2_o, i64 n0, i64 n1, i64 m0, i64 y0_s0, i64 y0_s1, i64 y0_t0, i64 y1_s0, i64 y1_s1, i64 x0_s0, i64 x0_s1, i64 x0_t0, i64 x1_s0, i64 x1_s1) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  x1_p += x1_o;
  x2_p += x2_o;
  f32 x2 = TX_LOAD_f32(x2_p, 0);
  const i64 kept = n0 * n1;
  const i64 count = (i64)m0;
  const i64 height = 8192 / (m0 + 1) + 1, strips = (kept + height - 1) / height;
  TX_PARALLEL((i64)kept * m0 * 4)
  for (i64 task = 0; task < strips; ++task) {
    const i64 stop = (i64)(task + 1) * height < kept ? (i64)(task + 1) * height : kept;
    for (i64 k = (i64)task * height; k < stop; ++k) {
      i64 k_q = k;
      const i64 k1 = k_q % n1; k_q /= n1;
      const i64 k0 = k_q;
      TX_GLOBAL f16 *y0_q = y0_p + (k0 * y0_s0 + k1 * y0_s1);
      TX_GLOBAL const f16 *x0_q = x0_p + (k0 * x0_s0 + k1 * x0_s1);
      f32 x1 = TX_LOAD_f32(x1_p, k0 * x1_s0 + k1 * x1_s1);
      f32 a0_acc = 0;
      {
        f32 whole = 0;
        f32 level[32];
        u32 blocks = 0;
        for (i64 t = 0; t < m0; t += 2048) {
          const i32 len = m0 - t < 2048 ? (i32)(m0 - t) : 2048;
          TX_GLOBAL const f16 *x0_r = x0_q + ((t) * x0_t0);
          f32 p = 0;
          if (len < 64) {

            for (i32 j = 0; j < len; ++j) {
              f32 x0 = TX_LOAD_f16(x0_r, (j) * x0_t0);
              f32 v0;
              v0 = x0;
              p = p + v0;
            }
          } else {
            f32 lane[32];
            for (i32 j = 0; j < 32; ++j) { lane[j] = 0; }
            i32 i = 0;
            for (; i + 32 <= len; i += 32) {
              TX_GLOBAL const f16 *x0_v = x0_r + ((i) * x0_t0);
              TX_SIMD_SHORT
              for (i32 j = 0; j < 32; ++j) {
                f32 x0 = TX_LOAD_f16(x0_v, (j) * x0_t0);
                f32 v0;
                v0 = x0;
                lane[j] = lane[j] + v0;
              }
            }
            const i32 rest = len - i;
            TX_GLOBAL const f16 *x0_v = x0_r + ((i) * x0_t0);
            TX_SIMD
            for (i32 j = 0; j < rest; ++j) {
              f32 x0 = TX_LOAD_f16(x0_v, (j) * x0_t0);
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
        }
        for (i32 l = 0; blocks; blocks >>= 1, ++l) { if (blocks & 1u) { whole = whole + level[l]; } }
        a0_acc = whole;
      }
      const f32 a0 = a0_acc;

      for (i64 t = 0; t < m0; t += 2048) {
        const i32 len = m0 - t < 2048 ? (i32)(m0 - t) : 2048;
        TX_GLOBAL f16 *y0_r = y0_q + ((t) * y0_t0);
        TX_GLOBAL const f16 *x0_r = x0_q + ((t) * x0_t0);
        TX_SIMD
        for (i32 j = 0; j < len; ++j) {
          f32 x0 = TX_LOAD_f16(x0_r, (j) * x0_t0);
          f32 y0;
          y0 = (x0 - a0 / (f32)count) * x1 + x2;
          TX_STORE_f16(y0_r, (j) * y0_t0, y0);
        }
      }
      {
        f32 y1;
        y1 = a0;
        TX_STORE_f32(y1_p, k0 * y1_s0 + k1 * y1_s1, y1);
      }
    }
  }
}
