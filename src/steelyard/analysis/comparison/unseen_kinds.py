"""Which kinds of run may be missing from a mean."""

from __future__ import annotations


def largest_unseen_share(count: int, confidence: float) -> float:
    """The largest share of a kind of run that `count` runs may all have missed.

    Parameters
    ----------
    count : int
        Independent runs, at least one.
    confidence : float
        Such as 0.95.

    Notes
    -----
    A kind that comes in a share p of runs is missing from all n with probability (1 - p)^n. The
    bound solves that for 1 - confidence: Clopper and Pearson, Biometrika 26 (1934) 404, for no
    event; about 3 / n at 95 %. No statistic of the runs that were made can say how long a kind
    takes that they missed, so that the interval of a mean is about the kinds that were seen.
    """
    return 1.0 - (1.0 - confidence) ** (1.0 / count)
