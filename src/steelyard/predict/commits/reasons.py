"""Why a benchmark's time can have changed, in words, the strongest reason first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from steelyard.predict.commits.body_steps import AddedRun, StepEdits
from steelyard.predict.commits.code_change import CodeChange
from steelyard.predict.commits.edit_executions import (
    edits_of_function,
    newly_called,
    rounds,
    weight,
)
from steelyard.predict.commits.indicator import Evidence
from steelyard.predict.commits.program_code import plain_name

_MOST_REASONS = 5


def reasons_for(benchmark: str, evidence: Evidence) -> tuple[str, ...]:
    """What changed that the benchmark reaches; at least one sentence."""
    change, reached = evidence.change, evidence.reached
    weighed: list[tuple[float, str]] = []
    for function, count in reached.instructions.items():
        what = _what_changed(evidence, function)
        if what and count > 0:
            share, heavy = reached.share(function), reached.share(function)
            edits = (evidence.edits or {}).get(function)
            if reached.at_addresses and edits is not None:
                heavy = _edited_share(evidence, edits)
                what += "" if heavy else f", but not where {benchmark} goes"
            name = change.old.names[function] or "without a name"
            inlined = _inlined_here(evidence, name, edits) if heavy and edits is not None else ""
            what += f", where {evidence.readable(inlined)} is inlined" if inlined else ""
            who = f"Function {evidence.readable(name)}, {_percent(share)} of the instructions"
            weighed.append((heavy, f"{who} of {benchmark}, {what}."))
    weighed += _newly_called(benchmark, evidence)
    weighed.sort(key=lambda pair: (-pair[0], pair[1]))
    words = [sentence for _, sentence in weighed[:_MOST_REASONS]]
    if len(weighed) > _MOST_REASONS:
        words.append(f"{len(weighed) - _MOST_REASONS} more functions that it reaches changed.")
    words += [f"The {flag}." for flag in change.flags[: _MOST_REASONS - 1]]
    return tuple(words) or (_nothing_reached(benchmark, change),)


def _newly_called(benchmark: str, evidence: Evidence) -> list[tuple[float, str]]:
    """Functions that it did not call, as if each execution came once to all that they hold.

    New loops in those that were there before run as often as loops do.
    """
    change, total = evidence.change, evidence.reached.total
    found: list[tuple[float, str]] = []
    for function, count in newly_called(evidence).items():
        own = change.new.names[function] or "without a name"
        edits = _edits_of_new(evidence, function)
        longer = sum(run.count * (rounds(run) - 1) for run in edits.added)
        inlined = _inlined(evidence, own, edits, rounds, lambda _: 1.0)
        what = "is new" if function in change.added else "has another body"
        what += f", where {evidence.readable(inlined)} is inlined" if inlined else ""
        words = f"Function {evidence.readable(own)}, which {benchmark} did not call before, {what}."
        found.append((count * (change.new.instructions[function] + longer) / total, words))
    return found


def _edits_of_new(evidence: Evidence, function: int) -> StepEdits:
    """The edits of a function of the new program; none if it is new as a whole."""
    known = evidence.edits or {}
    olds = (one for one in known if evidence.change.partner[one] == function)
    return next((known[one] for one in olds), StepEdits())


def _edited_share(evidence: Evidence, edits: StepEdits) -> float:
    """The share of the instructions that a benchmark executes in edits of a function."""
    found = edits_of_function(edits, evidence.reached.at_addresses, weight)
    executed = found.removed + found.added + found.altered
    return executed / evidence.reached.total if evidence.reached.total else 0.0


def _inlined_here(evidence: Evidence, name: str, edits: StepEdits) -> str:
    counts = evidence.reached.at_addresses
    return _inlined(
        evidence, name, edits, lambda run: weight(run, counts), lambda at: counts.get(at, 0.0)
    )


def _inlined(
    evidence: Evidence,
    name: str,
    edits: StepEdits,
    times: Callable[[AddedRun], float],
    before: Callable[[int], float],
) -> str:
    """The function of the sources that the edits of a function are of, if another one than itself.

    That whose executed instructions became more, or fewer, by most: code that only took other
    registers or another order has as many as before. Else that of the most executed constants, or
    other operands, that changed.

    Parameters
    ----------
    times : callable
        How often new instructions are executed.
    before : callable
        How often the old instruction of an address was.
    """
    if evidence.written_in is None:
        return ""
    old, new = evidence.written_in.old, evidence.written_in.new
    growth: defaultdict[str, float] = defaultdict(float)
    for address in edits.removed:
        growth[old.get(address, name)] -= before(address)
    for run in edits.added:
        for address in run.addresses:
            growth[new.get(address, name)] += times(run)
    for addresses in (edits.constants, edits.altered):
        if any(growth.values()):
            break
        for address in addresses:
            growth[old.get(address, name)] += before(address)
    most = max(growth, key=lambda one: abs(growth[one]), default=name)
    # Debugging information may write another symbol for a function that is local to its source.
    written = [evidence.readable(plain_name(one)) for one in (most, name)]
    return "" if written[0] == written[1] else most


def _what_changed(evidence: Evidence, function: int) -> str:
    change = evidence.change
    if change.partner[function] < 0:
        return "is gone"
    if function in change.loops:
        return "has another body, and a loop in it changed"
    if function in change.changed:
        return "has another body"
    if function in change.data:
        names = [evidence.readable(name) for name in change.data[function][:3]]
        return f"reads data with other contents: {', '.join(names)}"
    return ""


def _percent(share: float) -> str:
    if share < 0.001:
        return "less than 0.1 %"
    # Two digits of 99.7 are written as a power of ten.
    return "100 %" if share >= 0.995 else f"{100 * share:.2g} %"


def _nothing_reached(benchmark: str, change: CodeChange) -> str:
    others = len(change.changed) + len(change.data) + len(change.deleted)
    if not others and not change.added:
        return "No function and no data changed."
    return (
        f"Nothing that {benchmark} reaches changed: {others} changed and {len(change.added)} new "
        "functions are elsewhere."
    )
