// Functions that the dialect's own library has. Notation: see kernels/intrinsics.py.

//@ c opencl cuda | f32 f64
// Mesa's library gives -inf for -inf.
$T tx_lgamma_$T($T x) { return x == -$INF ? $INF : $m.lgamma(x); }

//@ opencl cuda | f32 f64
$T tx_pow_$T($T a, $T b) { return $m.pow(a, b); }

$T tx_sin_$T($T x) { return $m.sin(x); }

$T tx_cos_$T($T x) { return $m.cos(x); }

$T tx_tan_$T($T x) { return $m.tan(x); }

$T tx_asin_$T($T x) { return $m.asin(x); }

$T tx_acos_$T($T x) { return $m.acos(x); }

$T tx_atan_$T($T x) { return $m.atan(x); }

$T tx_atan2_$T($T y, $T x) { return $m.atan2(y, x); }

$T tx_asinh_$T($T x) { return $m.asinh(x); }

$T tx_acosh_$T($T x) { return $m.acosh(x); }

$T tx_atanh_$T($T x) { return $m.atanh(x); }

$T tx_exp_$T($T x) { return $m.exp(x); }

$T tx_exp2_$T($T x) { return $m.exp2(x); }

$T tx_expm1_$T($T x) { return $m.expm1(x); }

$T tx_log_$T($T x) { return $m.log(x); }

$T tx_log2_$T($T x) { return $m.log2(x); }

$T tx_log10_$T($T x) { return $m.log10(x); }

$T tx_log1p_$T($T x) { return $m.log1p(x); }

$T tx_sinh_$T($T x) { return $m.sinh(x); }

$T tx_cosh_$T($T x) { return $m.cosh(x); }

$T tx_tanh_$T($T x) { return $m.tanh(x); }

$T tx_erf_$T($T x) { return $m.erf(x); }

$T tx_erfc_$T($T x) { return $m.erfc(x); }

$T tx_hypot_$T($T a, $T b) { return $m.hypot(a, b); }

$T tx_rsqrt_$T($T x) { return 1.0_T / $m.sqrt(x); }

//@ c | f64
$T tx_sin_$T($T x) { return $m.sin(x); }

$T tx_cos_$T($T x) { return $m.cos(x); }

$T tx_tan_$T($T x) { return $m.tan(x); }

$T tx_asin_$T($T x) { return $m.asin(x); }

$T tx_acos_$T($T x) { return $m.acos(x); }

$T tx_atan_$T($T x) { return $m.atan(x); }

$T tx_atan2_$T($T y, $T x) { return $m.atan2(y, x); }

$T tx_asinh_$T($T x) { return $m.asinh(x); }

$T tx_acosh_$T($T x) { return $m.acosh(x); }

$T tx_atanh_$T($T x) { return $m.atanh(x); }
