// Orthogonal polynomials of degree n (truncated to a whole number; 0 for a negative one), by their recurrences (DLMF 18.9).
// Chebyshev's of high degree are cosines where |x| < 1.

//@ c opencl cuda | f32 f64
b8 tx_iseven_$T($T n) { return $m.rint(0.5_T * n) * 2.0_T == n; }

$T tx_chebyshev_t_$T($T x, $T degree) {
    $T n = $m.trunc(degree);
    if (n < 0) return 0.0_T;
    if ($m.fabs(x) == 1.0_T) return (x > 0 || tx_iseven_$T(n)) ? 1.0_T : -1.0_T;
    if (n > 6.0_T && $m.fabs(x) < 1.0_T) return tx_cos_$T(n * tx_acos_$T(x));
    if (n == 0) return 1.0_T;
    $T p = 1.0_T;
    $T q = x;
    for ($T k = 2.0_T; k <= n && q == q; k = k + 1.0_T) {
        $T r = 2.0_T * x * q - p;
        p = q;
        q = r;
    }
    return q;
}

$T tx_chebyshev_u_$T($T x, $T degree) {
    $T n = $m.trunc(degree);
    if (n < 0) return 0.0_T;
    if ($m.fabs(x) == 1.0_T) return (x > 0 || tx_iseven_$T(n)) ? n + 1.0_T : -(n + 1.0_T);
    if (n > 8.0_T && $m.fabs(x) < 1.0_T) {
        $T a = tx_acos_$T(x);
        return tx_sin_$T((n + 1.0_T) * a) / tx_sin_$T(a);
    }
    if (n == 0) return 1.0_T;
    $T p = 1.0_T;
    $T q = 2.0_T * x;
    for ($T k = 2.0_T; k <= n && q == q; k = k + 1.0_T) {
        $T r = 2.0_T * x * q - p;
        p = q;
        q = r;
    }
    return q;
}

$T tx_chebyshev_v_$T($T x, $T degree) {
    $T n = $m.trunc(degree);
    if (n < 0) return 0.0_T;
    if (x == 1.0_T) return 1.0_T;
    if (x == -1.0_T) return tx_iseven_$T(n) ? 2.0_T * n + 1.0_T : -(2.0_T * n + 1.0_T);
    if (n > 8.0_T && $m.fabs(x) < 1.0_T) {
        $T a = tx_acos_$T(x);
        return tx_cos_$T((n + 0.5_T) * a) / tx_cos_$T(0.5_T * a);
    }
    if (n == 0) return 1.0_T;
    $T p = 1.0_T;
    $T q = 2.0_T * x - 1.0_T;
    for ($T k = 2.0_T; k <= n && q == q; k = k + 1.0_T) {
        $T r = 2.0_T * x * q - p;
        p = q;
        q = r;
    }
    return q;
}

$T tx_chebyshev_w_$T($T x, $T degree) {
    $T n = $m.trunc(degree);
    if (n < 0) return 0.0_T;
    if (x == 1.0_T) return 2.0_T * n + 1.0_T;
    if (x == -1.0_T) return tx_iseven_$T(n) ? 1.0_T : -1.0_T;
    if (n > 8.0_T && $m.fabs(x) < 1.0_T) {
        $T a = tx_acos_$T(x);
        return tx_sin_$T((n + 0.5_T) * a) / tx_sin_$T(0.5_T * a);
    }
    if (n == 0) return 1.0_T;
    $T p = 1.0_T;
    $T q = 2.0_T * x + 1.0_T;
    for ($T k = 2.0_T; k <= n && q == q; k = k + 1.0_T) {
        $T r = 2.0_T * x * q - p;
        p = q;
        q = r;
    }
    return q;
}

$T tx_hermite_h_$T($T x, $T degree) {
    $T n = $m.trunc(degree);
    if (n < 0) return 0.0_T;
    if (n == 0) return 1.0_T;
    $T p = 1.0_T;
    $T q = 2.0_T * x;
    for ($T k = 1.0_T; k < n && q == q; k = k + 1.0_T) {
        $T r = 2.0_T * (x * q - k * p);
        p = q;
        q = r;
    }
    return q;
}

$T tx_hermite_he_$T($T x, $T degree) {
    $T n = $m.trunc(degree);
    if (n < 0) return 0.0_T;
    if (n == 0) return 1.0_T;
    $T p = 1.0_T;
    $T q = x;
    for ($T k = 1.0_T; k < n && q == q; k = k + 1.0_T) {
        $T r = x * q - k * p;
        p = q;
        q = r;
    }
    return q;
}

$T tx_laguerre_$T($T x, $T degree) {
    $T n = $m.trunc(degree);
    if (n < 0) return 0.0_T;
    if (n == 0 || x == 0) return 1.0_T;
    $T p = 1.0_T;
    $T q = 1.0_T - x;
    for ($T k = 1.0_T; k < n && q == q; k = k + 1.0_T) {
        $T r = ((2.0_T * k + 1.0_T - x) * q - k * p) / (k + 1.0_T);
        p = q;
        q = r;
    }
    return q;
}

$T tx_legendre_$T($T x, $T degree) {
    $T n = $m.trunc(degree);
    if (n < 0) return 0.0_T;
    if ($m.fabs(x) == 1.0_T) return (x > 0 || tx_iseven_$T(n)) ? 1.0_T : -1.0_T;
    if (n == 0) return 1.0_T;
    $T p = 1.0_T;
    $T q = x;
    for ($T k = 1.0_T; k < n && q == q; k = k + 1.0_T) {
        $T r = ((2.0_T * k + 1.0_T) * x * q - k * p) / (k + 1.0_T);
        p = q;
        q = r;
    }
    return q;
}
