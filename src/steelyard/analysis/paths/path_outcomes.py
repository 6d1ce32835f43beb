"""Shares of call paths, and of calls, that a map resolves.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.7.1. His
'precise' is `resolved` here, and his 'incorrect' is `wrong`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

# The degrees of ambiguity that are counted: section 5.8.2 speaks of five.
CANDIDATE_LIMITS = (1, 2, 3, 5, 10)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Outcomes:
    """Shares of paths, or of calls, from 0 to 1.

    Parameters
    ----------
    resolved, ambiguous, wrong, missing : float
        One candidate, which is the path; several, with it; one or several without it; none. They
        add up to 1.
    most_frequent : float
        Right where the candidate that was learnt most often is taken.
    by_candidates : tuple of float
        For each of `CANDIDATE_LIMITS`: right with at most so many candidates.
    by_count : tuple of (int, float)
        Numbers of candidates that occur, rising, and the share that is right with each.
    by_code : float
        Part whose key was never learnt, and has its candidates by the program's code. It is also
        in the parts above.
    """

    resolved: float
    ambiguous: float
    wrong: float
    missing: float
    most_frequent: float
    by_candidates: tuple[float, ...]
    by_count: tuple[tuple[int, float], ...] = ()
    by_code: float = 0.0

    def most_candidates(self, share: float) -> int | None:
        """The least number that this share of what is right has at most; None: nothing is."""
        known = self.resolved + self.ambiguous
        reached = 0.0
        for count, part in self.by_count:
            reached += part
            # Sums of shares are not exact.
            if reached >= share * known * (1 - _ROUNDING):
                return count
        return None


@dataclass(frozen=True)
class ScenarioOutcomes:
    """What a map says of some runs.

    Parameters
    ----------
    path_count, key_count, call_count : int
        Of those runs: different paths, different keys (function, height), and entries.
    paths : Outcomes
        Each path counts the same; one with several heights counts for each in equal parts.
    calls : Outcomes
        Each entry of a function counts the same.
    """

    path_count: int
    key_count: int
    call_count: int
    paths: Outcomes
    calls: Outcomes


@dataclass(frozen=True)
class SampleCheck:
    """What a map says of samples.

    Parameters
    ----------
    sample_count : int
        Whose paths are known; `outcomes` is of these.
    outcomes : Outcomes
    keyless_count : int
        Samples without a key, such as those in libraries.
    unlearnt_count : int
        Samples whose key the learnt run did not have: another run takes other paths.
    """

    sample_count: int
    outcomes: Outcomes
    keyless_count: int
    unlearnt_count: int


class Tally:
    """Weights of outcomes."""

    def __init__(self) -> None:
        self._total = self._by_code = 0.0
        self._weights: defaultdict[str, float] = defaultdict(float)
        self._by_count: defaultdict[int, float] = defaultdict(float)

    def add(
        self, weight: float, found: Counter[int] | None, path: int, by_code: bool = False
    ) -> None:
        """Count one of such a weight, whose key has these candidates and which is this path."""
        self._total += weight
        self._by_code += weight * by_code
        for name in _outcome(found, path):
            self._weights[name] += weight
        if found is not None and path in found:
            self._by_count[len(found)] += weight

    def shares(self) -> Outcomes:
        """Parts of the whole weight."""
        found = self._weights
        total = self._total or 1.0
        limits = tuple(found[str(limit)] / total for limit in CANDIDATE_LIMITS)
        return Outcomes(
            resolved=found["resolved"] / total,
            ambiguous=found["ambiguous"] / total,
            wrong=found["wrong"] / total,
            missing=found["missing"] / total,
            most_frequent=found["most_frequent"] / total,
            by_candidates=limits,
            by_count=tuple(
                (count, self._by_count[count] / total) for count in sorted(self._by_count)
            ),
            by_code=self._by_code / total,
        )


def _outcome(found: Counter[int] | None, path: int) -> list[str]:
    """The outcomes of a key with these candidates, where this is its path."""
    if found is None:
        return ["missing"]
    if path not in found:
        return ["wrong"]
    names = ["resolved" if len(found) == 1 else "ambiguous"]
    if max(found, key=lambda other: (found[other], -other)) == path:
        names.append("most_frequent")
    return names + [str(limit) for limit in CANDIDATE_LIMITS if len(found) <= limit]
