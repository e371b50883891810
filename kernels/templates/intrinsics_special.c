// Special functions, the same text in every dialect. $k.name(s) is a Chebyshev series of kernels/chebyshev.py.
// tests/kernels/test_special_functions.py measures every function.

//@ c opencl cuda | f32 f64
// exp(x * x): the square's rounding error must not enter the exponential.
$T tx_expsquare_$T($T x) {
    $T h = tx_bits_$U_$T(tx_bits_$T_$U(x) & $c.half_mask);
    return tx_exp_$T(h * h) * tx_exp_$T((x - h) * (x + h));
}

// exp(x * x) erfc(x): the polynomials of erfc, beyond their range the asymptotic series (DLMF 7.12.1).
$T tx_erfcx_$T($T x) {
    $T a = $m.fabs(x);
    $T r;
    if (a < 0.75_T) {
        r = tx_exp_$T(a * a) * ((1.0_T - a) - a * $p.erf(a * a));
    } else if (a < $c.erfc_max) {
        r = (1.0_T + $p.erfc((a - 3.0_T) / (a + 3.0_T))) / (2.0_T * a + 1.0_T);
    } else {
        $T z = 1.0_T / a / a;
        r = 0.56418958354775628695_T / a * (1.0_T - z * (0.5_T - z * (0.75_T - z * (1.875_T - z * (6.5625_T - z * (29.53125_T - z * 162.421875_T))))));
    }
    if (x < -30.0_T) return $INF;
    return x < 0 ? 2.0_T * tx_expsquare_$T(x) - r : r;
}

$T tx_erfinv_$T($T x) {
    $T w = -tx_log_$T((1.0_T - x) * (1.0_T + x));
    $T r;
    if (w <= 6.25_T) {
        r = $k.erfinv_mid(w * 0.32_T - 1.0_T);
    } else {
        $T q = $m.sqrt(w);
        r = q < 4.0_T ? $k.erfinv_far((q - 3.25_T) / 0.75_T) : $k.erfinv_end((q - 5.125_T) / 1.125_T);
    }
    return $m.fabs(x) == 1.0_T ? x * $INF : x * r;
}

// The quantile of the normal distribution: from erfinv in the middle, in the tails by t = sqrt(-2 log p).
$T tx_ndtri_$T($T p) {
    if (p == 0) return -$INF;
    if (p == 1.0_T) return $INF;
    if (!(p > 0) || !(p < 1.0_T)) return $NAN;
    $T q = p < 0.5_T ? p : 1.0_T - p;
    if (q > 0.1_T) return 1.41421356237309504880_T * tx_erfinv_$T(2.0_T * p - 1.0_T);
    $T t = $m.sqrt(-2.0_T * tx_log_$T(q));
    $T r;
    if (t < 4.5_T) r = $k.ndtri_near((t - 3.3125_T) / 1.1875_T);
    else if (t < 13.0_T) r = $k.ndtri_far((t - 8.75_T) / 4.25_T);
    else r = $k.ndtri_end((t - 26.0_T) / 13.0_T);
    return p < 0.5_T ? -t * r : t * r;
}

// Modified Bessel functions; the scaled ones first, since the others overflow. exp(a / 2) twice overflows no earlier than I0.
$T tx_i0e_$T($T x) {
    $T a = $m.fabs(x);
    return a < 8.0_T ? $k.i0_near(a * 0.25_T - 1.0_T) : $k.i0_far(16.0_T / a - 1.0_T) / $m.sqrt(a);
}

$T tx_i1e_$T($T x) {
    $T a = $m.fabs(x);
    $T r = a < 8.0_T ? a * $k.i1_near(a * 0.25_T - 1.0_T) : $k.i1_far(16.0_T / a - 1.0_T) / $m.sqrt(a);
    return x < 0 ? -r : r;
}

$T tx_i0_$T($T x) {
    $T e = tx_exp_$T(0.5_T * $m.fabs(x));
    return $m.fabs(x) == $INF ? $INF : e * tx_i0e_$T(x) * e;
}

$T tx_i1_$T($T x) {
    $T e = tx_exp_$T(0.5_T * $m.fabs(x));
    return $m.fabs(x) == $INF ? x : e * tx_i1e_$T(x) * e;
}

$T tx_k0e_$T($T x) {
    if (x == 0) return $INF;
    if (x < 0) return $NAN;
    if (x > 2.0_T) return $k.k0_far(4.0_T / x - 1.0_T) / $m.sqrt(x);
    return ($k.k0_near(0.5_T * x * x - 1.0_T) - tx_log_$T(0.5_T * x) * tx_i0_$T(x)) * tx_exp_$T(x);
}

