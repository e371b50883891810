TX_KERNEL(1, 1, 1) tx_maxi(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL i64 *y1_p, i64 y1_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 m0, i32 y0_s0, i32 y1_s0, i32 x0_s0, i32 x0_t0) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  const i32 kept = n0, reduced = m0;
  const i32 height = 8192 / (reduced + 1) + 1;
  const i32 strips = (kept + height - 1) / height;
  const i64 tasks = (i64)strips;
  TX_PARALLEL((i64)kept * reduced)
  for (i64 task = 0; task < tasks; ++task) {
    const i32 strip = (i32)(task % strips);
    const i32 lo = 0, hi = reduced;
    const i32 stop = (strip + 1) * height < kept ? (strip + 1) * height : kept;
    for (i32 k = strip * height; k < stop; ++k) {
      const i32 k0 = k;
      TX_GLOBAL const f32 *x0_q = x0_p + (k0 * x0_s0);
      f32 a0 = tx_bits_u32_f32(0xff800000u); i32 a0_k = 2147483647;
      for (i32 t = lo; t < hi;) {
        const i32 r0 = t, run = hi - t;
        const i32 len = run < 2048 ? (i32)run : 2048;
        TX_GLOBAL const f32 *x0_r = x0_q + (r0);
        f32 p = tx_bits_u32_f32(0xff800000u); i32 p_k = 2147483647;
        if (len < 64) {

          for (i32 j = 0; j < len; ++j) {
            f32 x0 = TX_LOAD_f32(x0_r, j);
            f32 v0; i32 v0_k = t + j;
            v0 = x0;
            { const b8 win = (v0 > p) | ((v0 != v0) & (p == p)); p = tx_where_f32(win, v0, p); p_k = tx_where_i32(win, v0_k, p_k); }
          }
        } else {
          f32 lane[32]; i32 lane_k[32];
          for (i32 j = 0; j < 32; ++j) { lane[j] = tx_bits_u32_f32(0xff800000u); lane_k[j] = 2147483647; }
          i32 i = 0;
          for (; i + 32 <= len; i += 32) {
            TX_GLOBAL const f32 *x0_v = x0_r + (i);
            TX_SIMD
            for (i32 j = 0; j < 32; ++j) {
              f32 x0 = TX_LOAD_f32(x0_v, j);
              f32 v0; i32 v0_k = t + i + j;
              v0 = x0;
              { const b8 win = (v0 > lane[j]) | ((v0 != v0) & (lane[j] == lane[j])); lane[j] = tx_where_f32(win, v0, lane[j]); lane_k[j] = tx_where_i32(win, v0_k, lane_k[j]); }
            }
          }
          const i32 rest = len - i;
          TX_GLOBAL const f32 *x0_v = x0_r + (i);
          TX_SIMD
          for (i32 j = 0; j < rest; ++j) {
            f32 x0 = TX_LOAD_f32(x0_v, j);
            f32 v0; i32 v0_k = t + i + j;
            v0 = x0;
            { const b8 win = (v0 > lane[j]) | ((v0 != v0) & (lane[j] == lane[j])); lane[j] = tx_where_f32(win, v0, lane[j]); lane_k[j] = tx_where_i32(win, v0_k, lane_k[j]); }
          }
          for (i32 j = 0; j < 16; ++j) { { const b8 win = ((lane[j + 16] > lane[j]) | ((lane[j + 16] != lane[j + 16]) & (lane[j] == lane[j]))) | (((lane[j] == lane[j + 16]) | ((lane[j] != lane[j]) & (lane[j + 16] != lane[j + 16]))) & (lane_k[j + 16] < lane_k[j])); lane[j] = tx_where_f32(win, lane[j + 16], lane[j]); lane_k[j] = tx_where_i32(win, lane_k[j + 16], lane_k[j]); } }
          for (i32 j = 0; j < 8; ++j) { { const b8 win = ((lane[j + 8] > lane[j]) | ((lane[j + 8] != lane[j + 8]) & (lane[j] == lane[j]))) | (((lane[j] == lane[j + 8]) | ((lane[j] != lane[j]) & (lane[j + 8] != lane[j + 8]))) & (lane_k[j + 8] < lane_k[j])); lane[j] = tx_where_f32(win, lane[j + 8], lane[j]); lane_k[j] = tx_where_i32(win, lane_k[j + 8], lane_k[j]); } }
          for (i32 j = 0; j < 4; ++j) { { const b8 win = ((lane[j + 4] > lane[j]) | ((lane[j + 4] != lane[j + 4]) & (lane[j] == lane[j]))) | (((lane[j] == lane[j + 4]) | ((lane[j] != lane[j]) & (lane[j + 4] != lane[j + 4]))) & (lane_k[j + 4] < lane_k[j])); lane[j] = tx_where_f32(win, lane[j + 4], lane[j]); lane_k[j] = tx_where_i32(win, lane_k[j + 4], lane_k[j]); } }
          for (i32 j = 0; j < 2; ++j) { { const b8 win = ((lane[j + 2] > lane[j]) | ((lane[j + 2] != lane[j + 2]) & (lane[j] == lane[j]))) | (((lane[j] == lane[j + 2]) | ((lane[j] != lane[j]) & (lane[j + 2] != lane[j + 2]))) & (lane_k[j + 2] < lane_k[j])); lane[j] = tx_where_f32(win, lane[j + 2], lane[j]); lane_k[j] = tx_where_i32(win, lane_k[j + 2], lane_k[j]); } }
          for (i32 j = 0; j < 1; ++j) { { const b8 win = ((lane[j + 1] > lane[j]) | ((lane[j + 1] != lane[j + 1]) & (lane[j] == lane[j]))) | (((lane[j] == lane[j + 1]) | ((lane[j] != lane[j]) & (lane[j + 1] != lane[j + 1]))) & (lane_k[j + 1] < lane_k[j])); lane[j] = tx_where_f32(win, lane[j + 1], lane[j]); lane_k[j] = tx_where_i32(win, lane_k[j + 1], lane_k[j]); } }
          p = lane[0]; p_k = lane_k[0];
        }
        { const b8 win = (p > a0) | ((p != p) & (a0 == a0)); a0 = tx_where_f32(win, p, a0); a0_k = tx_where_i32(win, p_k, a0_k); }
        t += len;
      }
      if (a0_k == 2147483647) a0_k = 0;
      f32 y0;
      i64 y1;
      y0 = a0; y1 = ((i64)(a0_k));
      TX_STORE_f32(y0_p, k0 * y0_s0, y0);
      TX_STORE_i64(y1_p, k0 * y1_s0, y1);
    }
  }
}
