TX_KERNEL(1, 1, 1) tx_index_add(TX_GLOBAL f32 *y0_p, i64 y0_o, TX_GLOBAL const f32 *x0_p, i64 x0_o, TX_GLOBAL const i32 *i0_p, i64 i0_o, TX_GLOBAL i64 *err_p, i32 code, i64 n0, i64 n1, i64 e0, i64 t0, i64 owners, i64 lanes, i64 y0_s0, i64 x0_s0, i64 i0_s0, i64 i0_s1) {
  x0_p += x0_o;
  i0_p += i0_o;
  const i64 total = owners * lanes;
  TX_PARALLEL(owners > 1 ? 65536 : 0)
  for (i64 item = 0; item < total; item++) {
    const u32 owner = (u32)(item / lanes);
    for (i64 c0 = 0; c0 < n0; ++c0) {
      for (i64 c1 = 0; c1 < n1; ++c1) {
        i32 good = 1;
        const i64 r0 = TX_LOAD_i32(i0_p, c0 * i0_s0 + c1 * i0_s1);
        i64 w0 = r0 < 0 ? r0 + e0 : r0;
        if (w0 < 0 || w0 >= e0) { TX_FAIL(err_p, code + 0, ((i64)c0) * n1 + c1, r0); good = 0; }
        const i64 home = y0_o + c0 * y0_s0 + c1 + w0 * t0;
        /* Blocks of 16 elements share an owner, so that two owners seldom write the same cache line. */
        if (good && (owners == 1 || ((u32)(home >> 4) * 2654435761u >> 16) % (u32)owners == owner)) {
          const i64 to = home;
          f32 x0 = TX_LOAD_f32(x0_p, c0 * x0_s0 + c1);
          f32 v0; v0 = x0;
          f32 y0;
          f32 cur = TX_LOAD_f32(y0_p, to);
          y0 = cur + v0;
          TX_STORE_f32(y0_p, to, y0);
        }
    }}
  }
}
