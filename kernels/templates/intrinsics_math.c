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

// g * exp(x + lo) * 2**k for |lo| < 0.05. Adding 1.5 * 2**mant rounds to an integer and leaves it in the low bits of the sum,
// which avoids the conversions that vector units lack; a NaN passes through r. The factor g enters before the last rounding.
$T tx_expk_$T($T g, $T x, $T lo, $S k) {
    $T c = x > $c.exp_max ? $c.exp_max : x;
    c = c < $c.exp_min ? $c.exp_min : c;
    $T t = c * $c.log2e + $c.magic;
    $T n = t - $c.magic;
    $T r = TX_FMA_$T(n, -$c.ln2_lo, TX_FMA_$T(n, -$c.ln2_hi, c)) + lo;
    $T p = r + r * r * $p.exp(r);
    return tx_scale_$T(g + g * p, tx_bits_$T_$U(t) - tx_bits_$T_$U($c.magic) + ($U)k);
}

$T tx_exp_$T($T x) { return tx_expk_$T(1.0_T, x, 0.0_T, 0); }

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
    $T h = tx_expk_$T(1.0_T, a, 0.0_T, -1);
    return a < 1.0_T ? small : $m.copysign(h - 0.25_T / h, x);
}

$T tx_cosh_$T($T x) {
    $T h = tx_expk_$T(1.0_T, $m.fabs(x), 0.0_T, -1);
    return h + 0.25_T / h;
}

// exp(x * x) * erfc(x) for x >= 0.5
$T tx_erfcx_$T($T x) {
    $T t = (x - 3.0_T) / (x + 3.0_T);
    return $p.erfcx(t);
}

$T tx_erf_$T($T x) {
    $T a = $m.fabs(x);
    $T z = x * x;
    $T small = x + x * $p.erf(z);
    $T b = a > 6.0_T ? 6.0_T : a;
    $T large = 1.0_T - tx_expk_$T(tx_erfcx_$T(b), -b * b, 0.0_T, 0);
    return a < 1.0_T ? small : $m.copysign(large, x);
}

// The square is split so that its rounding does not enter the exponential; the scale keeps denormal results at one rounding.
$T tx_erfc_$T($T x) {
    $T a = $m.fabs(x);
    $T z = x * x;
    $T small = (1.0_T - x) - x * $p.erf(z);
    $T b = a > $c.erfc_max ? $c.erfc_max : a;
    $T h = tx_bits_$U_$T((tx_bits_$T_$U(b) + $c.half_round) & $c.half_mask);
    $T large = tx_expk_$T(tx_erfcx_$T(b), -h * h, (h - b) * (h + b), 0);
    large = x < 0 ? 2.0_T - large : large;
    return a < 1.0_T ? small : large;
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

//@ c | f32
// x * 2 / pi modulo 4 in integers (Payne and Hanek, "Radian reduction for trigonometric functions", 1983): the 24-bit
// significand times the 96 bits of 2 / pi that matter for the exponent of x. The result is the fraction of a full turn,
// times 2**64. Right for every finite |x| >= 0.5.
static const u32 tx_two_over_pi[8] = {
    0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
u64 tx_turns_f32(f32 x) {
    u32 b = tx_bits_f32_u32(x);
    u32 m = (b & 0x7fffffu) | 0x800000u;
    u32 p = (((b >> 23) & 0xffu) - 120u) & 0xffu;
    u32 i = (p >> 5) & 3u;
    i = p >= 128u ? 4u : i;
    u32 s = p & 31u;
    u32 w0 = tx_two_over_pi[i], w1 = tx_two_over_pi[i + 1u], w2 = tx_two_over_pi[i + 2u], w3 = tx_two_over_pi[i + 3u];
    w0 = (w0 << s) | ((w1 >> 1) >> (31u - s));
    w1 = (w1 << s) | ((w2 >> 1) >> (31u - s));
    w2 = (w2 << s) | ((w3 >> 1) >> (31u - s));
    u64 lo = (u64)m * (u64)w1 + (((u64)m * (u64)w2) >> 32);
    return ((u64)(m * w0) << 32) + lo;
}

// The distance of |x| to the nearest multiple of pi / 2, from the fraction of a turn relative to the nearest quarter.
// Its 64 bits become a float in three pieces because its leading bits may cancel.
f32 tx_quarter_f32(f32 a, u64 turns) {
    i64 d = (i64)(turns << 2) >> 2;
    i32 high = (i32)(d >> 32);
    f32 h = (f32)high;
    f32 l = (f32)(high - (i32)h) * 4294967296.0f + (f32)(i32)((u32)d >> 1) * 2.0f;
    h = h * 4294967296.0f;
    f32 r = TX_FMA_f32(h, 3.4061215800e-19f, TX_FMA_f32(h, -9.4786344e-27f, l * 3.4061215800e-19f));
    return a < 0.785f ? a : r;
}

// The quadrant (0 to 3) of |x|: the number of quarter turns rounded to the nearest.
u32 tx_quadrant_f32(f32 a, u64 turns) {
    u32 j = ((u32)(turns >> 32) + 0x20000000u) >> 30;
    return a < 0.785f ? 0u : j;
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
    u64 turns = tx_turns_f32(a);
    u32 j = tx_quadrant_f32(a, turns);
    f32 r = tx_quarter_f32(a, turns);
    f32 y = (j & 1u) ? tx_cospoly_f32(r) : tx_sinpoly_f32(r);
    u32 sign = (tx_bits_f32_u32(x) & 0x80000000u) ^ ((j & 2u) << 30);
    y = tx_bits_u32_f32(tx_bits_f32_u32(y) ^ sign);
    return a < $INF ? y : $NAN;
}

f32 tx_cos_f32(f32 x) {
    f32 a = $m.fabs(x);
    u64 turns = tx_turns_f32(a);
    u32 j = tx_quadrant_f32(a, turns);
    f32 r = tx_quarter_f32(a, turns);
    f32 y = (j & 1u) ? tx_sinpoly_f32(r) : tx_cospoly_f32(r);
    y = tx_bits_u32_f32(tx_bits_f32_u32(y) ^ (((j + 1u) & 2u) << 30));
    return a < $INF ? y : $NAN;
}

f32 tx_tan_f32(f32 x) {
    f32 a = $m.fabs(x);
    u64 turns = tx_turns_f32(a);
    u32 j = tx_quadrant_f32(a, turns);
    f32 r = tx_quarter_f32(a, turns);
    f32 z = r * r;
    f32 t = r + r * (z * $p.tan(z));
    f32 y = (j & 1u) ? -1.0f / t : t;
    y = tx_bits_u32_f32(tx_bits_f32_u32(y) ^ (tx_bits_f32_u32(x) & 0x80000000u));
    return a < $INF ? y : $NAN;
}

// asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) above 1/2.
f32 tx_asin_f32(f32 x) {
    f32 a = $m.fabs(x);
    b8 large = a > 0.5f;
    f32 z = large ? 0.5f * (1.0f - a) : a * a;
    f32 s = large ? $m.sqrt(z) : a;
    f32 p = s + s * (z * $p.asin(z));
    f32 y = large ? 1.57079637f - (2.0f * p + 4.37113883e-8f) : p;
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
