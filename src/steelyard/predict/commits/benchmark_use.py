"""What a benchmark does in a program: how often each function is called, and what it executes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.predict.commits.program_code import ProgramCode, plain_name


@dataclass(frozen=True)
class BenchmarkUse:
    """A benchmark on a known version.

    Parameters
    ----------
    benchmark : str
    instructions : mapping of str to float
        By function, its own: callees are not in it. Samples may stand for them.
    calls : mapping of str to float
        How often each function was called; empty where nobody counted.
    events : mapping of str to float
        By function, of an event such as cache misses; empty where nobody counted.
    outside : float
        Instructions in other files.
    at_addresses : mapping of int to float
        Executions of each instruction by its address; empty where nobody counted.
    """

    benchmark: str
    instructions: Mapping[str, float]
    calls: Mapping[str, float] = field(default_factory=dict[str, float])
    events: Mapping[str, float] = field(default_factory=dict[str, float])
    outside: float = 0.0
    at_addresses: Mapping[int, float] = field(default_factory=dict[int, float])


@dataclass(frozen=True)
class ReachedFunctions:
    """The same by the places of a program's functions.

    Parameters
    ----------
    instructions, calls, events : mapping of int to float
    total : float
        All instructions, those in other files too.
    unknown_ratio : float
        Share of the instructions in this file whose function the program has not.
    at_addresses : mapping of int to float
        Executions of each instruction of this file.
    """

    instructions: Mapping[int, float]
    calls: Mapping[int, float]
    events: Mapping[int, float]
    total: float
    unknown_ratio: float
    at_addresses: Mapping[int, float] = field(default_factory=dict[int, float])

    def share(self, function: int) -> float:
        """The share of all instructions that a function has itself."""
        return self.instructions.get(function, 0.0) / self.total if self.total else 0.0


def reach(use: BenchmarkUse, code: ProgramCode) -> ReachedFunctions:
    """Find the functions of a benchmark in the program that it was seen in."""
    plain: dict[str, list[int]] = {}
    for place, name in enumerate(code.names):
        if name:
            plain.setdefault(plain_name(name), []).append(place)
    instructions, lost = _by_place(use.instructions, code, plain)
    calls, _ = _by_place(use.calls, code, plain)
    events, _ = _by_place(use.events, code, plain)
    inside = sum(use.instructions.values())
    unknown = lost / inside if inside else 0.0
    total = inside + use.outside
    return ReachedFunctions(instructions, calls, events, total, unknown, use.at_addresses)


def _by_place(
    counts: Mapping[str, float], code: ProgramCode, plain: Mapping[str, list[int]]
) -> tuple[dict[int, float], float]:
    found: dict[int, float] = {}
    lost = 0.0
    for name, count in counts.items():
        places = code.places.get(name) or plain.get(plain_name(name))
        if not places:
            lost += count
            continue
        # Functions of one name cannot be held apart: each has all of it, so that none is missed.
        for place in places:
            found[place] = found.get(place, 0.0) + count
    return found, lost
