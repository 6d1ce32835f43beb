"""What a profile can say where a part of the program's time was not watched.

Where threads are watched and not CPUs, one that ends before it can be is missed, and each until it
is. Where CPUs are, the program may come to run on others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.core.estimate import Estimate, Interval, Unbounded

# Why a share has no bounds, and what stands in exports for time of which nothing is known.
UNWATCHED = "unwatched-threads"
NOT_WATCHED = "[not watched]"


def unwatched_ratio_of(summary: Mapping[str, Any], are_cpus_looked_at: bool) -> float | None:
    """The part of the program's time that was not watched; None: not known.

    Parameters
    ----------
    summary : mapping
        What the sampler says of itself; empty where it was cut off before it did.
    are_cpus_looked_at : bool
        Whether whole CPUs were looked at, where the summary does not say it.
    """
    scope = summary.get("scope")
    are_known = "program_ns" in summary and "watched_ns" in summary
    # Of whole CPUs it is told where the program may have run on others.
    if (scope == "cpus" and not are_known) or (scope is None and are_cpus_looked_at):
        return 0.0
    if not are_known:
        return None
    program_ns, watched_ns = summary["program_ns"], summary["watched_ns"]
    return max(0.0, 1 - watched_ns / program_ns) if program_ns else 0.0


def widened(share: Estimate, unwatched_ratio: float | None) -> Interval:
    """A share of the time that was watched as one of all the time.

    What was not watched may have been all in the function, or none of it: with the part u of the
    time unwatched a share s of the rest is between (1 - u) s and (1 - u) s + u of all. The estimate
    stays, as if that time had passed like the rest.

    Parameters
    ----------
    share : Estimate
    unwatched_ratio : float or None
        u, between 0 and 1; None: not known, which bounds nothing.
    """
    if unwatched_ratio is None:
        return Unbounded(
            share.estimate,
            share.confidence,
            share.method,
            UNWATCHED,
            "For a part of its time the program was not watched, and how long is not known. "
            "Record as root, or with CAP_PERFMON: watching whole CPUs misses nothing.",
        )
    if not unwatched_ratio:
        return share
    low = (1 - unwatched_ratio) * share.low
    high = (1 - unwatched_ratio) * share.high + unwatched_ratio
    return Estimate(
        share.estimate,
        min(low, share.estimate),
        max(min(high, 1.0), share.estimate),
        share.confidence,
        f"{share.method}-widened",
    )
