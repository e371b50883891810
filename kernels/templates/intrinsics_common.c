// Functions with the same text in every dialect. Notation: see kernels/intrinsics.py.

//@ c opencl cuda | i8 i16 i32 i64
// Integer arithmetic wraps; it is done on the unsigned type because C leaves signed overflow undefined.
$T tx_abs_$T($T x) { return x < 0 ? ($T)(0 - ($U)x) : x; }

$T tx_sign_$T($T x) { return ($T)((x > 0) - (x < 0)); }

// Division by zero gives 0, the most negative value / -1 wraps.
$T tx_truncdiv_$T($T a, $T b) {
    $T d = (b == 0 || b == -1) ? ($T)1 : b;
    $T q = ($T)(a / d);
    return b == 0 ? ($T)0 : b == -1 ? ($T)(0 - ($U)a) : q;
}

$T tx_fmod_$T($T a, $T b) {
    $T d = (b == 0 || b == -1) ? ($T)1 : b;
    return ($T)(a % d);
}

$T tx_floordiv_$T($T a, $T b) {
    $T q = tx_truncdiv_$T(a, b);
    $T r = tx_fmod_$T(a, b);
    return ($T)(q - (r != 0 && (r < 0) != (b < 0)));
}

// The result has the sign of the divisor.
$T tx_remainder_$T($T a, $T b) {
    $T r = tx_fmod_$T(a, b);
    return (r != 0 && (r < 0) != (b < 0)) ? ($T)(r + b) : r;
}

// A shift count outside 0 .. width - 1 shifts everything out.
$T tx_shl_$T($T a, $T n) {
    $T k = (n < 0 || n >= $BITS) ? ($T)0 : n;
    return k == n ? ($T)(($U)a << k) : ($T)0;
}

$T tx_shr_$T($T a, $T n) {
    $T k = (n < 0 || n >= $BITS) ? ($T)($BITS - 1) : n;
    return ($T)(a >> k);
}

// A negative exponent gives the truncated value: 1 and -1 keep theirs, all else is 0.
$T tx_pow_$T($T a, $T n) {
    $U r = 1;
    $U b = ($U)a;
    $U k = ($U)(n < 0 ? (n & 1) : n);
    while (k) {
        if (k & 1) r = ($U)(r * b);
        b = ($U)(b * b);
        k = ($U)(k >> 1);
    }
    return (n < 0 && a != 1 && a != -1) ? ($T)0 : ($T)r;
}

//@ c opencl cuda | u8 u16 u32 u64
$T tx_abs_$T($T x) { return x; }

$T tx_sign_$T($T x) { return ($T)(x > 0); }

$T tx_truncdiv_$T($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a / (b == 0 ? ($T)1 : b)); }

$T tx_fmod_$T($T a, $T b) { return b == 0 ? ($T)0 : ($T)(a % (b == 0 ? ($T)1 : b)); }

$T tx_floordiv_$T($T a, $T b) { return tx_truncdiv_$T(a, b); }

$T tx_remainder_$T($T a, $T b) { return tx_fmod_$T(a, b); }

$T tx_shl_$T($T a, $T n) { return n >= $BITS ? ($T)0 : ($T)(a << (n & ($BITS - 1))); }

$T tx_shr_$T($T a, $T n) { return n >= $BITS ? ($T)0 : ($T)(a >> (n & ($BITS - 1))); }

$T tx_pow_$T($T a, $T n) {
    $T r = 1;
    $T b = a;
    $T k = n;
    while (k) {
        if (k & 1) r = ($T)(r * b);
        b = ($T)(b * b);
        k = ($T)(k >> 1);
    }
    return r;
}

//@ c opencl cuda | b8 u8 u16 u32 u64 i8 i16 i32 i64
$T tx_max_$T($T a, $T b) { return tx_where_$T(a > b, a, b); }

$T tx_min_$T($T a, $T b) { return tx_where_$T(a < b, a, b); }

//@ c opencl cuda | u8 u16 u32 u64 i8 i16 i32 i64
$T tx_ipow_$T($T a, $T n) { return tx_pow_$T(a, n); }

//@ c opencl cuda | u32
u32 tx_mulhi_u32(u32 a, u32 b) { return (u32)(((u64)a * (u64)b) >> 32); }

//@ c opencl cuda | f32 f64
$T tx_muladd_$T($T a, $T b, $T c) { return a * b + c; }

