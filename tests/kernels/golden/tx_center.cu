TX_KERNEL(256, 1, 1) tx_center(TX_GLOBAL f16 *y0_p, i64 y0_o, TX_GLOBAL f32 *y1_p, i64 y1_o, TX_GLOBAL const f16 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, TX_GLOBAL const f32 *x2_p, i64 x2_o, i64 n0, i64 n1, i64 m0, i64 y0_s0, i64 y0_s1, i64 y0_t0, i64 y1_s0, i64 y1_s1, i64 x0_s0, i64 x0_s1, i64 x0_t0, i64 x1_s0, i64 x1_s1) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  x1_p += x1_o;
  x2_p += x2_o;
  f32 x2 = TX_LOAD_f32(x2_p, 0);
  const i64 kept = n0 * n1;
  const i64 count = (i64)m0;
  TX_LOCAL f32 sh_f32[256];
  const i32 lid = (i32)TX_LID(0);
  i32 lanes = 1;
  while (lanes < 256 && lanes < m0) lanes <<= 1;
  const i32 cols = 256 / lanes;
  const i32 lane = lid % lanes, first = lid - lane;
  i64 k = (i64)TX_GROUP(0) * cols + lid / lanes;
  const b8 valid = k < kept;
  if (!valid) k = kept - 1; /* keeps step with the others at the barriers, stores nothing */
  i64 k_q = k;
  const i64 k1 = k_q % n1; k_q /= n1;
  const i64 k0 = k_q;
  TX_GLOBAL f16 *y0_q = y0_p + (k0 * y0_s0 + k1 * y0_s1);
  TX_GLOBAL const f16 *x0_q = x0_p + (k0 * x0_s0 + k1 * x0_s1);
  f32 x1 = TX_LOAD_f32(x1_p, k0 * x1_s0 + k1 * x1_s1);
  f32 a0_acc = 0;
  {
    f32 far = 0;
    u32 turn = 0;
    for (i64 t = lane; t < m0; t += lanes) {
      f32 x0 = TX_LOAD_f16(x0_q, (t) * x0_t0);
      f32 v0;
      v0 = x0;
      a0_acc = a0_acc + v0;
      if ((++turn & 255u) == 0u) { far = far + a0_acc; a0_acc = 0; }
    }
    a0_acc = a0_acc + far;
    sh_f32[lid] = a0_acc;
    TX_BARRIER;
    for (i32 w = lanes / 2; w > 0; w >>= 1) {
      if (lane < w) { sh_f32[lid] = sh_f32[lid] + sh_f32[lid + w]; }
      TX_BARRIER;
    }
    a0_acc = sh_f32[first];
    TX_BARRIER;
  }
  const f32 a0 = a0_acc;
  if (valid) {

    for (i64 t = lane; t < m0; t += lanes) {
      f32 x0 = TX_LOAD_f16(x0_q, (t) * x0_t0);
      f32 y0;
      y0 = (x0 - a0 / (f32)count) * x1 + x2;
      TX_STORE_f16(y0_q, (t) * y0_t0, y0);
    }
    if (lane == 0)
    {
      f32 y1;
      y1 = a0;
      TX_STORE_f32(y1_p, k0 * y1_s0 + k1 * y1_s1, y1);
    }
  }
}
