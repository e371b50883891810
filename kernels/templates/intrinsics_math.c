// Vectorisable mathematics for the C dialect: straight-line code without calls or branches, so that a compiler turns a loop
// of these into SIMD code without relaxed floating-point rules. tests/kernels/test_math_ulp.py measures every function.
// $p.name(z) is a polynomial and $c.name a constant of kernels/polynomials.py; TX_FMA may round once or twice.

//@ c | f32 f64
// y * 2**k in two steps, so that the result overflows or becomes denormal with one rounding. |k| < 2 * bias.
// The shift is logical because AVX2 has no arithmetic one for 64 bits.
$T tx_scale_$T($T y, $U k) {
    $U h = (k + 4096u) >> 1;
    $T a = tx_bits_$U_$T((h - 2048u + $c.bias) << $c.mant);
    $T b = tx_bits_$U_$T((k + 2048u - h + $c.bias) << $c.mant);
    return y * a * b;
}

// exp(x) * 2**k
$T tx_exps_$T($T x, $S k) {
    $T c = x > $c.exp_max ? $c.exp_max : x;
    c = c < $c.exp_min ? $c.exp_min : c;
    $T t = c * $c.log2e + $c.magic;
    $T n = t - $c.magic;
    $T r = TX_FMA_$T(n, -$c.ln2_lo, TX_FMA_$T(n, -$c.ln2_hi, c));
    $T p = r + r * r * $p.exp(r);
    return tx_scale_$T(1.0_T + p, tx_bits_$T_$U(t) - tx_bits_$T_$U($c.magic) + ($U)k);
}

$T tx_exp_$T($T x) { return tx_exps_$T(x, 0); }

$T tx_exp2_$T($T x) {
    $T c = x > $c.exp2_max ? $c.exp2_max : x;
    c = c < $c.exp2_min ? $c.exp2_min : c;
    $T t = c + $c.magic;
    $T r = c - (t - $c.magic);
    return tx_scale_$T(1.0_T + r * $p.exp2(r), tx_bits_$T_$U(t) - tx_bits_$T_$U($c.magic));
}

// 2**n * exp(r) - 1 as ((2**n - 1) + 2**n * r) + 2**n * (exp(r) - 1 - r), halved so that the largest n does not overflow too
// early. The rounding error of r is added back: the first sum cancels for n = 1.
$T tx_expm1_$T($T x) {
    $T c = x > $c.expm1_max ? $c.expm1_max : x;
    c = c < $c.expm1_min ? $c.expm1_min : c;
    $T t = c * $c.log2e + $c.magic;
    $T n = t - $c.magic;
    $T u = c - n * $c.ln2_hi;
    $T r = u - n * $c.ln2_lo;
    $T p = r * r * $p.exp(r) + ((u - r) - n * $c.ln2_lo);
    $T s = tx_bits_$U_$T((tx_bits_$T_$U(t) - tx_bits_$T_$U($c.magic) + ($c.bias - 1u)) << $c.mant);
    $T y = 2.0_T * (((s - 0.5_T) + s * r) + s * p);
    y = n == 0 ? r + p : y;
    return x == 0 ? x : y;
}

// The integer exponent of m * 2**e = x with m in [sqrt(1/2), sqrt(2)); x is positive and normal.
// The biased exponent becomes a float by being placed in the low bits of 2**mant.
$T tx_exponent_$T($T x) {
    $U i = tx_bits_$T_$U(x) - $c.sqrt_half + $c.one;
    return tx_bits_$U_$T((i >> $c.mant) | $c.two_mant) - $c.two_mant_bias;
}

$T tx_mantissa_$T($T x) {
    $U i = tx_bits_$T_$U(x) - $c.sqrt_half;
    return tx_bits_$U_$T((i & $c.mant_mask) + $c.sqrt_half);
}

// log(1 + f) - (f - f * f / 2), from the series of log((1 + s) / (1 - s)) with s = f / (2 + f).
$T tx_logtail_$T($T f) {
    $T s = f / (2.0_T + f);
    $T z = s * s;
    return s * (0.5_T * f * f + z * $p.log(z));
}

