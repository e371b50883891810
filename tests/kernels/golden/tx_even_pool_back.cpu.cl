TX_KERNEL(1, 1, 1) tx_even_pool_back(TX_GLOBAL f64 *y0_p, i64 y0_o, TX_GLOBAL const f64 *x0_p, i64 x0_o, i32 n0, i32 w0, i32 v0, i32 y0_s0, i32 x0_s0) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i32 pieces = (w0 + 255) / 256;
  const i32 total = n0 * pieces;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    const i32 row_ = item / pieces, begin = (item - row_ * pieces) * 256;
    const i32 stop = w0 - begin < 256 ? w0 : begin + 256;
    const i32 c0 = row_;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    f64 held[256];
    for (i32 c = 0; c < stop - begin; ++c) held[c] = 0;
    i32 first, end;
    { const i32 a0 = begin * v0 / w0, e0 = ((begin + 1) * v0 - 1) / w0 + 1; first = a0; }
    { const i32 a0 = (stop - 1) * v0 / w0, e0 = (((stop - 1) + 1) * v0 - 1) / w0 + 1; end = e0; }
    for (i32 j0 = first; j0 < end; ++j0) {
      f64 x0 = TX_LOAD_f64(x0_p, x0_c + j0);
      const f64 share = x0 / (f64)((((j0 + 1) * w0 - 1) / v0 + 1 - j0 * w0 / v0));
      const i32 low = j0 * w0 / v0, high = ((j0 + 1) * w0 - 1) / v0 + 1;
      for (i32 c = low > begin ? low : begin; c < (high < stop ? high : stop); ++c) held[c - begin] = held[c - begin] + share;
    }
    for (i32 o0 = begin; o0 < stop; ++o0) {
      f64 y0;
      y0 = held[o0 - begin];
      TX_STORE_f64(y0_p, y0_c + o0, y0);
    }
  }
}
