"""Student's t: its quantile, and the interval of a mean that is made with it."""

from __future__ import annotations

from functools import lru_cache
from math import cos, exp, expm1, gamma, log1p, pi, sin, sqrt

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.core.errors import AnalysisError

# Above this many degrees of freedom four terms of the Cornish-Fisher expansion are exact
# to 1e-13 up to p = 1 - 1e-6 (the fifth term, Abramowitz and Stegun 26.7.5, is below that).
_EXPANSION_FROM = 5000.0
_FRACTION_PRECISION = 1e-16
_FRACTION_TERMS = 2000
_POLISH_STEPS = 60


@lru_cache(maxsize=4096)
def student_quantile(p: float, degrees: float) -> float:
    """The value below which Student's t lies with probability `p`.

    Parameters
    ----------
    p : float
        Between 0 and 1, both excluded.
    degrees : float
        Degrees of freedom, at least 1; they need not be whole.

    Raises
    ------
    AnalysisError
        `p` or `degrees` is outside its range.

    Notes
    -----
    Start: G. W. Hill, Algorithm 396, Comm. ACM 13 (1970) 619. Polish: Halley's method on the
    incomplete beta function. From 5000 degrees: the Cornish-Fisher expansion. The reference
    tests hold it to 1e-12 relative for degrees 1 ... 1e6 and p 0.5 ... 1 - 1e-6.
    """
    if not 0.0 < p < 1.0 or not degrees >= 1.0:
        raise AnalysisError(f"Student's t has no quantile at p = {p} with {degrees} degrees.")
    if p < 0.5:
        return -student_quantile(1.0 - p, degrees)
    if p == 0.5:
        return 0.0
    if degrees >= _EXPANSION_FROM:
        return _cornish_fisher(normal_quantile(p), degrees)
    return _polish(p, degrees, _hill(2.0 * (1.0 - p), degrees))


def _cornish_fisher(z: float, degrees: float) -> float:
    """Abramowitz and Stegun 26.7.5: the quantile from the normal one, for many degrees."""
    s = z * z
    g1 = z * (s + 1) / 4
    g2 = z * ((5 * s + 16) * s + 3) / 96
    g3 = z * (((3 * s + 19) * s + 17) * s - 15) / 384
    g4 = z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160
    u = 1.0 / degrees
    return z + u * (g1 + u * (g2 + u * (g3 + u * g4)))


def _hill(two_tailed: float, degrees: float) -> float:
    """Hill's approximation of the quantile from the probability of both tails."""
    if degrees < 2.0:
        half = two_tailed * pi / 2
        return cos(half) / sin(half)
    a = 1.0 / (degrees - 0.5)
    b = 48.0 / (a * a)
    c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36
    d = ((94.5 / (b + c) - 3.0) / b + 1.0) * sqrt(a * pi / 2.0) * degrees
    y = (d * two_tailed) ** (2.0 / degrees)
    if y > 0.05 + a:
        x = normal_quantile(two_tailed / 2)
        y = x * x
        if degrees < 5:
            c += 0.3 * (degrees - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x
        return sqrt(degrees * expm1(a * y * y))
    near = 1.0 / (((degrees + 6.0) / (degrees * y) - 0.089 * d - 0.822) * (degrees + 2.0) * 3.0)
    y = ((near + 0.5 / (degrees + 4.0)) * y - 1.0) * (degrees + 1.0) / (degrees + 2.0) + 1.0 / y
    return sqrt(degrees * y)


def _polish(p: float, degrees: float, start: float) -> float:
    """Halley's method from `start` to the quantile."""
    constant = _gamma_ratio(degrees / 2) / sqrt(degrees * pi)
    t = start
    for _ in range(_POLISH_STEPS):
        density, excess = _density_and_excess(t, p, degrees, constant)
        step = excess / density
        curvature = -(degrees + 1.0) * t / (degrees + t * t)
        step /= max(0.5, 1.0 - 0.5 * step * curvature)
        t = t - step if step < t else t / 2
        if abs(step) < 1e-9 * t:
            # Halley's convergence is cubic: this step has left an error below 1e-16.
            break
    return t


def _density_and_excess(t: float, p: float, degrees: float, constant: float) -> tuple[float, float]:
    """The density at t > 0, and F(t) - p from whichever tail or centre loses no digits."""
    square = t * t
    density = constant * exp(-0.5 * (degrees + 1.0) * log1p(square / degrees))
    x = degrees / (degrees + square)
    # Where the continued fraction converges fast: Press et al., Numerical Recipes, 6.4.
    if x < (degrees + 2.0) / (degrees + 5.0):
        beyond = density * t / degrees * _beta_fraction(degrees / 2, 0.5, x)
        return density, (1.0 - p) - beyond
    between = density * t * _beta_fraction(0.5, degrees / 2, square / (degrees + square))
    return density, between - (p - 0.5)


def _gamma_ratio(a: float) -> float:
    """Gamma(a + 1/2) / Gamma(a)."""
    if a < 40:
        return gamma(a + 0.5) / gamma(a)
    # Abramowitz and Stegun 6.1.49; the first term left out is below 1e-14 from a = 40.
    u = 1.0 / a
    tail = 5 / 1024 + u * (-21 / 32768 + u * (-399 / 262144 + u * 869 / 4194304))
    return sqrt(a) * (1.0 + u * (-1 / 8 + u * (1 / 128 + u * tail)))


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8),
    summed by Lentz's method."""
    c = 1.0
    d = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    total = d
    for m in range(1, _FRACTION_TERMS):
        twice = a + 2 * m
        even = m * (b - m) * x / ((twice - 1.0) * twice)
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        total *= d * c
        odd = -(a + m) * (a + b + m) * x / (twice * (twice + 1.0))
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        step = d * c
        total *= step
        if abs(step - 1.0) < _FRACTION_PRECISION:
            break
    return total
