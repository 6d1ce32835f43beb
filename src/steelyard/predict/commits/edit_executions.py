"""How often a benchmark executes the instructions that differ between two versions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from steelyard.predict.commits.body_steps import NOWHERE, AddedRun, StepEdits
from steelyard.predict.commits.indicator import Evidence
from steelyard.predict.commits.program_code import FUNCTION

# Nobody has seen a new loop run. Branches back are taken in 88 % of the cases (Wu and Larus 1994,
# "Static branch frequency and program profile analysis", loop branch heuristic).
_ROUNDS = 1 / (1 - 0.88)


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


def edits_of_function(
    edits: StepEdits,
    counts: Mapping[int, float],
    times: Callable[[AddedRun, Mapping[int, float]], float] | None = None,
) -> ExecutedEdits:
    """The edits of one function, by how often the old version executed each address.

    `times` is how often new instructions are executed: `executions` unless told otherwise.
    """
    times = times or executions
    return ExecutedEdits(
        sum(counts.get(address, 0.0) for address in edits.removed),
        sum(run.count * times(run, counts) for run in edits.added),
        sum(counts.get(address, 0.0) for address in edits.altered),
    )


def executions(run: AddedRun, counts: Mapping[int, float]) -> float:
    """How often new instructions of one block are executed.

    As often as old ones of the same block. A block without any gets what its entries do not lead
    elsewhere (flow is conserved); that is at least one execution where an entry is executed.
    """
    if run.beside:
        return max(counts.get(address, 0.0) for address in run.beside)
    left = reached = 0.0
    for entry in run.entries:
        count = counts.get(entry.address, 0.0)
        elsewhere = 0.0 if entry.otherwise == NOWHERE else counts.get(entry.otherwise, 0.0)
        left += max(count - elsewhere, 0.0)
        reached += count
    return max(left, min(reached, 1.0))


def weight(run: AddedRun, counts: Mapping[int, float]) -> float:
    """How often new instructions of one block are executed, as closely as it can be told.

    Where several entries go on at one place if they do not lead to the block, what was executed
    there is taken from all of them together, and not from each, and from none where the block leads
    there too. A loop that is new runs as many
    rounds as loops do on average. Indicators count by `executions`, with which predictions were
    judged, and without that guess.
    """
    closer = 0.0
    entries = [(one.address, NOWHERE if one.rejoins else one.otherwise) for one in run.entries]
    for otherwise in {other for _, other in entries}:
        coming = sum(counts.get(address, 0.0) for address, other in entries if other == otherwise)
        elsewhere = 0.0 if otherwise == NOWHERE else counts.get(otherwise, 0.0)
        closer += max(coming - elsewhere, 0.0)
    return max(closer, executions(run, counts)) * rounds(run)


def rounds(run: AddedRun) -> float:
    """How often new instructions are executed each time that control comes to them."""
    return _ROUNDS if run.is_loop else 1.0


def executed_edits(evidence: Evidence) -> ExecutedEdits:
    """All edits that a benchmark executes.

    Functions that are gone are removed whole. A function that is new is executed from its first to
    its last instruction, as often as what calls it in a function that is not.
    """
    change, reached = evidence.change, evidence.reached
    new = change.new
    gone = sum(count for one, count in reached.instructions.items() if change.partner[one] < 0)
    total = ExecutedEdits(removed=gone)
    for edits in (evidence.edits or {}).values():
        total += edits_of_function(edits, reached.at_addresses)
    entered = entered_functions(evidence).items()
    return total + ExecutedEdits(added=sum(new.instructions[one] * count for one, count in entered))


def newly_called(evidence: Evidence) -> dict[int, float]:
    """Changed functions that edits lead to and the benchmark did not execute, and how often.

    That is what is left of a function that was inlined wherever it was called, and is too long for
    that now. By their places in the new program; those that are new are among them.
    """
    change, reached = evidence.change, evidence.reached
    silent = {change.partner[one] for one in change.changed if one not in reached.instructions}
    found: dict[int, float] = {}
    for function, edits in (evidence.edits or {}).items():
        for callee, count in _new_callees(evidence, function, edits, silent | change.added):
            if count > 0:
                found[callee] = found.get(callee, 0.0) + count
    return found


def _new_callees(
    evidence: Evidence, function: int, edits: StepEdits, wanted: Collection[int]
) -> list[tuple[int, float]]:
    """Those of some functions that one newly refers to, and how often it comes to each."""
    change, counts = evidence.change, evidence.reached.at_addresses
    flat = change.new.references[change.partner[function]]
    found: list[tuple[int, float]] = []

    def add(number: int, count: float) -> None:
        kind, place = flat[3 * number : 3 * number + 2]
        if kind == FUNCTION and place in wanted:
            found.append((place, count))

    for number, address in edits.altered_references.items():
        add(number, counts.get(address, 0.0))
    for run in edits.added:
        for number in run.references:
            if number not in edits.altered_references:
                add(number, executions(run, counts))
    return found


def entered_functions(evidence: Evidence) -> dict[int, float]:
    """New functions that a benchmark comes to, through others too, and how often it does."""
    change = evidence.change
    entered: dict[int, float] = {}
    for function, edits in (evidence.edits or {}).items():
        for callee, count in _new_callees(evidence, function, edits, change.added):
            if count > 0:
                entered[callee] = entered.get(callee, 0.0) + count
    waiting = list(entered)
    while waiting:
        function = waiting.pop()
        for callee in change.new.callees(function):
            if callee in change.added and callee not in entered:
                entered[callee] = entered[function]
                waiting.append(callee)
    return entered


def altered_constants(evidence: Evidence) -> int:
    """How many executed instructions have another constant, wherever they are.

    However seldom it is executed, a constant can say how often something else is: a length of a
    buffer, a limit, a number of rounds.
    """
    counts = evidence.reached.at_addresses
    return sum(
        counts.get(address, 0.0) > 0
        for edits in (evidence.edits or {}).values()
        for address in edits.constants
    )


def altered_leads(evidence: Evidence) -> float:
    """Executions of instructions that lead to another place, or refer to other things."""
    counts = evidence.reached.at_addresses
    return sum(
        counts.get(address, 0.0)
        for edits in (evidence.edits or {}).values()
        for address in edits.leads
    )


def percent_of(evidence: Evidence, count: float) -> float:
    """A number of instructions as a percentage of all that the benchmark executes, at most 100."""
    total = evidence.reached.total
    return min(100.0, 100 * count / total) if total else 0.0