$T tx_log_$T($T x) {
    b8 tiny = x < $c.min_normal;
    $T y = tiny ? x * $c.denormal_scale : x;
    $T e = tx_exponent_$T(y) - (tiny ? $c.denormal_shift : 0.0_T);
    $T f = tx_mantissa_$T(y) - 1.0_T;
    $T r = TX_FMA_$T(e, $c.ln2_lo, tx_logtail_$T(f)) - 0.5_T * f * f;
    r = TX_FMA_$T(e, $c.ln2_hi, f + r);
    r = x == $INF ? x : r;
    return x > 0 ? r : (x == 0 ? -$INF : $NAN);
}

// f - f * f / 2 is split into a part with few bits, whose product with the constant is exact, and a rest.
$T tx_log2_$T($T x) {
    b8 tiny = x < $c.min_normal;
    $T y = tiny ? x * $c.denormal_scale : x;
    $T e = tx_exponent_$T(y) - (tiny ? $c.denormal_shift : 0.0_T);
    $T f = tx_mantissa_$T(y) - 1.0_T;
    $T h = 0.5_T * f * f;
    $T hi = tx_bits_$U_$T(tx_bits_$T_$U(f - h) & $c.half_mask);
    $T lo = (f - hi) - h + tx_logtail_$T(f);
    $T a = hi * $c.log2e_hi;
    $T w = e + a;
    $T r = w + (((e - w) + a) + ((lo + hi) * $c.log2e_lo + lo * $c.log2e_hi));
    r = x == $INF ? x : r;
    return x > 0 ? r : (x == 0 ? -$INF : $NAN);
}

$T tx_log10_$T($T x) {
    b8 tiny = x < $c.min_normal;
    $T y = tiny ? x * $c.denormal_scale : x;
    $T e = tx_exponent_$T(y) - (tiny ? $c.denormal_shift : 0.0_T);
    $T f = tx_mantissa_$T(y) - 1.0_T;
    $T h = 0.5_T * f * f;
    $T hi = tx_bits_$U_$T(tx_bits_$T_$U(f - h) & $c.half_mask);
    $T lo = (f - hi) - h + tx_logtail_$T(f);
    $T a = hi * $c.log10e_hi;
    $T b = e * $c.log10_2_hi;
    $T w = b + a;
    $T r = w + (((b - w) + a) + (e * $c.log10_2_lo + ((lo + hi) * $c.log10e_lo + lo * $c.log10e_hi)));
    r = x == $INF ? x : r;
    return x > 0 ? r : (x == 0 ? -$INF : $NAN);
}

// log(u) + (x - (u - 1)) / u with u = 1 + x rounded.
$T tx_log1p_$T($T x) {
    $T u = 1.0_T + x;
    $T c = (x > 1.0_T ? 1.0_T - (u - x) : x - (u - 1.0_T)) / u;
    $T e = tx_exponent_$T(u);
    $T f = tx_mantissa_$T(u) - 1.0_T;
    $T r = (TX_FMA_$T(e, $c.ln2_lo, c) + tx_logtail_$T(f)) - 0.5_T * f * f;
    r = TX_FMA_$T(e, $c.ln2_hi, f + r);
    r = (x == $INF || x == 0) ? x : r;
    return x > -1.0_T ? r : (x == -1.0_T ? -$INF : $NAN);
}

$T tx_tanh_$T($T x) {
    $T a = $m.fabs(x);
    $T z = a * a;
    $T small = a + a * (z * $p.tanh(z));
    $T large = 1.0_T - 2.0_T / (tx_exp_$T(2.0_T * a) + 1.0_T);
    return $m.copysign(a < 0.625_T ? small : large, x);
}

$T tx_sinh_$T($T x) {
    $T a = $m.fabs(x);
    $T z = x * x;
    $T small = x + x * (z * $p.sinh(z));
    $T h = tx_exps_$T(a, -1);
    return a < 1.0_T ? small : $m.copysign(h - 0.25_T / h, x);
}

