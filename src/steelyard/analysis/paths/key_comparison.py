"""Two profiles of one build by their keys: what differs, without the name of any path.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.6: a client may
only need to compare one context identifier with another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, Literal

import numpy as np

from steelyard.analysis.profiles.profile_samples import COUNTED, share_by
from steelyard.core.estimate import Estimate, Interval, Unbounded

if TYPE_CHECKING:
    from steelyard.analysis.profiles.profile_answer import ProfileAnswer

# A function and a height; or why a sample has none.
PlainKey = tuple[int, int] | str
Verdict = Literal["more", "less", "undecided"]
DIFFERENCE = "newcombe-bonferroni"


@dataclass(frozen=True)
class KeyedProfile:
    """A profile with the key of each of its samples."""

    answer: ProfileAnswer
    keys: Sequence[PlainKey]


@dataclass(frozen=True)
class KeyDifference:
    """One key in both profiles.

    Parameters
    ----------
    key : (int, int) or str
        The address of the function, and a height in bytes; or why the samples have no key.
    first_count, second_count : int
        Samples.
    first, second : Interval
        Shares of all samples of each profile.
    difference : Interval
        The second share minus the first.
    verdict : str
        ``"more"`` or ``"less"``: the interval of the difference is on one side of 0.
    """

    key: PlainKey
    first_count: int
    second_count: int
    first: Interval
    second: Interval
    difference: Interval
    verdict: Verdict


@dataclass(frozen=True)
class ComparedKeys:
    """Two profiles, and what differs between their keys.

    Parameters
    ----------
    program, build : str
    first, second : ProfileAnswer
        Of the samples without keys.
    functions : mapping of int to str
        Names by address.
    differences : tuple of KeyDifference
        The largest first.
    confidence : float
        With which the intervals of all differences hold together.
    """

    program: str
    build: str
    first: ProfileAnswer
    second: ProfileAnswer
    functions: dict[int, str]
    differences: tuple[KeyDifference, ...]
    confidence: float


def compared_keys(
    first: KeyedProfile, second: KeyedProfile, confidence: float = 0.95
) -> tuple[KeyDifference, ...]:
    """The differences between the shares of each key, the largest first; none without samples in
    both.

    Each share has its interval at the confidence 1 - (1 - c) / K of K keys, so that all K intervals
    of differences hold together with confidence c (Bonferroni). The interval of a difference is
    the one of R. Newcombe, *Statistics in Medicine* 17 (1998) 873, method 10. It assumes that the
    profiles are of runs that do not depend on each other.

    Parameters
    ----------
    first, second : KeyedProfile
        Of one build.
    confidence : float
        With which all intervals hold together.
    """
    keys = list(dict.fromkeys((*first.keys, *second.keys)))
    if not first.keys or not second.keys:
        return ()
    each = 1 - (1 - confidence) / len(keys)
    numbers = {key: number for number, key in enumerate(keys)}
    befores = _shares(first, numbers, each)
    afters = _shares(second, numbers, each)
    found = [
        _difference(key, before, after, confidence)
        for key, before, after in zip(keys, befores, afters, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.difference.estimate or 0.0)))


def _shares(
    profile: KeyedProfile, numbers: dict[PlainKey, int], confidence: float
) -> list[tuple[int, Interval]]:
    """Samples and share of each key; also of those that no sample has."""
    answer = profile.answer
    share_of = share_by(answer.samples, confidence, answer.recorded.unwatched_ratio)
    which = np.array([numbers[key] for key in profile.keys], np.int64)
    ends = np.cumsum(np.bincount(which, minlength=len(numbers)))[:-1]
    parts = np.split(np.argsort(which, kind="stable"), ends)
    return [(len(at), share_of(at)) for at in parts]


def _difference(
    key: PlainKey, before: tuple[int, Interval], after: tuple[int, Interval], confidence: float
) -> KeyDifference:
    (first_count, first), (second_count, second) = before, after
    difference = _of_shares(first, second, confidence)
    verdict: Verdict = "undecided"
    if isinstance(difference, Estimate) and difference.low > 0:
        verdict = "more"
    if isinstance(difference, Estimate) and difference.high < 0:
        verdict = "less"
    return KeyDifference(key, first_count, second_count, first, second, difference, verdict)


def _of_shares(first: Interval, second: Interval, confidence: float) -> Interval:
    change = (second.estimate or 0.0) - (first.estimate or 0.0)
    if isinstance(first, Unbounded):
        return Unbounded(change, confidence, DIFFERENCE, first.reason, first.explanation)
    if isinstance(second, Unbounded):
        return Unbounded(change, confidence, DIFFERENCE, second.reason, second.explanation)
    low = change - hypot(second.estimate - second.low, first.high - first.estimate)
    high = change + hypot(second.high - second.estimate, first.estimate - first.low)
    exact = first.method == second.method == COUNTED
    method = COUNTED if exact else DIFFERENCE
    return Estimate(change, max(-1.0, low), min(1.0, high), confidence, method)
