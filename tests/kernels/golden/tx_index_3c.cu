TX_KERNEL(256, 1, 1) tx_index_3c(TX_GLOBAL i64 *y0_p, i64 y0_o, TX_GLOBAL const i32 *x0_p, i64 x0_o, i32 n0, i32 n1, i32 n2, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i32 total = n0 * n1 * n2;
  const i32 first = (i32)TX_GROUP(0) * 1024 + (i32)TX_LID(0);
  for (i32 k = 0; k < 4; ++k) {
    const i32 t = first + k * 256;
    if (t >= total) break;
    i32 t_q = t;
    const i32 c2 = t_q % n2; t_q /= n2;
    const i32 c1 = t_q % n1; t_q /= n1;
    const i32 c0 = t_q;
    i32 x0 = TX_LOAD_i32(x0_p, c0 * x0_s0 + c1 * x0_s1 + c2);
    const u64 idx = (u64)(t);
    i64 y0;
    y0 = (i64)idx + x0;
    TX_STORE_i64(y0_p, c0 * y0_s0 + c1 * y0_s1 + c2, y0);
  }
}