$T tx_cosh_$T($T x) {
    $T h = tx_exps_$T($m.fabs(x), -1);
    return h + 0.25_T / h;
}

$T tx_erf_$T($T x) {
    $T a = $m.fabs(x);
    $T small = x + x * $p.erf(x * x);
    $T b = a > $c.erf_max ? $c.erf_max : a;
    $T v = 1.0_T / (b + 2.0_T);
    $T large = 1.0_T - tx_exp_$T(-b * b) * (v * $p.erfcx((b - 2.0_T) * v));
    return a < 1.0_T ? small : $m.copysign(large, x);
}

// exp(-b * b) / (2 b + 1) * (1 + q) above 0.75. The square is split so that its rounding does not enter the exponential, the
// quotient v + v1 is in double length, and (1 + p) * (1 + q) is expanded, so that hardly more than the last rounding counts.
$T tx_erfc_$T($T x) {
    $T a = $m.fabs(x);
    $T small = (1.0_T - x) - x * $p.erf(x * x);
    $T b = a > $c.erfc_max ? $c.erfc_max : a;
    $T d = 2.0_T * b + 1.0_T;
    $T v = 1.0_T / d;
    $T w = v * d;
    $T v1 = (((1.0_T - w) - TX_MULERR_$T(v, d, w)) - v * (1.0_T - (d - 2.0_T * b))) * v;
    $T q = $p.erfc((b - 3.0_T) / (b + 3.0_T));
    $T h = tx_bits_$U_$T((tx_bits_$T_$U(b) + $c.half_round) & $c.half_mask);
    $T t = -h * h * $c.log2e + $c.magic;
    $T n = t - $c.magic;
    $T r = TX_FMA_$T(n, -$c.ln2_hi, -h * h) + TX_FMA_$T(n, -$c.ln2_lo, (h - b) * (h + b));
    $T p = r + r * r * $p.exp(r);
    $T s = p + (q + q * p);
    $T large = tx_scale_$T(v + TX_FMA_$T(v, s, v1), tx_bits_$T_$U(t) - tx_bits_$T_$U($c.magic));
    large = x < 0 ? 2.0_T - large : large;
    return a < 0.75_T ? small : large;
}

$T tx_rsqrt_$T($T x) { return 1.0_T / $m.sqrt(x); }

// Scaled by a power of two so that no square overflows or vanishes.
$T tx_hypot_$T($T x, $T y) {
    $T a = $m.fabs(x);
    $T b = $m.fabs(y);
    $T m = a > b ? a : b;
    $T s = m > $c.hypot_large ? 1.0_T / $c.hypot_scale : (m < 1.0_T / $c.hypot_large ? $c.hypot_scale : 1.0_T);
    $T u = m > $c.hypot_large ? $c.hypot_scale : (m < 1.0_T / $c.hypot_large ? 1.0_T / $c.hypot_scale : 1.0_T);
    $T r = $m.sqrt((a * s) * (a * s) + (b * s) * (b * s)) * u;
    return (a == $INF || b == $INF) ? $INF : r;
}

// The rounding error of p = a * b (Dekker, "A floating-point technique for extending the available precision", 1971).
$T tx_mulerr_split_$T($T a, $T b, $T p) {
    $T ah = tx_bits_$U_$T(tx_bits_$T_$U(a) & $c.half_mask);
    $T bh = tx_bits_$U_$T(tx_bits_$T_$U(b) & $c.half_mask);
    return (((ah * bh - p) + ah * (b - bh)) + (a - ah) * bh) + (a - ah) * (b - bh);
}

$T tx_mulerr_fma_$T($T a, $T b, $T p) { return $m.fma(a, b, -p); }

