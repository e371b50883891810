TX_KERNEL(256, 1, 1) tx_nonzero(TX_GLOBAL i64 *y0_p, i64 y0_o, TX_GLOBAL const i64 *x0_p, i64 x0_o, i64 n0, i64 n1) {
  y0_p += y0_o;
  x0_p += x0_o;
  const i64 total = n0 * n1;
  const i64 item = (i64)TX_GID(0);
  if (item < total) {
    const i64 upto = TX_LOAD_i64(x0_p, item), before = item > 0 ? TX_LOAD_i64(x0_p, item - 1) : 0;
    if (upto != before) {
      i64 item_q = item;
      const i64 c1 = item_q % n1; item_q /= n1;
      const i64 c0 = item_q;
      TX_STORE_i64(y0_p, before * 2 + 0, c0);
      TX_STORE_i64(y0_p, before * 2 + 1, c1);
    }
  }
}
