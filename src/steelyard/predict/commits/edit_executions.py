"""How often a benchmark executes the instructions that differ between two versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.predict.commits.body_steps import StepEdits
from steelyard.predict.commits.indicator import Evidence


@dataclass(frozen=True)
class ExecutedEdits:
    """Executions by kind of edit; those of new instructions are estimated.

    Parameters
    ----------
    removed, added, altered : float
        Instructions that are gone, that are new, and that have other operands.
    """

    removed: float = 0.0
    added: float = 0.0
    altered: float = 0.0

    def __add__(self, other: ExecutedEdits) -> ExecutedEdits:
        return ExecutedEdits(
            self.removed + other.removed, self.added + other.added, self.altered + other.altered
        )


def edits_of_function(edits: StepEdits, counts: Mapping[int, float]) -> ExecutedEdits:
    """The edits of one function, by how often the old version executed each address.

    A new instruction counts as often as the more frequent of its neighbours.
    """
    return ExecutedEdits(
        sum(counts.get(address, 0.0) for address in edits.removed),
        sum(count * _reached(place, counts) for place, count in edits.added.items()),
        sum(counts.get(address, 0.0) for address in edits.altered),
    )


def _reached(place: tuple[int, int], counts: Mapping[int, float]) -> float:
    return max(counts.get(address, 0.0) for address in place)


def executed_edits(evidence: Evidence) -> ExecutedEdits:
    """All edits that a benchmark executes.

    Functions that are gone are removed whole. A function that is new is executed from its first to
    its last instruction, as often as the most frequent edit of a function that calls it.
    """
    change, reached = evidence.change, evidence.reached
    gone = sum(count for one, count in reached.instructions.items() if change.partner[one] < 0)
    total = ExecutedEdits(removed=gone)
    entered: dict[int, float] = {}
    for function, edits in (evidence.edits or {}).items():
        total += edits_of_function(edits, reached.at_addresses)
        most = max((_reached(place, reached.at_addresses) for place in edits.added), default=0.0)
        for callee in change.new.callees(change.partner[function]):
            if callee in change.added:
                entered[callee] = max(entered.get(callee, 0.0), most)
    return total + ExecutedEdits(added=_entered(evidence, entered))


def _entered(evidence: Evidence, entered: dict[int, float]) -> float:
    """The instructions of new functions, and of those that they call."""
    new = evidence.change.new
    waiting = list(entered)
    while waiting:
        function = waiting.pop()
        for callee in new.callees(function):
            if callee in evidence.change.added and callee not in entered:
                entered[callee] = entered[function]
                waiting.append(callee)
    return sum(count * new.instructions[function] for function, count in entered.items())


def percent_of(evidence: Evidence, count: float) -> float:
    """A number of instructions as a percentage of all that the benchmark executes, at most 100."""
    total = evidence.reached.total
    return min(100.0, 100 * count / total) if total else 0.0
