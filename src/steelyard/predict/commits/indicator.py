"""What an indicator is: a number that is higher the more probably a benchmark's time changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from steelyard.predict.commits.benchmark_use import ReachedFunctions
from steelyard.predict.commits.body_steps import StepEdits
from steelyard.predict.commits.code_change import CodeChange

Needs = Literal["programs", "instructions", "calls", "events", "addresses", "history"]


@dataclass(frozen=True)
class WrittenIn:
    """Which function of the sources the instructions of edits are of, as far as it is known.

    Parameters
    ----------
    old, new : mapping of int to str
        Names by address: where a function was inlined, that one.
    readable : callable
        A linker's name as programmers write it.
    """

    old: Mapping[int, str]
    new: Mapping[int, str]
    readable: Callable[[str], str] = str


@dataclass(frozen=True)
class Evidence:
    """What is known of one benchmark and one pair of versions.

    Parameters
    ----------
    change : CodeChange
    reached : ReachedFunctions
    changed_before : mapping of str to float
        For functions how often a change of theirs came with a change of time; empty: unknown.
    edits : mapping of int to StepEdits or None
        For changed functions that a benchmark reaches which of their instructions differ; None:
        unknown.
    written_in : WrittenIn or None
        None: nobody asked.
    """

    change: CodeChange
    reached: ReachedFunctions
    changed_before: Mapping[str, float] = field(default_factory=dict[str, float])
    edits: Mapping[int, StepEdits] | None = None
    written_in: WrittenIn | None = None

    def readable(self, name: str) -> str:
        """A linker's name as programmers write it, as far as that is known."""
        return name if self.written_in is None else self.written_in.readable(name)

    def knows(self, needs: Needs) -> bool:
        """Whether what an indicator needs is there."""
        if needs == "instructions":
            return bool(self.reached.instructions)
        if needs == "calls":
            return bool(self.reached.calls)
        if needs == "events":
            return bool(self.reached.events)
        if needs == "addresses":
            return self.edits is not None and bool(self.reached.at_addresses)
        return needs == "programs" or bool(self.changed_before)


@dataclass(frozen=True)
class Indicator:
    """An indicator.

    Parameters
    ----------
    name : str
    description : str
        One sentence.
    value : callable
        At least 0, and 0 where nothing that it sees has changed.
    needs : str
        What it is unknown without.
    elsewhere : bool
        Whether it counts functions that no benchmark reaches. Alone it is no reason to run one.
    origin : {"table 6.2", "beyond"}
        Whether Oliveira 2015, table 6.2, has it.
    """

    name: str
    description: str
    value: Callable[[Evidence], float]
    needs: Needs
    elsewhere: bool = False
    origin: Literal["table 6.2", "beyond"] = "beyond"

    def of(self, evidence: Evidence) -> float:
        """Its value; NaN where what it needs is not known."""
        return float(self.value(evidence)) if evidence.knows(self.needs) else float("nan")


def top_rank(counts: Mapping[int, float], functions: Iterable[int]) -> float:
    """The highest rank, from 0 to 100, that one of some functions has by a count.

    The rank of a function is the percentage of counted functions with no higher count; functions
    that are not counted have rank 0.
    """
    top = max((counts.get(function, 0.0) for function in functions), default=0.0)
    if top <= 0:
        return 0.0
    counted = [count for count in counts.values() if count > 0]
    return 100 * sum(count <= top for count in counted) / len(counted)


def share_of(reached: ReachedFunctions, functions: Iterable[int]) -> float:
    """The percentage of a benchmark's instructions in some functions."""
    return min(100.0, 100 * sum(reached.share(function) for function in functions))