$T tx_k1e_$T($T x) {
    if (x == 0) return $INF;
    if (x < 0) return $NAN;
    if (x > 2.0_T) return $k.k1_far(4.0_T / x - 1.0_T) / $m.sqrt(x);
    return ($k.k1_near(0.5_T * x * x - 1.0_T) / x + tx_log_$T(0.5_T * x) * tx_i1_$T(x)) * tx_exp_$T(x);
}

$T tx_k0_$T($T x) {
    if (x == 0) return $INF;
    if (x < 0) return $NAN;
    if (x > 2.0_T) return tx_exp_$T(-x) * ($k.k0_far(4.0_T / x - 1.0_T) / $m.sqrt(x));
    return $k.k0_near(0.5_T * x * x - 1.0_T) - tx_log_$T(0.5_T * x) * tx_i0_$T(x);
}

$T tx_k1_$T($T x) {
    if (x == 0) return $INF;
    if (x < 0) return $NAN;
    if (x > 2.0_T) return tx_exp_$T(-x) * ($k.k1_far(4.0_T / x - 1.0_T) / $m.sqrt(x));
    return $k.k1_near(0.5_T * x * x - 1.0_T) / x + tx_log_$T(0.5_T * x) * tx_i1_$T(x);
}

// Bessel functions: series up to 8, beyond it amplitude and phase (DLMF 10.17). The sine and cosine of the shifted phase are sums
// of those of x itself, so that the shift is not rounded.
$T tx_j0_$T($T x) {
    $T a = $m.fabs(x);
    if (a < 8.0_T) return $k.j0_near(a * a * 0.03125_T - 1.0_T);
    if (a == $INF) return 0.0_T;
    $T s = tx_sin_$T(a);
    $T c = tx_cos_$T(a);
    $T z = 1.0_T / a;
    $T u = 128.0_T * z * z - 1.0_T;
    return $m.sqrt(0.31830988618379067154_T * z) * ($k.p0(u) * (c + s) - z * $k.q0(u) * (s - c));
}

$T tx_j1_$T($T x) {
    $T a = $m.fabs(x);
    if (a < 8.0_T) return x * $k.j1_near(a * a * 0.03125_T - 1.0_T);
    if (a == $INF) return 0.0_T;
    $T s = tx_sin_$T(a);
    $T c = tx_cos_$T(a);
    $T z = 1.0_T / a;
    $T u = 128.0_T * z * z - 1.0_T;
    $T r = $m.sqrt(0.31830988618379067154_T * z) * ($k.p1(u) * (s - c) + z * $k.q1(u) * (s + c));
    return x < 0 ? -r : r;
}

$T tx_y0_$T($T x) {
    if (x == 0) return -$INF;
    if (x < 0) return $NAN;
    if (x < 8.0_T) return $k.y0_near(x * x * 0.03125_T - 1.0_T) + 0.63661977236758134308_T * tx_log_$T(x) * tx_j0_$T(x);
    if (x == $INF) return 0.0_T;
    $T s = tx_sin_$T(x);
    $T c = tx_cos_$T(x);
    $T z = 1.0_T / x;
    $T u = 128.0_T * z * z - 1.0_T;
    return $m.sqrt(0.31830988618379067154_T * z) * ($k.p0(u) * (s - c) + z * $k.q0(u) * (c + s));
}

$T tx_y1_$T($T x) {
    if (x == 0) return -$INF;
    if (x < 0) return $NAN;
    if (x < 8.0_T) return x * $k.y1_near(x * x * 0.03125_T - 1.0_T) + 0.63661977236758134308_T * (tx_log_$T(x) * tx_j1_$T(x) - 1.0_T / x);
    if (x == $INF) return 0.0_T;
    $T s = tx_sin_$T(x);
    $T c = tx_cos_$T(x);
    $T z = 1.0_T / x;
    $T u = 128.0_T * z * z - 1.0_T;
    return $m.sqrt(0.31830988618379067154_T * z) * (z * $k.q1(u) * (s - c) - $k.p1(u) * (s + c));
}

