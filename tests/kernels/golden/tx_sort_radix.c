TX_KERNEL(1, 1, 1) tx_sort_radix(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL i64 *y1_p, i64 y1_o, TX_GLOBAL u32 *y2_p, i64 y2_o, TX_GLOBAL u32 *y3_p, i64 y3_o, TX_GLOBAL i32 *y4_p, i64 y4_o, TX_GLOBAL i32 *y5_p, i64 y5_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 n, i32 y0_s0, i32 y1_s0, i32 x0_s0) {
  y0_p += y0_o;
  y1_p += y1_o;
  y2_p += y2_o;
  y3_p += y3_o;
  y4_p += y4_o;
  y5_p += y5_o;
  x0_p += x0_o;
  const i32 total = n > 0 ? n0 : 0;
  TX_PARALLEL((i64)total * n * 4)
  for (i32 item = 0; item < total; item++) {
    const i32 c0 = item;
    const i32 y0_row = c0 * y0_s0;
    const i32 y1_row = c0 * y1_s0;
    const i32 x0_row = c0 * x0_s0;
    TX_GLOBAL u32 *y2_q = y2_p + ((i64)item * n);
    TX_GLOBAL u32 *y3_q = y3_p + ((i64)item * n);
    TX_GLOBAL i32 *y4_q = y4_p + ((i64)item * n);
    TX_GLOBAL i32 *y5_q = y5_p + ((i64)item * n);
    u32 counts[1024];
    for (int k = 0; k < 1024; ++k) counts[k] = 0u;
    for (i32 j = 0; j < n; ++j) {
      const f32 v = TX_LOAD_f32(x0_p, x0_row + j);
      const u32 raw = tx_bits_f32_u32(v), bits = raw == 0x80000000u ? 0 : raw;
      const u32 ordered = bits ^ ((bits & 0x80000000u) ? ~(u32)0 : 0x80000000u);
      const u32 key = ((bits & 0x7fffffffu) > 0x7f800000u ? ~(u32)0 : ordered);
      y2_q[j] = key;
      y4_q[j] = (i32)j;
      ++counts[0 + (key >> 0 & 255u)];
      ++counts[256 + (key >> 8 & 255u)];
      ++counts[512 + (key >> 16 & 255u)];
      ++counts[768 + (key >> 24 & 255u)];
    }
    int swapped = 0;
    for (int k = 0; k < 4; ++k) {
      TX_GLOBAL u32 *keys = swapped ? y3_q : y2_q, *sorted = swapped ? y2_q : y3_q;
      TX_GLOBAL i32 *from = swapped ? y5_q : y4_q, *moved = swapped ? y4_q : y5_q;
      const int low = 8 * k;
      /* A digit that all keys share moves nothing. */
      if (counts[256 * k + (int)(keys[0] >> low & 255u)] == (u32)n) continue;
      u32 start = 0u;
      for (int b = 256 * k; b < 256 * k + 256; ++b) {
        const u32 many = counts[b];
        counts[b] = start;
        start += many;
      }
      for (i32 j = 0; j < n; ++j) {
        const u32 key = keys[j];
        const u32 slot = counts[256 * k + (int)(key >> low & 255u)]++;
        sorted[slot] = key;
        moved[slot] = from[j];
      }
      swapped = !swapped;
    }
    TX_GLOBAL const i32 *found = swapped ? y5_q : y4_q;
    for (i32 j = 0; j < n; ++j) {
      const i64 y1 = (i64)found[j];
      TX_STORE_i64(y1_p, y1_row + j, y1);
      f32 y0 = TX_LOAD_f32(x0_p, x0_row + found[j]);
      TX_STORE_f32(y0_p, y0_row + j, y0);
    }
  }
}
