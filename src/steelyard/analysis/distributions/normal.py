"""The normal distribution's quantile, without the start-up cost of a scientific library."""

from __future__ import annotations

from math import log, sqrt

# M. J. Wichura, Algorithm AS 241: The percentage points of the normal distribution,
# Applied Statistics 37 (1988) 477-484, routine PPND16: about 1 part in 1e16.
_CENTRE_TOP = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
    45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
    133.14166789178437745, 3.387132872796366608,
)  # fmt: skip
_CENTRE_BOTTOM = (
    5226.495278852545925, 28729.085735721942674, 39307.89580009271061,
    21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
    42.313330701600911252, 1.0,
)  # fmt: skip
_TAIL_TOP = (
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
    1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
    4.6303378461565452959, 1.42343711074968357734,
)  # fmt: skip
_TAIL_BOTTOM = (
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
    0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
    2.05319162663775882187, 1.0,
)  # fmt: skip
_FAR_TOP = (
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
    0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358,
    5.4637849111641143699, 6.6579046435011037772,
)  # fmt: skip
_FAR_BOTTOM = (
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
    7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
    0.59983220655588793769, 1.0,
)  # fmt: skip


def _rational(top: tuple[float, ...], bottom: tuple[float, ...], at: float) -> float:
    numerator = denominator = 0.0
    for a, b in zip(top, bottom, strict=True):
        numerator = numerator * at + a
        denominator = denominator * at + b
    return numerator / denominator


def normal_quantile(p: float) -> float:
    """The value below which a standard normal variable lies with probability `p`.

    Parameters
    ----------
    p : float
        Between 0 and 1, both excluded.

    Notes
    -----
    Wichura's AS 241 (PPND16), relative accuracy about 1e-16.
    """
    centred = p - 0.5
    if abs(centred) <= 0.425:
        return centred * _rational(_CENTRE_TOP, _CENTRE_BOTTOM, 0.180625 - centred * centred)
    radius = sqrt(-log(min(p, 1.0 - p)))
    if radius <= 5.0:
        value = _rational(_TAIL_TOP, _TAIL_BOTTOM, radius - 1.6)
    else:
        value = _rational(_FAR_TOP, _FAR_BOTTOM, radius - 5.0)
    return value if centred > 0 else -value