// Ai: series around 0, an exponential to the right, amplitude and phase to the left (DLMF 9.7).
$T tx_airy_ai_$T($T x) {
    $T a = $m.fabs(x);
    $T zeta = 0.66666666666666666667_T * a * $m.sqrt(a);
    if (x > 104.0_T) return 0.0_T;
    if (x > 2.0_T) return tx_exp_$T(-zeta) * (0.28209479177387814347_T * $k.airy_far(3.77358490566037735849_T / zeta - 1.0_T) / $m.sqrt($m.sqrt(a)));
    if (x >= 0) return $k.airy_right(x - 1.0_T);
    if (x > -4.0_T) return $k.airy_left(0.5_T * x + 1.0_T);
    if (!(a < $INF)) return $NAN;
    $T s = tx_sin_$T(zeta);
    $T c = tx_cos_$T(zeta);
    $T u = 50.0_T / zeta / zeta - 1.0_T;
    return 0.39894228040143267794_T * ($k.airy_p(u) * (s + c) - $k.airy_q(u) / zeta * (c - s)) / $m.sqrt($m.sqrt(a));
}

// Reflection for small arguments, recurrence up to 10, then the asymptotic series (DLMF 5.15.8).
$T tx_trigamma_$T($T x) {
    b8 reflect = x < 0.5_T;
    $T y = reflect ? 1.0_T - x : x;
    $T shift = 0.0_T;
    for (int k = 0; k < 10; k++) {
        shift = y < 10.0_T ? shift + 1.0_T / (y * y) : shift;
        y = y < 10.0_T ? y + 1.0_T : y;
    }
    $T z = 1.0_T / (y * y);
    $T t = 0.16666666666666666667_T - z * (3.33333333333333333333e-2_T - z * (2.38095238095238095238e-2_T - z * (3.33333333333333333333e-2_T
         - z * (7.57575757575757575758e-2_T - z * (2.53113553113553113553e-1_T - z * 1.16666666666666666667_T)))));
    $T r = shift + (1.0_T + 0.5_T / y + z * t) / y;
    if (!reflect) return r;
    $T f = x - $m.rint(x);
    $T s = tx_sin_$T(3.14159265358979323846_T * f);
    return f == 0 ? $INF : 9.86960440108935861883_T / (s * s) - r;
}

// Hurwitz zeta by Euler and Maclaurin's formula (DLMF 25.11.5); a whole s also for negative q.
$T tx_zeta_$T($T s, $T q) {
    if (s == 1.0_T) return $INF;
    if (!(s > 1.0_T)) return $NAN;
    if (q <= 0) {
        if (q == $m.floor(q)) return $INF;
        if (s != $m.floor(s)) return $NAN;
    }
    if (q > 1.0e8_T) return (1.0_T / (s - 1.0_T) + 0.5_T / q) * tx_pow_$T(q, 1.0_T - s);
    $T a = q;
    $T sum = 0.0_T;
    int count = a < 0 ? (int)(-a) + 11 : 11;
    for (int k = 0; k < count; k++) {
        if (k >= 10 && a > 9.0_T) break;
        sum = sum + tx_pow_$T(a, -s);
        a = a + 1.0_T;
    }
    $T b = tx_pow_$T(a, -s);
    sum = sum + b * (a / (s - 1.0_T) + 0.5_T);
    $T z = 1.0_T / (a * a);
    $T t = b * s / a;
    sum = sum + t * 8.33333333333333333333e-2_T;
    t = t * z * (s + 1.0_T) * (s + 2.0_T);
    sum = sum - t * 1.38888888888888888889e-3_T;
    t = t * z * (s + 3.0_T) * (s + 4.0_T);
    sum = sum + t * 3.30687830687830687831e-5_T;
    t = t * z * (s + 5.0_T) * (s + 6.0_T);
    sum = sum - t * 8.26719576719576719577e-7_T;
    t = t * z * (s + 7.0_T) * (s + 8.0_T);
    sum = sum + t * 2.08767569878680989792e-8_T;
    t = t * z * (s + 9.0_T) * (s + 10.0_T);
    sum = sum - t * 5.28419013868749318485e-10_T;
    t = t * z * (s + 11.0_T) * (s + 12.0_T);
    return sum + t * 1.33825365306846788328e-11_T;
}

// x^a exp(-x) / Gamma(a): for large a with Stirling's series, so that no large logarithms cancel.
$T tx_gammaterm_$T($T a, $T x) {
    if (a < 10.0_T) return tx_exp_$T(a * tx_log_$T(x) - x - tx_lgamma_$T(a));
    $T m = (x - a) / a;
    $T z = 1.0_T / (a * a);
    $T stirling = (8.33333333333333333333e-2_T - z * (2.77777777777777777778e-3_T - z * (7.93650793650793650794e-4_T - z * (5.95238095238095238095e-4_T
        - z * (8.41750841750841750842e-4_T - z * (1.91752691752691752692e-3_T - z * 6.41025641025641025641e-3_T)))))) / a;
    return $m.sqrt(a * 0.15915494309189533577_T) * tx_exp_$T(a * (tx_log1p_$T(m) - m) - stirling);
}