// log2 of a positive a as *hi + *lo, to about 1.4 times the precision of the type: the series of log((1 + s) / (1 - s)) with
// its first two terms in double length.
void tx_log2pair_$T($T a, $T *hi, $T *lo) {
    b8 tiny = a < $c.min_normal;
    $T y = tiny ? a * $c.denormal_scale : a;
    $T e = tx_exponent_$T(y) - (tiny ? $c.denormal_shift : 0.0_T);
    $T f = tx_mantissa_$T(y) - 1.0_T;
    $T d = 2.0_T + f;
    $T s = f / d;
    $T p = s * d;
    $T s1 = (((f - p) - TX_MULERR_$T(s, d, p)) - s * (f - (d - 2.0_T))) / d;
    $T z = s * s;
    $T z1 = TX_MULERR_$T(s, s, z) + 2.0_T * s * s1;
    $T t = z * $p.pow(z);
    $T q = $c.third_hi + t;
    $T q1 = (($c.third_hi - q) + t) + $c.third_lo;
    $T w = z * q;
    $T w1 = TX_MULERR_$T(z, q, w) + (z * q1 + z1 * q);
    $T v = s * w;
    $T v1 = TX_MULERR_$T(s, w, v) + (s * w1 + s1 * w);
    $T l = s + v;
    $T l1 = ((s - l) + v) + (s1 + v1);
    $T g = l * $c.two_log2e_hi;
    $T g1 = TX_MULERR_$T(l, $c.two_log2e_hi, g) + (l * $c.two_log2e_lo + l1 * $c.two_log2e_hi);
    *hi = e + g;
    *lo = ((e - *hi) + g) + g1;
}

// 2**(y * log2 |x|), then the special cases of C99; w is the value for negative x. Each selection has one comparison: gcc does
// not vectorise combined ones where y is the same for the whole loop.
$T tx_pow_$T($T x, $T y) {
    $T a = $m.fabs(x);
    $T hi;
    $T lo;
    tx_log2pair_$T(a, &hi, &lo);
    $T p = y * hi;
    $T p1 = TX_MULERR_$T(y, hi, p) + y * lo;
    $T c = p > $c.exp2_max ? $c.exp2_max : p;
    c = c < $c.exp2_min ? $c.exp2_min : c;
    $T t = c + $c.magic;
    $T r = (c - (t - $c.magic)) + (c == p ? p1 : 0.0_T);
    $T v = tx_scale_$T(1.0_T + r * $p.exp2(r), tx_bits_$T_$U(t) - tx_bits_$T_$U($c.magic));
    $T half = 0.5_T * y;
    $T odd = $m.rint(half) == half ? 0.0_T : 1.0_T;
    odd = $m.rint(y) == y ? odd : 0.0_T;
    $T hole = $m.rint(y) == y ? 0.0_T : $NAN;
    $T at_zero = y < 0 ? $INF : 0.0_T;
    $T at_inf = y < 0 ? 0.0_T : $INF;
    v = a == 1.0_T ? 1.0_T : v;
    $T w = v + hole;
    v = a == 0 ? at_zero : v;
    w = a == 0 ? at_zero : w;
    v = a == $INF ? at_inf : v;
    w = a == $INF ? at_inf : w;
    w = odd != 0 ? -w : w;
    v = tx_bits_$T_$S(x) < 0 ? w : v;
    v = x != x ? x : v;
    v = y != y ? y : v;
    v = y == 0 ? 1.0_T : v;
    return x == 1.0_T ? 1.0_T : v;
}

