TX_KERNEL(256, 1, 1) tx_sum_k(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, i32 n0, i32 n1, i32 m0, i32 m1, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1, i32 x0_t0, i32 x0_t1) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i32 kept = n0 * n1, reduced = m0 * m1;
  TX_LOCAL f32 sh[256];
  const i32 lid = (i32)TX_LID(0);
  const i32 length = reduced;
  i32 lanes = 1;
  while (lanes < 8 && lanes < length) lanes <<= 1;
  const i32 cols = 256 / lanes;
  const i32 lane = lid / cols, col = lid % cols;
  const i32 k = (i32)TX_GROUP(0) * cols + col;
  const i32 lo = 0, hi = reduced;
  f32 a0 = 0;
  if (k < kept) {
    i32 k_q = k;
    const i32 k1 = k_q % n1; k_q /= n1;
    const i32 k0 = k_q;
    TX_GLOBAL const f32 *x0_q = x0_p + (k0 * x0_s0 + k1 * x0_s1);
    f32 b0 = 0;
    u32 turn = 0;
    for (i32 t = lo + lane; t < hi; t += lanes) {
      i32 t_q = t;
      const i32 r1 = t_q % m1; t_q /= m1;
      const i32 r0 = t_q;
      f32 x0 = TX_LOAD_f32(x0_q, r0 * x0_t0 + (r1) * x0_t1);
      f32 v0;
      v0 = x0;
      a0 = a0 + v0;
      if ((++turn & 255u) == 0u) { b0 = b0 + a0; a0 = 0; }
    }
    a0 = a0 + b0;
  }
  sh[lid] = a0;
  TX_BARRIER;
  for (i32 w = lanes / 2; w > 0; w >>= 1) {
    if (lane < w) { sh[lid] = sh[lid] + sh[lid + w * cols]; }
    TX_BARRIER;
  }
  if (k < kept && lane == 0) {
    i32 k_q = k;
    const i32 k1 = k_q % n1; k_q /= n1;
    const i32 k0 = k_q;
    a0 = sh[lid];
    f32 y0;
    y0 = a0;
    TX_STORE_f32(y0_p, k0 * y0_s0 + k1 * y0_s1, y0);
  }
}