// P(a, x) by its series (DLMF 8.7.1), for x < a + 1.
$T tx_gammaseries_$T($T a, $T x) {
    $T term = 1.0_T / a;
    $T sum = term;
    for (int k = 1; k < 5000; k++) {
        term = term * (x / (a + ($T)k));
        sum = sum + term;
        if (term < sum * $c.epsilon) break;
    }
    return sum * tx_gammaterm_$T(a, x);
}

// Q(a, x) by its continued fraction (DLMF 8.9.2), by Lentz's method, for x > a + 1.
$T tx_gammafraction_$T($T a, $T x) {
    $T b = x + 1.0_T - a;
    $T c = 1.0_T / $c.min_normal;
    $T d = 1.0_T / b;
    $T h = d;
    for (int k = 1; k < 5000; k++) {
        $T n = -($T)k * (($T)k - a);
        b = b + 2.0_T;
        d = 1.0_T / (n * d + b);
        c = b + n / c;
        $T step = c * d;
        h = h * step;
        if ($m.fabs(step - 1.0_T) < $c.epsilon) break;
    }
    return h * tx_gammaterm_$T(a, x);
}

// Q(a, x) for small x, where 1 - P would cancel (DLMF 8.7.3).
$T tx_gammasmall_$T($T a, $T x) {
    $T term = 1.0_T;
    $T sum = 0.0_T;
    for (int k = 1; k < 60; k++) {
        term = term * (-x / ($T)k);
        sum = sum + term / (a + ($T)k);
        if ($m.fabs(term) < $c.epsilon) break;
    }
    $T l = a * tx_log_$T(x) - tx_lgamma_$T(1.0_T + a);
    return -tx_expm1_$T(l) - a * tx_exp_$T(l) * sum;
}

$T tx_igamma_$T($T a, $T x) {
    if (!(a >= 0) || !(x >= 0)) return $NAN;
    if (a == 0) return x > 0 ? 1.0_T : $NAN;
    if (x == 0) return 0.0_T;
    if (a == $INF) return x == $INF ? $NAN : 0.0_T;
    if (x == $INF) return 1.0_T;
    return x < a + 1.0_T ? tx_gammaseries_$T(a, x) : 1.0_T - tx_gammafraction_$T(a, x);
}

$T tx_igammac_$T($T a, $T x) {
    if (!(a >= 0) || !(x >= 0)) return $NAN;
    if (a == 0) return x > 0 ? 0.0_T : $NAN;
    if (x == 0) return 1.0_T;
    if (a == $INF) return x == $INF ? $NAN : 1.0_T;
    if (x == $INF) return 0.0_T;
    if (x < 1.1_T && x < a + 1.0_T && a < 1.5_T) return tx_gammasmall_$T(a, x);
    return x < a + 1.0_T ? 1.0_T - tx_gammaseries_$T(a, x) : tx_gammafraction_$T(a, x);
}

// x = frexpm * 2^frexpe with 1/2 <= |frexpm| < 1; what is not finite, and 0, is its own mantissa.
$T tx_frexpm_$T($T x) {
    $T y = $m.fabs(x) < $c.min_normal ? x * $c.denormal_scale : x;
    $U i = tx_bits_$T_$U(y);
    $U e = (i >> $c.mant) & ($U)(2u * $c.bias + 1u);
    $T r = tx_bits_$U_$T(i - ((e - ($U)($c.bias - 1u)) << $c.mant));
    return (x == 0 || !($m.fabs(x) < $INF)) ? x : r;
}

$T tx_frexpe_$T($T x) {
    b8 tiny = $m.fabs(x) < $c.min_normal;
    $T y = tiny ? x * $c.denormal_scale : x;
    $S e = ($S)((tx_bits_$T_$U(y) >> $c.mant) & ($U)(2u * $c.bias + 1u)) - ($S)($c.bias - 1u);
    $T r = ($T)e - (tiny ? $c.denormal_shift : 0.0_T);
    return (x == 0 || !($m.fabs(x) < $INF)) ? 0.0_T : r;
}

//@ c opencl cuda | i8 i16 i32 i64
$T tx_gcd_$T($T a, $T b) {
    while (b != 0) {
        $T t = b == -1 ? ($T)0 : ($T)(a % b);
        a = b;
        b = t;
    }
    return a < 0 ? ($T)(-a) : a;
}

//@ c opencl cuda | u8 u16 u32 u64
$T tx_gcd_$T($T a, $T b) {
    while (b != 0) {
        $T t = ($T)(a % b);
        a = b;
        b = t;
    }
    return a;
}
