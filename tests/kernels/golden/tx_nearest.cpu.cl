TX_KERNEL(1, 1, 1) tx_nearest(TX_GLOBAL u8 *y0_p, i64 y0_o, TX_GLOBAL const u8 *x0_p, i64 x0_o, TX_GLOBAL const i32 *i0_p, i64 i0_o, TX_GLOBAL const i32 *i1_p, i64 i1_o, i32 n0, i32 w0, i32 w1, i32 t0, i32 t1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  i0_p += i0_o;
  i1_p += i1_o;
  const i32 pieces = (w1 + 255) / 256;
  const i32 total = n0 * w0 * pieces;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    const i32 row = item / pieces, begin = (item - row * pieces) * 256;
    const i32 stop = w1 - begin < 256 ? w1 : begin + 256;
    i32 row_q = row;
    const i32 o0 = row_q % w0; row_q /= w0;
    const i32 c0 = row_q;
    const i32 y0_c = c0 * y0_s0;
    const i32 x0_c = c0 * x0_s0;
    const i32 a0 = (i32)TX_LOAD_i32(i0_p, o0), e0 = a0 + (i32)TX_LOAD_i32(i0_p, w0 + o0);
    const i32 width = stop - begin;
    i64 sum[256];
    for (i32 l = 0; l < width; ++l) sum[l] = 0;
    TX_GLOBAL const i32 *first_v = i1_p + begin;
    TX_GLOBAL const i32 *many_v = i1_p + (w1 + begin);
    for (i32 j0 = a0; j0 < e0; ++j0) {
      TX_GLOBAL const u8 *x0_v = x0_p + (x0_c + j0 * x0_s1);
      for (i32 t = 0; t < t1; ++t) {
        TX_SIMD
        for (i32 l = 0; l < width; ++l) {
          const i32 count = (i32)TX_LOAD_i32(many_v, l);
          const i32 at = (i32)TX_LOAD_i32(first_v, l) + (t < count ? t : 0);
          u8 x0 = TX_LOAD_u8(x0_v, at * 1);
          const i64 part = ((i64)(x0));
          const i64 add = t < count ? part : 0;
          sum[l] = (i64)((u64)sum[l] + (u64)add);
        }
      }
    }
    TX_GLOBAL u8 *y0_v = y0_p + (y0_c + o0 * y0_s1 + begin);
    for (i32 l = 0; l < width; ++l) {
      u8 y0;
      y0 = ((u8)(sum[l]));
      TX_STORE_u8(y0_v, l, y0);
    }
  }
}
