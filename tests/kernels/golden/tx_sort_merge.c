TX_KERNEL(1, 1, 1) tx_sort_merge(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL i64 *y1_p, i64 y1_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i64 *x1_p, i64 x1_o, i32 n0, i32 n, i32 width, i32 chunk, i32 y0_s0, i32 y1_s0, i32 x0_s0, i32 x1_s0) {
  y0_p += y0_o;
  y1_p += y1_o;
  x0_p += x0_o;
  x1_p += x1_o;
  const i32 pieces = (n + chunk - 1) / chunk;
  const i32 total = n0 * pieces;
  TX_PARALLEL((i64)total * chunk)
  for (i32 item = 0; item < total; item++) {
    const i32 row = item / pieces, begin = (item - row * pieces) * chunk;
    const i32 c0 = row;
    const i32 end = n - begin < chunk ? n : begin + chunk;
    const i32 y0_row = c0 * y0_s0;
    const i32 y1_row = c0 * y1_s0;
    const i32 x0_row = c0 * x0_s0;
    const i32 x1_row = c0 * x1_s0;
    const i32 left = begin / (2 * width) * (2 * width);
    const i32 right = n - left < width ? n : left + width;
    const i32 stop = n - right < width ? n : right + width;
    const i32 skip = begin - left, size_a = right - left, size_b = stop - right;
    /* How many of the first skip merged elements come from the left run: the smallest i at which left[i] follows right[skip - i - 1]. */
    i32 low = skip > size_b ? skip - size_b : 0, high = skip < size_a ? skip : size_a;
    while (low < high) {
      const i32 middle = low + (high - low) / 2;
      const f32 a = TX_LOAD_f32(x0_p, x0_row + left + middle), b = TX_LOAD_f32(x0_p, x0_row + right + skip - middle - 1);
      if ((a < b || (b != b && a == a))) high = middle;
      else low = middle + 1;
    }
    i32 i = left + low, j = right + skip - low;
    f32 a = 0, b = 0;
    if (i < right) a = TX_LOAD_f32(x0_p, x0_row + i);
    if (j < stop) b = TX_LOAD_f32(x0_p, x0_row + j);
    for (i32 k = begin; k < end; ++k) {
      const int take_b = j < stop && (i >= right || (a < b || (b != b && a == a)));
      const f32 y0 = take_b ? b : a;
      const i64 y1 = TX_LOAD_i64(x1_p, x1_row + (take_b ? j : i));
      TX_STORE_f32(y0_p, y0_row + k, y0);
      TX_STORE_i64(y1_p, y1_row + k, y1);
      if (take_b) {
        ++j;
        if (j < stop) b = TX_LOAD_f32(x0_p, x0_row + j);
      } else {
        ++i;
        if (i < right) a = TX_LOAD_f32(x0_p, x0_row + i);
      }
    }
  }
}