//@ c | f32
// a = *quadrant * pi / 2 + *r + *r1 with |*r| <= pi / 4, for a >= 0; the quadrant counts modulo 4.
// Integer reduction (Payne and Hanek, "Radian reduction for trigonometric functions", 1983), right for every finite a: the
// 24-bit significand times the 96 bits of 2 / pi that matter for the exponent of a, of which the middle 64 are kept in
// (high, low): two bits of quadrant and the fraction. Instead of a table look-up, which compilers do not vectorise well, the
// words w0 to w3 of 2 / pi at 32-bit position p / 32 are sums (xor) of the differences between successive words.
// The fraction becomes a float in three pieces because its leading bits may cancel.
void tx_quarters_f32(f32 a, f32 *r, f32 *r1, u32 *quadrant) {
    u32 b = tx_bits_f32_u32(a);
    u32 m = (b & 0x7fffffu) | 0x800000u;
    u32 p = ((b >> 23) & 0xffu) - 120u;
    u32 s = p & 31u;
    u32 k1 = 0u - (u32)(p >= 32u);
    u32 k2 = 0u - (u32)(p >= 64u);
    u32 k3 = 0u - (u32)(p >= 96u);
    u32 k4 = 0u - (u32)(p >= 128u);
    u32 w0 = (k1 & 0xa2f9836eu) ^ (k2 & 0xecbd9647u) ^ (k3 & 0xb26342f8u) ^ (k4 & 0x09138a11u);
    u32 w1 = 0xa2f9836eu ^ (k1 & 0xecbd9647u) ^ (k2 & 0xb26342f8u) ^ (k3 & 0x09138a11u) ^ (k4 & 0x2e564859u);
    u32 w2 = 0x4e441529u ^ (k1 & 0xb26342f8u) ^ (k2 & 0x09138a11u) ^ (k3 & 0x2e564859u) ^ (k4 & 0xe72105d8u);
    u32 w3 = 0xfc2757d1u ^ (k1 & 0x09138a11u) ^ (k2 & 0x2e564859u) ^ (k3 & 0xe72105d8u) ^ (k4 & 0xc212f3eau);
    w0 = (w0 << s) | ((w1 >> 1) >> (31u - s));
    w1 = (w1 << s) | ((w2 >> 1) >> (31u - s));
    w2 = (w2 << s) | ((w3 >> 1) >> (31u - s));
    u64 middle = (u64)m * (u64)w1 + (((u64)m * (u64)w2) >> 32);
    u32 high = m * w0 + (u32)(middle >> 32);
    u32 low = (u32)middle;
    i32 d = (i32)(high << 2) >> 2;
    f32 h = (f32)d;
    f32 l = (f32)(d - (i32)h) * 4294967296.0f + (f32)(i32)(low >> 1) * 2.0f;
    h = h * 4294967296.0f;
    f32 y = h * 3.4061217e-19f;
    f32 y1 = TX_MULERR_f32(h, 3.4061217e-19f, y) + TX_FMA_f32(h, -9.4783964e-27f, l * 3.4061217e-19f);
    f32 t = y + y1;
    *r = a < 0.785f ? a : t;
    *r1 = a < 0.785f ? 0.0f : (y - t) + y1;
    *quadrant = a < 0.785f ? 0u : (high + 0x20000000u) >> 30;
}

f32 tx_sinpoly_f32(f32 r) {
    f32 z = r * r;
    return r + r * (z * $p.sin(z));
}

f32 tx_cospoly_f32(f32 r) {
    f32 z = r * r;
    return 1.0f - (0.5f * z - z * z * $p.cos(z));
}

f32 tx_sin_f32(f32 x) {
    f32 a = $m.fabs(x);
    f32 r, r1;
    u32 j;
    tx_quarters_f32(a, &r, &r1, &j);
    f32 y = (j & 1u) ? tx_cospoly_f32(r) : tx_sinpoly_f32(r);
    u32 sign = (tx_bits_f32_u32(x) & 0x80000000u) ^ ((j & 2u) << 30);
    y = tx_bits_u32_f32(tx_bits_f32_u32(y) ^ sign);
    return a < $INF ? y : $NAN;
}

f32 tx_cos_f32(f32 x) {
    f32 a = $m.fabs(x);
    f32 r, r1;
    u32 j;
    tx_quarters_f32(a, &r, &r1, &j);
    f32 y = (j & 1u) ? tx_sinpoly_f32(r) : tx_cospoly_f32(r);
    y = tx_bits_u32_f32(tx_bits_f32_u32(y) ^ (((j + 1u) & 2u) << 30));
    return a < $INF ? y : $NAN;
}

