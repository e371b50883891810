TX_KERNEL(1, 1, 1) tx_listed_pool_back(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i64 *i0_p, i64 i0_o, i32 n0, i32 w0, i32 v0, i32 k0, i32 t0, i32 u0, i32 y0_s0, i32 x0_s0, i32 i0_s0) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  const i32 pieces = (w0 + 255) / 256;
  const i32 total = n0 * pieces;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    const i32 row_ = item / pieces, begin = (item - row_ * pieces) * 256;
    const i32 stop = w0 - begin < 256 ? w0 : begin + 256;
    const i32 c0 = row_;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    const i32 i0_c = c0 * i0_s0;
    f32 held[256];
    for (i32 c = 0; c < stop - begin; ++c) held[c] = 0;
    i32 first, end;
    { const i32 a0 = t0 > 0 && begin > k0 + 1 && (begin - k0 - 1) * u0 / t0 - 1 > 0 ? (begin - k0 - 1) * u0 / t0 - 1 : 0;
      const i32 e0 = t0 > 0 && (begin + 2) * u0 / t0 + 2 < v0 ? (begin + 2) * u0 / t0 + 2 : v0; first = a0; }
    { const i32 a0 = t0 > 0 && (stop - 1) > k0 + 1 && ((stop - 1) - k0 - 1) * u0 / t0 - 1 > 0 ? ((stop - 1) - k0 - 1) * u0 / t0 - 1 : 0;
      const i32 e0 = t0 > 0 && ((stop - 1) + 2) * u0 / t0 + 2 < v0 ? ((stop - 1) + 2) * u0 / t0 + 2 : v0; end = e0; }
    const i64 base = (i64)begin;
    for (i32 j0 = first; j0 < end; ++j0) {
      i64 i0 = TX_LOAD_i64(i0_p, i0_c + j0);
      const i64 c = i0 - base;
      if (c >= 0 && c < stop - begin) {
        f32 x0 = TX_LOAD_f32(x0_p, x0_c + j0);
        held[c] = held[c] + x0;
      }
    }
    for (i32 o0 = begin; o0 < stop; ++o0) {
      f32 y0;
      y0 = held[o0 - begin];
      TX_STORE_f32(y0_p, y0_c + o0, y0);
    }
  }
}
