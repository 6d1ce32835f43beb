"""The profiles that are compared, and what was found: of pairs, of programs, of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from steelyard.core.estimate import Interval

Relation = Literal["agree", "caller-callee", "disagree"]
RELATIONS: tuple[Relation, ...] = ("agree", "caller-callee", "disagree")

Shares = Mapping[str, float]
Calls = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class ProgramProfiles:
    """What profilers said of one program.

    Parameters
    ----------
    name : str
        Of the program.
    setting : str
        What tells it from another build or runtime of the same program; may be empty.
    runs : mapping of profiler to its runs
        Each run as the share of each function.
    calls : frozenset of (caller, callee)
        By whichever profiler saw calls.
    """

    name: str
    setting: str
    runs: Mapping[str, Sequence[Shares]]
    calls: Calls


@dataclass(frozen=True)
class Hotness:
    """The share of the time that one profiler gives to one function."""

    function: str
    profiler: str
    share: Interval


@dataclass(frozen=True)
class Pair:
    """Two profilers, and whether they name the same function as the hottest.

    `stability` is the part of resampled runs in which their relation is this one; None where one of
    them has a single run, which says nothing of other runs.
    """

    first: str
    second: str
    relation: Relation
    stability: float | None


@dataclass(frozen=True)
class ProgramAgreement:
    """How far profilers agree about one program.

    Parameters
    ----------
    profiles : ProgramProfiles
    hottest : mapping of profiler to function
    unions : tuple of Interval
        Union_n for n from 1; Unbounded where a profiler has a single run.
    hotness : tuple of Hotness
        Every profiler's share of every function that is the hottest by one of them.
    pairs : tuple of Pair
    """

    profiles: ProgramProfiles
    hottest: Mapping[str, str]
    unions: tuple[Interval, ...]
    hotness: tuple[Hotness, ...]
    pairs: tuple[Pair, ...]

    def share(self, profiler: str, function: str) -> Interval:
        """HOTNESS of a function that is among the hottest."""
        return next(
            item.share
            for item in self.hotness
            if item.profiler == profiler and item.function == function
        )


@dataclass(frozen=True)
class PairTotal:
    """Two profilers over all programs that both saw.

    Parameters
    ----------
    first, second : str
    relations : mapping of Relation to int
        Of how many programs they stand to each other like this.
    distance : Interval
        By how much the shares that they give to one function lie apart: the mean of the two
        functions that they find the hottest, and of the programs. Between 0 and 1.
    """

    first: str
    second: str
    relations: Mapping[Relation, int]
    distance: Interval


@dataclass(frozen=True)
class Agreement:
    """How far profilers agree over several programs.

    `unions` is the mean of Union_n over programs, Unbounded where there is only one.
    """

    programs: tuple[ProgramAgreement, ...]
    unions: tuple[Interval, ...]
    relations: Mapping[Relation, int]
    pairs: tuple[PairTotal, ...]
