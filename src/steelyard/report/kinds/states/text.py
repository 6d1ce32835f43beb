"""The states of executions as text for people."""

from __future__ import annotations

from steelyard.analysis.states.benchmark_states import HeuristicError, StatesResult
from steelyard.analysis.states.execution import ExecutionState
from steelyard.core.estimate import Estimate
from steelyard.core.units import format_value
from steelyard.report.documents.rendering import Origin
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import caution_text, confidence_text, one_line
from steelyard.report.texts.table import Table

_NEVER = "never"
_NOT_KNOWN = "–"
# A class that fewer redraws come to says how many.
_PLAIN_SHARE = 0.95
_RULES = {"dacapo": "DaCapo's harness", "georges": "Georges et al."}
_AGREEMENTS = {
    "steady": "All executions{told} reach a steady state.",
    "inconsistent": "Some executions{told} reach a steady state, others do not.",
    "no-steady-state": "No execution{told} reaches a steady state.",
    None: "There is no answer for any execution.",
}
_WHY_ONE = {
    "not-steady": "Not all executions become steady",
    "dependent": "Iterations depend on those before them",
    "too-few": "Too few iterations are left of some execution to tell whether they are independent",
}


def states_text(result: StatesResult, origin: Origin, width: int | None = None) -> str:
    """The class of each execution and the iterations to measure; ends with a newline."""
    lines = [
        *plain_table(states_table(result, origin), width),
        "",
        *proposal_sentences(result, origin),
    ]
    shown = [heuristic_sentence(found) for found in result.heuristics if found.decided_count]
    if shown:
        lines += ["", *shown]
    if result.cautions:
        lines += ["", *(f"warning: {caution_text(c.message)}" for c in result.cautions)]
    return "\n".join(lines) + "\n"


def states_table(result: StatesResult, origin: Origin) -> Table:
    """A row an execution."""
    rows: list[tuple[str, ...]] = []
    for found in result.executions:
        chosen = result.chosen.get(found.label)
        rows.append(
            (
                one_line(found.label),
                _class(found),
                _index(found.initialised, found),
                _index(found.independent, found),
                _NOT_KNOWN if found.confidence is None else f"{100 * found.confidence:.0f} %",
                _NOT_KNOWN if chosen is None else str(chosen),
                _steady_mean(found, origin),
                *(_choice(found, place) for place in range(len(_RULES))),
            )
        )
    headers = (
        "execution",
        "class",
        "initialised",
        "independent",
        "sure",
        "chosen",
        "steady mean",
        "DaCapo",
        "Georges",
    )
    table = Table(headers, tuple(rows), frozenset({0, 1}), spare=(8, 7, 6))
    return table if result.chosen else table.without(5)


def _class(found: ExecutionState) -> str:
    if found.state is None:
        return "no answer"
    period = "" if found.period is None else f", period {found.period}"
    share = found.share if found.share is not None else 1.0
    doubt = "" if share >= _PLAIN_SHARE or found.period is not None else f" ({share:.0%})"
    return f"{found.state}{period}{doubt}"


def _index(index: int | None, found: ExecutionState) -> str:
    if found.state is None:
        return _NOT_KNOWN
    return _NEVER if index is None else str(index)


def _steady_mean(found: ExecutionState, origin: Origin) -> str:
    if found.initialised is None or found.state is None:
        return _NOT_KNOWN
    mean = float(found.values[found.initialised :].mean())
    return format_value(mean, origin.metric.unit)


def _choice(found: ExecutionState, place: int) -> str:
    if found.state is None:
        return _NOT_KNOWN
    first = found.heuristics[place].first
    return _NEVER if first is None else str(first)


def proposal_sentences(result: StatesResult, origin: Origin) -> list[str]:
    """What to measure, and why."""
    proposal = result.proposal
    refused = any(execution.state is None for execution in result.executions)
    told = " with an answer" if refused else ""
    found = [_AGREEMENTS[proposal.agreement].format(told=told)]
    source = "By the choices: " if proposal.from_choices else ""
    if proposal.rule == "independent":
        found.append(
            f"{source}Iterations are independent from iteration {proposal.iteration} on (counted "
            "from 0) in all of them: keep those, and repeat them as `steelyard dimension` says."
        )
    elif proposal.rule == "same-iteration":
        why = _WHY_ONE[proposal.explanation]
        found.append(
            f"{source}{why}: take the same iteration of each execution, number "
            f"{proposal.iteration} (counted from 0), the first that is initialised in all."
        )
    else:
        found.append("No iterations can be proposed; the warnings say what is missing.")
    mean = proposal.mean
    if mean is not None and mean.estimate is not None:
        shown = format_value(mean.estimate, origin.metric.unit)
        if isinstance(mean, Estimate):
            half_width = format_value(mean.half_width, origin.metric.unit, 2)
            shown += f" ± {half_width} ({confidence_text(mean.confidence)})"
        else:
            shown += " (no interval)"
        found.append(f"That gives a mean of {shown}.")
    return found


def heuristic_sentence(found: HeuristicError) -> str:
    """How far a rule that decides as it goes would have been off."""
    name = _RULES[found.name]
    if found.median_error is None or found.largest_error is None:
        return f"{name} would have chosen in {found.decided_count} executions, none of them steady."
    return (
        f"{name} would have been off by {100 * found.median_error:.1f} % (median) and "
        f"{100 * found.largest_error:.1f} % (largest) of the steady mean."
    )
