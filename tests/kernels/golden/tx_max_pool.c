TX_KERNEL(1, 1, 1) tx_max_pool(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL i64 *y1_p, i64 y1_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 w0, i32 w1, i32 v0, i32 v1, i32 k0, i32 s0, i32 p0, i32 d0, i32 k1, i32 s1, i32 p1, i32 d1, i32 y0_s0, i32 y0_s1, i32 y1_s0, i32 y1_s1, i32 x0_s0, i32 x0_s1) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  const i32 pieces = (w1 + 255) / 256;
  const i32 total = n0 * w0 * pieces;
  TX_PARALLEL((i64)total * (w1 < 256 ? w1 : 256))
  for (i32 item = 0; item < total; item++) {
    const i32 row_ = item / pieces, begin = (item - row_ * pieces) * 256;
    const i32 stop = w1 - begin < 256 ? w1 : begin + 256;
    i32 row__q = row_;
    const i32 o0 = row__q % w0; row__q /= w0;
    const i32 c0 = row__q;
    const i32 y0_c = c0 * y0_s0;
    const i32 y1_c = c0 * y1_s0;
    const i32 x0_c = c0 * x0_s0;
    const i32 b0 = o0 * s0 - p0, f0 = b0 + (k0 - 1) * d0 + 1;
    const i32 a0 = b0 < 0 ? b0 + (d0 - 1 - b0) / d0 * d0 : b0;
    const i32 e0 = f0 < v0 ? f0 : v0;
    f32 best[256];
    i32 place[256];
    for (i32 o1 = begin; o1 < stop; ++o1) {
      const i32 b1 = o1 * s1 - p1, f1 = b1 + (k1 - 1) * d1 + 1;
      const i32 a1 = b1 < 0 ? b1 + (d1 - 1 - b1) / d1 * d1 : b1;
      const i32 e1 = f1 < v1 ? f1 : v1;
      best[o1 - begin] = -tx_bits_u32_f32(0x7f800000u);
      place[o1 - begin] = (a0) * v1 + a1;
    }
    for (i32 j0 = a0; j0 < e0; j0 += d0) {
      for (i32 t = 0; t < k1; ++t) {
        const i32 shift = t * d1 - p1, room = v1 - 1 - shift;
        const i32 low = shift < 0 ? (s1 - 1 - shift) / s1 : 0, high = room < 0 ? 0 : room / s1 + 1;
        const i32 from = low > begin ? low : begin, count = (high < stop ? high : stop) - from;
        const i32 at = (j0) * v1 + (from * s1 + shift), step = 1 * s1;
        TX_GLOBAL const f32 *x0_v = x0_p + (x0_c + j0 * x0_s1 + (from * s1 + shift));
        TX_SIMD
        for (i32 l = 0; l < count; ++l) {
          f32 x0 = TX_LOAD_f32(x0_v, l * step);
          const f32 seen = x0, top = best[from - begin + l];
          const int more = (seen > top) | (seen != seen);
          best[from - begin + l] = more ? seen : top;
          place[from - begin + l] = more ? at + l * s1 : place[from - begin + l];
        }
      }
    }
    for (i32 o1 = begin; o1 < stop; ++o1) {
      f32 y0;
      y0 = best[o1 - begin];
      TX_STORE_f32(y0_p, y0_c + o0 * y0_s1 + o1, y0);
      i64 y1 = place[o1 - begin];
      TX_STORE_i64(y1_p, y1_c + o0 * y1_s1 + o1, y1);
    }
  }
}
