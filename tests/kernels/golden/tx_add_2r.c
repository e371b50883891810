TX_KERNEL(1, 1, 1) tx_add_2r(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const f32 *x1_p, i64 x1_o, i32 n0, i32 n1, i32 y0_s0, i32 x0_s0, i32 x1_s0) {
  y0_p += y0_o;
  x0_p += x0_o;
  x1_p += x1_o;
  const i32 cols = n1, rows = n0;
  if (cols < 1) return;
  const i32 width = cols < 8192 ? cols : 8192;
  const i32 height = width < 8192 ? 8192 / width : 1;
  const i32 across = (cols + width - 1) / width, down = (rows + height - 1) / height;
  const i64 tasks = (i64)across * down;
  TX_PARALLEL((i64)n0 * n1)
  for (i64 task = 0; task < tasks; ++task) {
    const i32 left = (i32)(task % across) * width, top = (i32)(task / across % down) * height;
    const i32 stop = top + height < rows ? top + height : rows;
    const i32 count = (i32)(left + width < cols ? width : cols - left);
    for (i32 r = top; r < stop; ++r) {
      TX_GLOBAL f32 *y0_q = y0_p + (r * y0_s0 + left);
      TX_GLOBAL const f32 *x0_q = x0_p + (r * x0_s0 + left);
      TX_GLOBAL const f32 *x1_q = x1_p + (r * x1_s0);
      f32 x1 = TX_LOAD_f32(x1_q, 0);
      TX_SIMD
      for (i32 c = 0; c < count; ++c) {
        f32 x0 = TX_LOAD_f32(x0_q, c);
        f32 y0;
        y0 = x0 + x1;
        TX_STORE_f32(y0_q, c, y0);
      }
    }
  }
}
