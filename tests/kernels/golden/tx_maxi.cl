TX_KERNEL(256, 1, 1) tx_maxi(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL i64 *y1_p, i64 y1_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 m0, i32 y0_s0, i32 y1_s0, i32 x0_s0, i32 x0_t0) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  const i32 kept = n0, reduced = m0;
  TX_LOCAL f32 sh[256];
  TX_LOCAL i32 sh_k[256];
  const i32 lid = (i32)TX_LID(0);
  const i32 length = reduced;
  i32 lanes = 1;
  while (lanes < 256 && lanes < length) lanes <<= 1;
  const i32 cols = 256 / lanes;
  const i32 lane = lid % lanes, col = lid / lanes;
  const i32 k = (i32)TX_GROUP(0) * cols + col;
  const i32 lo = 0, hi = reduced;
  f32 a0 = tx_bits_u32_f32(0xff800000u); i32 a0_k = 2147483647;
  if (k < kept) {
    const i32 k0 = k;
    TX_GLOBAL const f32 *x0_q = x0_p + (k0 * x0_s0);
    for (i32 t = lo + lane; t < hi; t += lanes) {
      const i32 r0 = t;
      f32 x0 = TX_LOAD_f32(x0_q, r0);
      f32 v0; i32 v0_k = t;
      v0 = x0;
      { const b8 win = (v0 > a0) | ((v0 != v0) & (a0 == a0)); a0 = tx_where_f32(win, v0, a0); a0_k = tx_where_i32(win, v0_k, a0_k); }
    }
  }
  sh[lid] = a0; sh_k[lid] = a0_k;
  TX_BARRIER;
  for (i32 w = lanes / 2; w > 0; w >>= 1) {
    if (lane < w) { { const b8 win = ((sh[lid + w] > sh[lid]) | ((sh[lid + w] != sh[lid + w]) & (sh[lid] == sh[lid]))) | (((sh[lid] == sh[lid + w]) | ((sh[lid] != sh[lid]) & (sh[lid + w] != sh[lid + w]))) & (sh_k[lid + w] < sh_k[lid])); sh[lid] = tx_where_f32(win, sh[lid + w], sh[lid]); sh_k[lid] = tx_where_i32(win, sh_k[lid + w], sh_k[lid]); } }
    TX_BARRIER;
  }
  if (k < kept && lane == 0) {
    const i32 k0 = k;
    a0 = sh[lid]; a0_k = sh_k[lid];
    if (a0_k == 2147483647) a0_k = 0;
    f32 y0;
    i64 y1;
    y0 = a0; y1 = ((i64)(a0_k));
    TX_STORE_f32(y0_p, k0 * y0_s0, y0);
    TX_STORE_i64(y1_p, k0 * y1_s0, y1);
  }
}
