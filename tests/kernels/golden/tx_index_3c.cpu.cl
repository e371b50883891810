TX_KERNEL(1, 1, 1) tx_index_3c(TX_GLOBAL i64 *y0_p, i64 y0_o, TX_GLOBAL const i32 *x0_p, i64 x0_o, i32 n0, i32 n1, i32 n2, i32 y0_s0, i32 y0_s1, i32 x0_s0, i32 x0_s1) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i32 cols = n2, rows = n1;
  if (cols < 1) return;
  const i32 width = cols < 8192 ? cols : 8192;
  const i32 height = width < 8192 ? 8192 / width : 1;
  const i32 across = (cols + width - 1) / width, down = (rows + height - 1) / height;
  { const i64 task = TX_GROUP(0);
    const i32 left = (i32)(task % across) * width, top = (i32)(task / across % down) * height;
    const i32 o = (i32)(task / across / down);
    const i32 c0 = o;
    const i32 stop = top + height < rows ? top + height : rows;
    const i32 count = (i32)(left + width < cols ? width : cols - left);
    for (i32 r = top; r < stop; ++r) {
      TX_GLOBAL i64 *y0_q = y0_p + (c0 * y0_s0 + r * y0_s1 + left);
      TX_GLOBAL const i32 *x0_q = x0_p + (c0 * x0_s0 + r * x0_s1 + left);
      const u64 first = ((u64)o * rows + r) * cols + left;
      TX_SIMD
      for (i32 c = 0; c < count; ++c) {
        i32 x0 = TX_LOAD_i32(x0_q, c);
        const u64 idx = (u64)(first + c);
        i64 y0;
        y0 = (i64)idx + x0;
        TX_STORE_i64(y0_q, c, y0);
      }
    }
  }
}
