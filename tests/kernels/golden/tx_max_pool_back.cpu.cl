TX_KERNEL(1, 1, 1) tx_max_pool_back(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i64 *i0_p, i64 i0_o, i32 n0, i32 w0, i32 w1, i32 v0, i32 v1, i32 k0, i32 s0, i32 p0, i32 d0, i32 k1, i32 s1, i32 p1, i32 d1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1, i32 i0_s0, i32 i0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  const i32 pieces = (w1 + 255) / 256;
  const i32 total = n0 * w0 * pieces;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    const i32 row_ = item / pieces, begin = (item - row_ * pieces) * 256;
    const i32 stop = w1 - begin < 256 ? w1 : begin + 256;
    i32 row__q = row_;
    const i32 o0 = row__q % w0; row__q /= w0;
    const i32 c0 = row__q;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    const i32 i0_c = c0 * i0_s0;
    const i32 b0 = o0 + p0 - (k0 - 1) * d0, f0 = (o0 + p0) / s0 + 1;
    const i32 a0 = b0 > 0 ? (b0 + s0 - 1) / s0 : 0;
    const i32 e0 = f0 < v0 ? f0 : v0;
    f32 held[256];
    for (i32 c = 0; c < stop - begin; ++c) held[c] = 0;
    i32 first, end;
    { const i32 b1 = begin + p1 - (k1 - 1) * d1, f1 = (begin + p1) / s1 + 1;
      const i32 a1 = b1 > 0 ? (b1 + s1 - 1) / s1 : 0;
      const i32 e1 = f1 < v1 ? f1 : v1; first = a1; }
    { const i32 b1 = (stop - 1) + p1 - (k1 - 1) * d1, f1 = ((stop - 1) + p1) / s1 + 1;
      const i32 a1 = b1 > 0 ? (b1 + s1 - 1) / s1 : 0;
      const i32 e1 = f1 < v1 ? f1 : v1; end = e1; }
    const i64 base = ((i64)o0) * w1 + begin;
    for (i32 j0 = a0; j0 < e0; j0 += 1) {
      for (i32 j1 = first; j1 < end; ++j1) {
        i64 i0 = TX_LOAD_i64(i0_p, i0_c + j0 * i0_s1 + j1);
        const i64 c = i0 - base;
        if (c >= 0 && c < stop - begin) {
          f32 x0 = TX_LOAD_f32(x0_p, x0_c + j0 * x0_s1 + j1);
          held[c] = held[c] + x0;
        }
      }
    }
    for (i32 o1 = begin; o1 < stop; ++o1) {
      f32 y0;
      y0 = held[o1 - begin];
      TX_STORE_f32(y0_p, y0_c + o0 * y0_s1 + o1, y0);
    }
  }
}