// One rounding where the device does that in one instruction, two elsewhere.
$T tx_fma_$T($T a, $T b, $T c) { return TX_FMA_$T(a, b, c); }

$T tx_abs_$T($T x) { return $m.fabs(x); }

$T tx_copysign_$T($T a, $T b) { return $m.copysign(a, b); }

b8 tx_isnan_$T($T x) { return x != x; }

b8 tx_isinf_$T($T x) { return $m.fabs(x) == $INF; }

b8 tx_isfinite_$T($T x) { return $m.fabs(x) < $INF; }

b8 tx_signbit_$T($T x) { return tx_bits_$T_$S(x) < 0; }

// NaN gives 0, as in PyTorch.
$T tx_sign_$T($T x) { return ($T)((x > 0) - (x < 0)); }

// A NaN on either side wins: fmax and fmin would drop it.
$T tx_max_$T($T a, $T b) { return (a > b || a != a) ? a : b; }

$T tx_min_$T($T a, $T b) { return (a < b || a != a) ? a : b; }

$T tx_floor_$T($T x) { return $m.floor(x); }

$T tx_ceil_$T($T x) { return $m.ceil(x); }

$T tx_trunc_$T($T x) { return $m.trunc(x); }

// Ties to even; the C function round takes ties away from zero.
$T tx_round_$T($T x) { return $m.rint(x); }

$T tx_sqrt_$T($T x) { return $m.sqrt(x); }

$T tx_fmod_$T($T a, $T b) { return $m.fmod(a, b); }

// Has the sign of the divisor.
$T tx_remainder_$T($T a, $T b) {
    $T r = $m.fmod(a, b);
    return ((r != 0) & ((r < 0) != (b < 0))) ? r + b : r;
}

$T tx_truncdiv_$T($T a, $T b) { return $m.trunc(a / b); }

// Exact up to the last rounding: floor(a / b) alone is wrong where the quotient rounds up to an integer (1 // 0.1 is 9).
// The conditions are numbers: nested selections crash the vectoriser of Intel's OpenCL runtime 2025.
$T tx_floordiv_$T($T a, $T b) {
    $T r = $m.fmod(a, b);
    $T q = (a - r) / b - ($T)((r != 0) & ((r < 0) != (b < 0)));
    $T f = $m.floor(q);
    f = f + ($T)(q - f > 0.5_T);
    f = q != 0 ? f : $m.copysign(0.0_T, a / b);
    return b == 0 ? a / b : f;
}

// An integer power by repeated squaring.
$T tx_ipow_$T($T a, i32 n) {
    $T r = 1.0_T;
    $T b = a;
    u32 k = n < 0 ? 0u - (u32)n : (u32)n;
    while (k) {
        if (k & 1u) r = r * b;
        b = b * b;
        k = k >> 1;
    }
    return n < 0 ? 1.0_T / r : r;
}

// The exponential never overflows, so that small results keep their relative accuracy.
$T tx_sigmoid_$T($T x) {
    $T e = tx_exp_$T(-$m.fabs(x));
    return (x < 0 ? e : 1.0_T) / (1.0_T + e);
}

// Digamma: reflection for negative arguments, recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.18).
$T tx_digamma_$T($T x) {
    $T shift = 0.0_T;
    $T y = x;
    b8 reflect = x < 0;
    $T f = x - $m.rint(x);
    y = reflect ? 1.0_T - x : y;
    for (int k = 0; k < 10; k++) {
        shift = y < 10.0_T ? shift - 1.0_T / y : shift;
        y = y < 10.0_T ? y + 1.0_T : y;
    }
    $T z = 1.0_T / (y * y);
    $T s = z * (8.33333333333333333333e-2_T + z * (-8.33333333333333333333e-3_T + z * (3.96825396825396825397e-3_T
         + z * (-4.16666666666666666667e-3_T + z * (7.57575757575757575758e-3_T + z * (-2.10927960927960927961e-2_T + z * 8.33333333333333333333e-2_T))))));
    $T r = tx_log_$T(y) - 0.5_T / y - s + shift;
    $T c = 3.14159265358979323846_T / tx_tan_$T(3.14159265358979323846_T * f);
    r = reflect ? r - c : r;
    r = (reflect & (f == 0)) ? $NAN : r;
    r = x == 0 ? $m.copysign($INF, -x) : r;
    return x == $INF ? x : r;
}
