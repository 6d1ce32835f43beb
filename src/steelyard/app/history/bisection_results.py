"""A search for a revision: what is asked for, each test, and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from steelyard.analysis.bisection.posterior import Culprit
from steelyard.app.history.measured_revisions import RevisionCommands
from steelyard.core.estimate import Interval
from steelyard.repository.revisions import Commit

Stopped = Literal["confidence", "budget", "nothing-left"]
Outcome = Literal["with", "without", "broken"]


@dataclass(frozen=True)
class Search:
    """What is asked for.

    Parameters
    ----------
    good, bad : str
        Whole names of the ends: without the change, and with it.
    commits : tuple of Commit
        Those that `bad` has and `good` has not, ancestors first.
    commands : RevisionCommands
    confidence : float
        With which the revision is to be known.
    margin_ratio : float
        By which the ends have to differ at least.
    budget_s : float
        For all builds and runs of the tests together.
    weights : mapping of str to float
        How probable revisions are before any test, up to a factor; 1 where none is said.
    adopted : mapping of str to float
        Evidence that is known already, by revision.
    """

    good: str
    bad: str
    commits: tuple[Commit, ...]
    commands: RevisionCommands
    confidence: float = 0.99
    margin_ratio: float = 0.01
    budget_s: float = 600.0
    weights: Mapping[str, float] = field(default_factory=dict)
    adopted: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One test, as it is kept.

    Parameters
    ----------
    revision : str
    outcome : str
        What it seems to be: ``with`` the change, ``without`` it, or ``broken``.
    evidence : float
        The log-likelihood ratio of having the change; 0 for a broken one.
    run_count : int
    ratio : float or None
        Against the good end.
    spent_s, build_s : float
        Of all, and of the build in it.
    experiment : str
        The identifier; empty where nothing was run.
    """

    revision: str
    outcome: Outcome
    evidence: float
    run_count: int
    ratio: float | None
    spent_s: float
    build_s: float
    experiment: str


@dataclass(frozen=True)
class Bisected:
    """The answer.

    Parameters
    ----------
    search : Search
    ends : Interval
        The ratio of `bad` to `good`.
    steps : tuple of Step
    found : Culprit
    size : Interval or None
        The ratio of the revision to its first parent; None where that could not be run, and
        where it is not known surely enough to ask.
    stopped : str
        ``confidence``, ``budget``, or ``nothing-left`` where no test can say more.
    probabilities : mapping of str to float
        Of the most probable revisions, the most probable first.
    unit, metric : str
    """

    search: Search
    ends: Interval
    steps: tuple[Step, ...]
    found: Culprit
    size: Interval | None
    stopped: Stopped
    probabilities: Mapping[str, float]
    metric: str

    def commit(self, revision: str) -> Commit | None:
        """What git knows of one of the revisions searched."""
        return next((c for c in self.search.commits if c.revision == revision), None)
