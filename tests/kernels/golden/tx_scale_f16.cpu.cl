TX_KERNEL(1, 1, 1) tx_scale_f16(TX_GLOBAL f16 *y0_p, i64 y0_o, TX_GLOBAL const f16 *x0_p, i64 x0_o, TX_GLOBAL const f16 *x1_p, i64 x1_o, f32 s0, i64 n0) {
  y0_p += y0_o;
  x0_p += x0_o;
  x1_p += x1_o;
  f32 x1 = TX_LOAD_f16(x1_p, 0);
  const i64 cols = n0, rows = 1;
  if (cols < 1) return;
  const i64 width = cols < 8192 ? cols : 8192;
  const i64 height = width < 8192 ? 8192 / width : 1;
  const i64 across = (cols + width - 1) / width, down = (rows + height - 1) / height;
  { const i64 task = TX_GROUP(0);
    const i64 left = (i64)(task % across) * width, top = (i64)(task / across % down) * height;
    const i64 stop = top + height < rows ? top + height : rows;
    const i32 count = (i32)(left + width < cols ? width : cols - left);
    for (i64 r = top; r < stop; ++r) {
      TX_GLOBAL f16 *y0_q = y0_p + (left);
      TX_GLOBAL const f16 *x0_q = x0_p + (left);
      TX_SIMD
      for (i32 c = 0; c < count; ++c) {
        f32 x0 = TX_LOAD_f16(x0_q, c);
        f32 y0;
        y0 = x0 * x1 + s0;
        TX_STORE_f16(y0_q, c, y0);
      }
    }
  }
}
