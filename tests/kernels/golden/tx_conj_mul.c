TX_KERNEL(1, 1, 1) tx_conj_mul(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, i64 n0) {
  y0_p += 2 * y0_o;
  x0_p += 2 * x0_o;
  x1_p += 2 * x1_o;
  const i64 cols = n0, rows = 1;
  if (cols < 1) return;
  const i64 width = cols < 8192 ? cols : 8192;
  const i64 height = width < 8192 ? 8192 / width : 1;
  const i64 across = (cols + width - 1) / width, down = (rows + height - 1) / height;
  const i64 tasks = (i64)across * down;
  TX_PARALLEL(tasks * 8192)
  for (i64 task = 0; task < tasks; ++task) {
    const i64 left = (i64)(task % across) * width, top = (i64)(task / across % down) * height;
    const i64 stop = top + height < rows ? top + height : rows;
    const i32 count = (i32)(left + width < cols ? width : cols - left);
    for (i64 r = top; r < stop; ++r) {
      TX_GLOBAL f32 *y0_q = y0_p + 2 * (left);
      TX_GLOBAL const f32 *x0_q = x0_p + 2 * (left);
      TX_GLOBAL const f32 *x1_q = x1_p + 2 * (left);
      TX_SIMD_PAIRS
      for (i32 c = 0; c < count; ++c) {
        f32 x0r = TX_LOAD_f32(x0_q, 2 * (c)), x0i = TX_LOAD_f32(x0_q, 2 * (c) + 1);
        f32 x1r = TX_LOAD_f32(x1_q, 2 * (c)), x1i = TX_LOAD_f32(x1_q, 2 * (c) + 1);
        f32 y0r, y0i;
        y0r = x0r * x1r + x0i * x1i; y0i = x0r * x1i - x0i * x1r;
        TX_STORE_f32(y0_q, 2 * (c), y0r); TX_STORE_f32(y0_q, 2 * (c) + 1, y0i);
      }
    }
  }
}
