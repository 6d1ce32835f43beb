"""Why a benchmark's time can have changed, in words, the strongest reason first."""

from __future__ import annotations

from collections import defaultdict

from steelyard.predict.commits.body_steps import StepEdits
from steelyard.predict.commits.code_change import CodeChange
from steelyard.predict.commits.edit_executions import edits_of_function, newly_called, weight
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
            share, weight = reached.share(function), reached.share(function)
            edits = (evidence.edits or {}).get(function)
            if reached.at_addresses and edits is not None:
                weight = _edited_share(evidence, edits)
                what += "" if weight else f", but not where {benchmark} goes"
            name = change.old.names[function] or "without a name"
            inlined = _inlined(evidence, name, edits) if weight and edits is not None else ""
            what += f", where {evidence.readable(inlined)} is inlined" if inlined else ""
            who = f"Function {evidence.readable(name)}, {_percent(share)} of the instructions"
            weighed.append((weight, f"{who} of {benchmark}, {what}."))
    weighed += _newly_called(benchmark, evidence)
    weighed.sort(key=lambda pair: (-pair[0], pair[1]))
    words = [sentence for _, sentence in weighed[:_MOST_REASONS]]
    if len(weighed) > _MOST_REASONS:
        words.append(f"{len(weighed) - _MOST_REASONS} more functions that it reaches changed.")
    words += [f"The {flag}." for flag in change.flags[: _MOST_REASONS - 1]]
    return tuple(words) or (_nothing_reached(benchmark, change),)


def _newly_called(benchmark: str, evidence: Evidence) -> list[tuple[float, str]]:
    change, total = evidence.change, evidence.reached.total
    found: list[tuple[float, str]] = []
    for function, count in newly_called(evidence).items():
        name = evidence.readable(change.new.names[function] or "without a name")
        what = "is new" if function in change.added else "has another body"
        words = f"Function {name}, which {benchmark} did not call before, {what}."
        found.append((count * change.new.instructions[function] / total, words))
    return found


def _edited_share(evidence: Evidence, edits: StepEdits) -> float:
    """The share of the instructions that a benchmark executes in edits of a function."""
    found = edits_of_function(edits, evidence.reached.at_addresses, weight)
    executed = found.removed + found.added + found.altered
    return executed / evidence.reached.total if evidence.reached.total else 0.0


def _inlined(evidence: Evidence, name: str, edits: StepEdits) -> str:
    """The function of the sources that the edits of a function are of, if another one than itself.

    That whose executed instructions became more, or fewer, by most: code that only took other
    registers or another order has as many as before. Else that of the most executed constants, or
    other operands, that changed.
    """
    if evidence.written_in is None:
        return ""
    old, new = evidence.written_in.old, evidence.written_in.new
    counts = evidence.reached.at_addresses
    growth: defaultdict[str, float] = defaultdict(float)
    for address in edits.removed:
        growth[old.get(address, name)] -= counts.get(address, 0.0)
    for run in edits.added:
        times = weight(run, counts)
        for address in run.addresses:
            growth[new.get(address, name)] += times
    for addresses in (edits.constants, edits.altered):
        if any(growth.values()):
            break
        for address in addresses:
            growth[old.get(address, name)] += counts.get(address, 0.0)
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
