#!/usr/bin/env python3
"""Derives the polynomials of interpreter/runtime/math_coefficients.h and writes that file to standard output.

Each entry fits  sum c[i] z^i  to target(z) on [low, high], minimising the largest weight(z) * |error| by Lawson's
iteration (reweighted least squares) on a dense grid. Coefficients are rounded to the working precision one at a time, lowest first,
and the others are fitted again, so that the rounding of a low coefficient is absorbed by the higher ones.
Needs mpmath (faster with gmpy2).  Usage: minimax.py [NAME…] > math_coefficients.h
"""
import struct
import sys

import mpmath as mp

mp.mp.prec = 160


def to_f32(x):
    return mp.mpf(struct.unpack('f', struct.pack('f', float(x)))[0])


def to_f64(x):
    return mp.mpf(float(x))


def grid_on(low, high, count):
    """Chebyshev points: dense at the ends, where the error of a minimax polynomial oscillates fastest."""
    mid, half = (low + high) / 2, (high - low) / 2
    return [mid - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def solve(points, weights, values, fixed, degree):
    """Least squares over Chebyshev points for the coefficients after `fixed`; within a small factor of minimax.

    (Remez's exchange needs a Haar system, which z^k..z^n is not on an interval around 0.)
    """
    first, unknown = len(fixed), degree - len(fixed) + 1
    with mp.workprec(500):
        a, b = mp.matrix(unknown, unknown), mp.matrix(unknown, 1)
        moments = [mp.mpf(0)] * (2 * unknown - 1)
        for z, v, w in zip(points, values, weights):
            p = mp.mpf(0)
            for c in reversed(fixed):
                p = p * z + c
            power = (w * z**first) ** 2
            side = w * w * z**first * (v - p)
            for j in range(2 * unknown - 1):
                moments[j] += power
                power *= z
            for j in range(unknown):
                b[j] += side
                side *= z
        for i in range(unknown):
            for j in range(unknown):
                a[i, j] = moments[i + j]
        solution = mp.lu_solve(a, b)
        return [solution[j] for j in range(unknown)]


def largest_error(coefficients, points, weights, values):
    return max(abs((mp.polyval(coefficients[::-1], z) - v) * w) for z, v, w in zip(points, values, weights))


def fit(target, low, high, degree, weight, rounding, first_exact=()):
    low, high = mp.mpf(low), mp.mpf(high)
    points = grid_on(low, high, 24 * (degree + 2))
    values, weights = [target(z) for z in points], [abs(weight(z)) for z in points]
    fixed = [mp.mpf(c) for c in first_exact]
    # Lawson's iteration: raise the weight where the error is large, until the error is level.
    steer = [mp.mpf(1)] * len(points)
    for _ in range(12):
        trial = fixed + solve(points, [w * mp.sqrt(t) for w, t in zip(weights, steer)], values, fixed, degree)
        errors = [abs((mp.polyval(trial[::-1], z) - v) * w) for z, v, w in zip(points, values, weights)]
        steer = [t * (e / max(errors) + mp.mpf('0.02')) for t, e in zip(steer, errors)]
    weights_now = [w * mp.sqrt(t) for w, t in zip(weights, steer)]
    while len(fixed) <= degree:
        fixed.append(rounding(solve(points, weights_now, values, fixed, degree)[0]))
    return fixed, largest_error(fixed, points, weights, values)


def atanh_ratio(z):
    """atanh(s)/s with z = s*s."""
    if z < mp.mpf('1e-8'):
        return sum(z ** k / (2 * k + 1) for k in range(8))
    s = mp.sqrt(z)
    return mp.atanh(s) / s


def series_in_square(function, z, terms):
    """(function(x) - its first `terms` odd/even terms) needs care near 0: evaluated with more digits."""
    with mp.workprec(400):
        return function(mp.sqrt(z)) if z > 0 else function(mp.mpf(10) ** -30)


def in_square(function):
    return lambda z: series_in_square(function, z, 0)


half_log2 = mp.log(2) / 2 * mp.mpf('1.0005')
quarter_pi = mp.pi / 4 * mp.mpf('1.0001')
root_low, root_high = mp.sqrt(mp.mpf(1) / 2) * mp.mpf('0.9999') - 1, mp.sqrt(2) * mp.mpf('1.0001') - 1
log_z = mp.mpf('0.02945')   # s^2 for s = f/(2+f), f in [root_low, root_high]


def careful(f):
    """Evaluates f with enough digits that cancellation near a zero of the denominator is harmless."""
    def g(z):
        with mp.workprec(420):
            z = mp.mpf(z) if z != 0 else mp.mpf(10) ** -30
            return f(z)
    return g


def erfcx_in_t(k, shift):
    """exp(x^2) erfc(x) (1 + 2x) as a function of t = (x - k)/(x + k)."""
    def f(t):
        with mp.workprec(420):
            x = k * (1 + t) / (1 - t)
            return mp.exp(x * x) * mp.erfc(x) * (1 + 2 * x)
    return f


def erfinv(x):
    with mp.workprec(300):
        return mp.erfinv(x)


def erfinv_central(w):
    """erfinv(x)/x where w + 2.5 = -log(1 - x^2)."""
    with mp.workprec(300):
        w = w + mp.mpf('2.5')
        if w < mp.mpf('1e-12'):
            return mp.sqrt(mp.pi) / 2
        x = mp.sqrt(-mp.expm1(-w))
        return mp.erfinv(x) / x


def erfcinv_of(q):
    """y with erfc(y) = q, by Newton from the asymptotic value; q in (0, 1)."""
    y = mp.sqrt(-mp.log(q)) if q < mp.mpf('0.2') else mp.mpf('0.5')
    for _ in range(60):
        e = mp.erfc(y)
        step = (e - q) / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        step = step / (1 + y * step) if abs(y * step) < 0.5 else step / 2
        y += step
        if abs(step) < mp.mpf(10) ** -60:
            break
    return y


def erfinv_tail(u):
    """erfinv(x)/x as a function of u = sqrt(w), w = -log(1 - x^2)."""
    with mp.workprec(300):
        w = u * u
        q = mp.exp(-w)                      # 1 - x^2
        x = mp.sqrt(1 - q)
        return erfcinv_of(q / (1 + x)) / x


def stirling_rest(z):
    """x * (lgamma(x) - ((x - 1/2) log x - x + log(2 pi)/2)) with z = 1/x^2."""
    with mp.workprec(500):
        x = 1 / mp.sqrt(z) if z > 0 else mp.mpf(10) ** 12
        return x * (mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


one = lambda z: mp.mpf(1)

# name: (rounding, degree, low, high, target, weight[, leading coefficients kept exact], text)
table = {
    # exp(r) = 1 + r + r^2 q(r)
    'exp_f32': (to_f32, 4, -half_log2, half_log2, careful(lambda r: (mp.expm1(r) - r) / r**2), lambda r: r**2 / mp.exp(r),
                (), 'exp(r) = 1 + r + r^2 q(r)'),
    'exp_f64': (to_f64, 9, -half_log2, half_log2, careful(lambda r: (mp.expm1(r) - r) / r**2), lambda r: r**2 / mp.exp(r),
                (), 'exp(r) = 1 + r + r^2 q(r)'),
    # relative to expm1(r) ~ r, for the functions that need the digits near 0
    'expm1_f32': (to_f32, 5, -half_log2, half_log2, careful(lambda r: (mp.expm1(r) - r) / r**2), lambda r: r,
                  (), 'expm1(r) = r + r^2 q(r)'),
    'expm1_f64': (to_f64, 10, -half_log2, half_log2, careful(lambda r: (mp.expm1(r) - r) / r**2), lambda r: r,
                  (), 'expm1(r) = r + r^2 q(r)'),
    'exp2_f32': (to_f32, 5, -0.5005, 0.5005, careful(lambda r: (mp.mpf(2)**r - 1) / r), lambda r: r * mp.mpf(2)**-r,
                 (), '2^r = 1 + r q(r)'),
    'exp2_f64': (to_f64, 10, -0.5005, 0.5005, careful(lambda r: (mp.mpf(2)**r - 1) / r), lambda r: r * mp.mpf(2)**-r,
                 (), '2^r = 1 + r q(r)'),
    'exp2_f32_wide': (to_f64, 6, -0.5005, 0.5005, careful(lambda r: (mp.mpf(2)**r - 1) / r), lambda r: r * mp.mpf(2)**-r,
                      (), '2^r = 1 + r q(r), in f64 for f32 results'),
    # log(1+f) = f - f^2/2 + f^3 q(f)
    'log_f32': (to_f32, 7, root_low, root_high, careful(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3),
                lambda f: f**3 / mp.log1p(f), (), 'log(1+f) = f - f^2/2 + f^3 q(f)'),
    # log(1+f) = 2 atanh(s), s = f/(2+f): = f - f^2/2 + s (f^2/2 + R), R = z q(z), z = s^2
    'log_f64': (to_f64, 6, 0, log_z, careful(lambda z: 2 * (atanh_ratio(z) - 1) / z), lambda z: z / 2,
                (), 'R = z q(z) of log(1+f) = f - f^2/2 + s (f^2/2 + R)'),
    'log2_f32_wide': (to_f64, 4, 0, log_z, careful(lambda z: 2 * atanh_ratio(z) / mp.log(2)), lambda z: mp.mpf(1) / 2,
                      (), 'log2(1+f) = s q(z), in f64 for f32 results'),
    'log_tail_f64': (to_f64, 6, 0, log_z, careful(lambda z: (atanh_ratio(z) - 1 - z / 3) / z**2), lambda z: z**2,
                     (), 'atanh(s) = s (1 + z/3 + z^2 q(z))'),
    'sin_f64': (to_f64, 5, 0, quarter_pi**2, careful(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                (), 'sin(r) = r + r^3 q(r^2)'),
    'cos_f64': (to_f64, 5, 0, quarter_pi**2, careful(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2),
                lambda z: z**2 / mp.cos(mp.sqrt(z)), (), 'cos(r) = 1 - r^2/2 + r^4 q(r^2)'),
    'sin_f32_wide': (to_f64, 3, 0, quarter_pi**2, careful(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                     (), 'sin(r) = r + r^3 q(r^2), in f64 for f32 results'),
    'cos_f32_wide': (to_f64, 2, 0, quarter_pi**2, careful(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2),
                     lambda z: z**2 / mp.cos(mp.sqrt(z)), (), 'cos(r) = 1 - r^2/2 + r^4 q(r^2), in f64 for f32 results'),
    'atan_f32': (to_f32, 5, 0, 0.2505, careful(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                 (), 'atan(t) = t + t^3 q(t^2), |t| <= 1/2'),
    'atan_f64': (to_f64, 11, 0, 0.2505, careful(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                 (), 'atan(t) = t + t^3 q(t^2), |t| <= 1/2'),
    'atan_f32_wide': (to_f64, 6, 0, 0.2505, careful(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                 (), 'atan(t) = t + t^3 q(t^2), |t| <= 1/2, in f64 for f32 results'),
    'asin_f32': (to_f32, 5, 0, 0.2501, careful(lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                 (), 'asin(t) = t + t^3 q(t^2), |t| <= 1/2'),
    'asin_f64': (to_f64, 12, 0, 0.2501, careful(lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                 (), 'asin(t) = t + t^3 q(t^2), |t| <= 1/2'),
    'sinh_f32': (to_f32, 2, 0, half_log2**2, careful(lambda z: (mp.sinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                 (), 'sinh(r) = r + r^3 q(r^2)'),
    'cosh_f32': (to_f32, 2, 0, half_log2**2, careful(lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z), lambda z: z,
                 (), 'cosh(r) = 1 + r^2 q(r^2)'),
    'sinh_f64': (to_f64, 5, 0, half_log2**2, careful(lambda z: (mp.sinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                 (), 'sinh(r) = r + r^3 q(r^2)'),
    'cosh_f64': (to_f64, 5, 0, half_log2**2, careful(lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z), lambda z: z,
                 (), 'cosh(r) = 1 + r^2 q(r^2)'),
    'tanh_f32': (to_f32, 6, 0, mp.mpf('0.907')**2, careful(lambda z: (mp.tanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z), lambda z: z,
                 (), 'tanh(x) = x + x^3 q(x^2), |x| < 0.906'),
    'exp_double_f32': (to_f32, 5, -half_log2 / 2, half_log2 / 2, careful(lambda r: mp.expm1(2 * r) / r),
                       lambda r: r / (1 + mp.exp(2 * r)), (), 'exp(2r) = 1 + r q(r), relative to exp(2r) + 1'),
    'cbrt_f32': (to_f32, 3, -0.13, 0.13, careful(lambda d: ((1 + d)**(mp.mpf(-1) / 3) - 1) / d), lambda d: d,
                 (), '(1+d)^(-1/3) = 1 + d q(d)'),
    'cbrt_f64': (to_f64, 5, -0.13, 0.13, careful(lambda d: ((1 + d)**(mp.mpf(-1) / 3) - 1) / d), lambda d: d,
                 (), '(1+d)^(-1/3) = 1 + d q(d)'),
    'erf_f32': (to_f32, 6, 0, 1.0005, careful(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1), one,
                (), 'erf(x) = x + x q(x^2), |x| <= 1'),
    'erf_f64': (to_f64, 14, 0, 1.0005, careful(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1), one,
                (), 'erf(x) = x + x q(x^2), |x| <= 1'),
    'log_erfc_f32': (to_f32, 7, 0, 3.1, careful(lambda d: mp.log(mp.erfc(d + 1))), lambda d: mp.erfc(d + 1),
                     (), 'log(erfc(1+d)), 0 <= d <= 3'),
    'erfcx_f64': (to_f64, 24, -0.74, 1 - 1e-4, None, lambda t: mp.mpf(1) / 2,
                  (), 'exp(x^2) erfc(x) (1+2x), t = (x-k)/(x+k)'),
    'erfinv_central': (to_f64, 9, -2.5, 2.5, erfinv_central, one, (),
                       'erfinv(x)/x in w - 2.5, w = -log(1-x^2) < 5'),
    'erfinv_tail_f32': (to_f64, 9, -0.77, 1.05, lambda v: erfinv_tail(v + 3), one, (),
                        'erfinv(x)/x in sqrt(w) - 3, 5 <= w < 16'),
    'erfinv_tail_f64': (to_f64, 14, -0.77, 3.2, lambda v: erfinv_tail(v + 3), one, (),
                        'erfinv(x)/x in sqrt(w) - 3, 5 <= w < 38'),
    'lgamma_f64': (to_f64, 20, -0.5, 0.5, careful(lambda t: mp.loggamma(2 + t) / t), lambda t: mp.mpf(2), (),
                   'lgamma(2+t) = t q(t), |t| <= 1/2'),
    'stirling_f64': (to_f64, 7, 0, mp.mpf(1) / 64, stirling_rest, lambda z: mp.mpf(1) / 8, (),
                     'x (lgamma(x) - (x-1/2) log x + x - log(2 pi)/2) in 1/x^2, x >= 8'),
}
table['erfcx_f64'] = table['erfcx_f64'][:4] + (erfcx_in_t(mp.mpf(4), 0),) + table['erfcx_f64'][5:]


def main():
    names = sys.argv[1:] or list(table)
    print('// Minimax polynomials, lowest coefficient first. Written by tests/tools/minimax.py: change that, not this.')
    print('// "error" is the largest error of the polynomial alone, relative to the function unless the text says else.')
    print('#pragma once\n\nnamespace tercet::coefficient {\n')
    for name in names:
        rounding, degree, low, high, target, weight, exact, text = table[name]
        coefficients, worst = fit(target, low, high, degree, weight, rounding, exact)
        bits = mp.log(worst, 2)
        print(f'/// {text}; error 2^{mp.nstr(bits, 4)}.')
        body = ', '.join(float(c).hex() for c in coefficients)
        print(f'inline constexpr double {name}[] = {{{body}}};')
        sys.stdout.flush()
        print(name, mp.nstr(bits, 4), file=sys.stderr)
    print('\n}  // namespace tercet::coefficient')


if __name__ == '__main__':
    main()
