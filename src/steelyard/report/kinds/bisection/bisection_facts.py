"""What is told of a search for a revision: what its document and text read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from steelyard.core.estimate import Interval


@dataclass(frozen=True)
class TestTold:
    """One test: of which revision, what it said, by how many runs, and how long it took."""

    revision: str
    outcome: Literal["with", "without", "broken"]
    run_count: int
    ratio: float | None
    spent_s: float
    experiment: str


@dataclass(frozen=True)
class BisectionTold:
    """The answer.

    Parameters
    ----------
    repository, good, bad : str
    revisions_count : int
        Those that were searched.
    metric : str
    ends : Interval
        The ratio of `bad` to `good`.
    revision : str
        The most probable one.
    subject : str
    inseparable : sequence of (str, str)
        It and those that no test can tell from it, with their subjects.
    probability : float
        Of all `inseparable` together.
    size : Interval or None
    tests : sequence of TestTold
    probabilities : mapping of str to float
    stopped : str
    confidence : float
        That was asked for.
    """

    repository: str
    good: str
    bad: str
    revisions_count: int
    metric: str
    ends: Interval
    revision: str
    subject: str
    inseparable: Sequence[tuple[str, str]]
    probability: float
    size: Interval | None
    tests: Sequence[TestTold]
    probabilities: Mapping[str, float]
    stopped: Literal["confidence", "budget", "nothing-left"]
    confidence: float