f32 tx_tan_f32(f32 x) {
    f32 a = $m.fabs(x);
    f32 r, r1;
    u32 j;
    tx_quarters_f32(a, &r, &r1, &j);
    f32 z = r * r;
    f32 u = r * (z * $p.tan(z)) + (r1 + r1 * z);
    f32 t = r + u;
    f32 c = -1.0f / t;
    f32 y = (j & 1u) ? c + c * c * ((r - t) + u) : t;
    y = tx_bits_u32_f32(tx_bits_f32_u32(y) ^ (tx_bits_f32_u32(x) & 0x80000000u));
    return a < $INF ? y : $NAN;
}

// asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) above 1/2.
f32 tx_asin_f32(f32 x) {
    f32 a = $m.fabs(x);
    b8 large = a > 0.5f;
    f32 z = large ? 0.5f * (1.0f - a) : a * a;
    f32 s = large ? $m.sqrt(z) : a;
    f32 p = s * (z * $p.asin(z));
    f32 d = 1.57079637f - 2.0f * s;
    f32 e = (1.57079637f - d) - 2.0f * s;
    f32 y = large ? d - ((2.0f * p + 4.37113883e-8f) - e) : s + p;
    return $m.copysign(y, x);
}

f32 tx_acos_f32(f32 x) {
    f32 a = $m.fabs(x);
    b8 large = a > 0.5f;
    f32 z = large ? 0.5f * (1.0f - a) : a * a;
    f32 s = large ? $m.sqrt(z) : x;
    f32 p = s + s * (z * $p.asin(z));
    f32 y = x < 0 ? 3.14159274f - (2.0f * p + 8.74227766e-8f) : 2.0f * p;
    return large ? y : 1.57079637f - (p + 4.37113883e-8f);
}

// atan(n / d) for 0 <= n <= d
f32 tx_atanquot_f32(f32 n, f32 d) {
    f32 q = n / d;
    f32 z = q * q;
    return q + q * (z * $p.atan(z));
}

f32 tx_atan_f32(f32 x) {
    f32 a = $m.fabs(x);
    b8 large = a > 1.0f;
    f32 y = tx_atanquot_f32(large ? 1.0f : a, large ? a : 1.0f);
    y = large ? 1.57079637f - (y + 4.37113883e-8f) : y;
    return $m.copysign(y, x);
}

f32 tx_atan2_f32(f32 y, f32 x) {
    f32 a = $m.fabs(x);
    f32 b = $m.fabs(y);
    b8 steep = b > a;
    f32 n = steep ? a : b;
    f32 d = steep ? b : a;
    b8 same = n == d;
    f32 r = tx_atanquot_f32(same ? 1.0f : n, same ? 1.0f : d);
    r = (same && n == 0) ? 0.0f : r;
    r = steep ? 1.57079637f - (r + 4.37113883e-8f) : r;
    r = tx_signbit_f32(x) ? 3.14159274f - (r + 8.74227766e-8f) : r;
    r = (x != x || y != y) ? $NAN : r;
    return $m.copysign(r, y);
}

f32 tx_asinh_f32(f32 x) {
    f32 a = $m.fabs(x);
    b8 large = a > 1.0e8f;
    f32 z = large ? 1.0f : a * a;
    f32 y = tx_log1p_f32(large ? a : a + z / (1.0f + $m.sqrt(1.0f + z)));
    return $m.copysign(large ? y + 0.693147182f : y, x);
}

f32 tx_acosh_f32(f32 x) {
    b8 large = x > 1.0e8f;
    f32 t = x - 1.0f;
    f32 y = tx_log1p_f32(large ? x : t + $m.sqrt(2.0f * t + t * t));
    y = large ? y + 0.693147182f : y;
    return x < 1.0f ? $NAN : y;
}

f32 tx_atanh_f32(f32 x) {
    f32 a = $m.fabs(x);
    return $m.copysign(0.5f * tx_log1p_f32(2.0f * a / (1.0f - a)), x);
}
