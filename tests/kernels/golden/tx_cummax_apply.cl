TX_KERNEL(64, 1, 1) tx_cummax_apply(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL i64 *y1_p, i64 y1_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, TX_GLOBAL const i64 *x2_p, i64 x2_o, i32 n0, i32 n1, i32 n, i32 chunk, i32 y0_s0, i32 y0_s1, i32 y0_s2, i32 y1_s0, i32 y1_s1, i32 y1_s2, i32 x0_s0, i32 x0_s1, i32 x0_s2) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  x1_p += x1_o;
  x2_p += x2_o;
  const i32 splits = (n + chunk - 1) / chunk;
  const i32 total = n0 * n1 * splits;
  const i32 item = (i32)TX_GID(0);
  if (item < total) {
    const i32 row = item / splits, piece = item - row * splits;
    i32 row_q = row;
    const i32 c1 = row_q % n1; row_q /= n1;
    const i32 c0 = row_q;
    const i32 begin = piece * chunk, end = n - begin < chunk ? n : begin + chunk;
    const i32 y0_row = c0 * y0_s0 + c1 * y0_s1;
    const i32 y1_row = c0 * y1_s0 + c1 * y1_s1;
    const i32 x0_row = c0 * x0_s0 + c1 * x0_s1;
    f32 a = -tx_bits_u32_f32(0x7f800000u);
    i64 ak = 0;
    for (i32 p = 0; p < piece; ++p) {
      {
        f32 v0 = TX_LOAD_f32(x1_p, (i64)row * splits + p);
        i64 v0k = TX_LOAD_i64(x2_p, (i64)row * splits + p);
        if ((v0 != v0) || ((a == a) && (v0 >= a))) { a = v0; ak = v0k; }
      }
    }
    const i32 first = begin, stop = end;
    for (i32 t = first; t < stop; ++t) {
      const i32 j = t;
      {
        f32 x0 = TX_LOAD_f32(x0_p, x0_row + j * x0_s2);
        f32 v0; v0 = x0;
        const i64 v0k = j;
        if ((v0 != v0) || ((a == a) && (v0 >= a))) { a = v0; ak = v0k; }
        f32 y0;
        i64 y1;
        y0 = a;
        y1 = ak;
        TX_STORE_f32(y0_p, y0_row + j * y0_s2, y0);
        TX_STORE_i64(y1_p, y1_row + j * y1_s2, y1);
      }
    }
  }
}
