"""All executions of a benchmark: their states, and from them one choice of iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from statistics import median
from typing import ClassVar, Literal

from steelyard.analysis.intervals.mean import mean_interval
from steelyard.analysis.states.dependence import FEWEST_TESTED, dependence
from steelyard.analysis.states.execution import ExecutionState, Rules
from steelyard.analysis.states.steady_part import latest_start
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution
from steelyard.core.hashing import sha256_of

Rule = Literal["independent", "same-iteration"]
Agreement = Literal["steady", "inconsistent", "no-steady-state"]


@dataclass(frozen=True)
class Proposal:
    """Which iterations to measure.

    Parameters
    ----------
    rule : str or None
        ``"independent"``: keep all iterations from `iteration` on. ``"same-iteration"``: take
        this iteration alone, from each execution. None: there is no answer.
    iteration : int or None
        From 0.
    agreement : str or None
        Whether the executions reach a steady state: all, some or none of those with an answer.
    mean : Interval or None
        What the choice gives, over the executions.
    explanation : str
        A code of why: ``"all-independent"``, ``"dependent"``, ``"not-steady"``, ``"refused"``,
        ``"too-few"`` (the point leaves too few iterations to tell of some execution).
    from_choices : bool
        Whether a person's choices went into it.
    """

    rule: Rule | None
    iteration: int | None
    agreement: Agreement | None
    mean: Interval | None
    explanation: str
    from_choices: bool = False


@dataclass(frozen=True)
class HeuristicError:
    """How far the means that a rule chooses lie from those of the steady state.

    Parameters
    ----------
    name : str
    decided_count : int
        Executions in which it chose.
    errors : tuple of float
        For each of them that is steady, mean chosen / mean of the steady part - 1.
    """

    name: str
    decided_count: int
    errors: tuple[float, ...]

    @property
    def median_error(self) -> float | None:
        """The median of the sizes of the errors."""
        return median(map(abs, self.errors)) if self.errors else None

    @property
    def largest_error(self) -> float | None:
        """The largest size of an error."""
        return max(map(abs, self.errors)) if self.errors else None


@dataclass(frozen=True)
class StatesResult:
    """The states of all executions, and the proposal.

    Parameters
    ----------
    rules : Rules
    executions : tuple of ExecutionState
    proposal : Proposal
    heuristics : tuple of HeuristicError
    cautions : tuple of Caution
    chosen : mapping of str to int
        By label, the iteration from which on a person saw a stable sequence.
    """

    kind: ClassVar[str] = "states"

    rules: Rules
    executions: tuple[ExecutionState, ...]
    proposal: Proposal
    heuristics: tuple[HeuristicError, ...]
    cautions: tuple[Caution, ...]
    chosen: Mapping[str, int]


def states_result(
    executions: Sequence[ExecutionState], rules: Rules, cautions: Sequence[Caution]
) -> StatesResult:
    """The answer for a benchmark from that for each of its executions."""
    return StatesResult(
        rules=rules,
        executions=tuple(executions),
        proposal=_proposal(executions, rules),
        heuristics=_heuristic_errors(executions),
        cautions=(*cautions, *_refusals(executions)),
        chosen={},
    )


def with_choices(result: StatesResult, chosen: Mapping[str, int]) -> StatesResult:
    """The answer with a person's choices: in the executions that have one it goes before what
    was found.

    Raises
    ------
    AnalysisError
        A choice is for an execution that there is not or has no mean, or for an iteration that it
        has not.
    """
    by_label = {execution.label: execution for execution in result.executions}
    for label, iteration in chosen.items():
        if label not in by_label:
            known = ", ".join(by_label)
            raise AnalysisError(
                f"A choice is for the execution {label!r}; those of the data are {known}.",
                field="--choices",
            )
        if iteration >= len(by_label[label].values):
            raise AnalysisError(
                f"A choice is for iteration {iteration} of the execution {label!r}, which has "
                f"{len(by_label[label].values)}, counted from 0.",
                field="--choices",
            )
        refusal = by_label[label].refusal
        if refusal is not None and not isfinite(by_label[label].values.sum()):
            raise AnalysisError(
                f"Nothing can be chosen of the execution {label!r}: {refusal.message}",
                field="--choices",
            )
    if not chosen:
        return result
    proposal = _chosen_proposal(result, chosen)
    return replace(result, proposal=proposal, chosen=dict(chosen))


def values_digest(result: StatesResult) -> str:
    """A name for the values that the result is about, by which choices find their data."""
    digest = "".join(
        f"{execution.label}\0{sha256_of(execution.values.tobytes()).hex()}\0"
        for execution in result.executions
    )
    return sha256_of(digest.encode()).hex()


def _answered(executions: Sequence[ExecutionState]) -> list[ExecutionState]:
    return [execution for execution in executions if execution.state is not None]


def _proposal(executions: Sequence[ExecutionState], rules: Rules) -> Proposal:
    """Kalibera and Jones, ISMM 2013, sections 6.1 and 6.2: where all executions become
    independent, the last of these points; else the same iteration of each, the first that is
    initialised in all of them."""
    answered = _answered(executions)
    if not answered:
        return Proposal(None, None, None, None, "refused")
    steady = [execution.initialised is not None for execution in answered]
    agreement: Agreement = (
        "steady" if all(steady) else "inconsistent" if any(steady) else "no-steady-state"
    )
    independent = [e.independent for e in answered if e.independent is not None]
    if len(independent) == len(answered):
        first = max(independent)
        if all(first <= latest_start(len(e.values)) for e in answered):
            mean = _mean_from(answered, first, rules)
            return Proposal("independent", first, agreement, mean, "all-independent")
    first = max(execution.start_up_count for execution in answered)
    mean = _mean_at(answered, first, rules)
    late = len(independent) == len(answered)
    why = "not-steady" if not all(steady) else "too-few" if late else "dependent"
    return Proposal("same-iteration", first, agreement, mean, why)


def _chosen_proposal(result: StatesResult, chosen: Mapping[str, int]) -> Proposal:
    """The rule of Kalibera and Jones with the points that a person chose."""
    kept = [e for e in result.executions if e.label in chosen or e.state is not None]
    first = max(chosen.get(e.label, e.start_up_count) for e in kept)
    rules, agreement = result.rules, result.proposal.agreement
    parts = [e.values[first:] for e in kept]
    too_few = any(len(part) < FEWEST_TESTED for part in parts)
    if not too_few and not any(dependence(part).found(rules.test_confidence) for part in parts):
        mean = _mean_from(kept, first, rules)
        return Proposal("independent", first, agreement, mean, "all-independent", True)
    mean = _mean_at(kept, first, rules)
    why = "too-few" if too_few else "dependent"
    return Proposal("same-iteration", first, agreement, mean, why, True)


def _mean_from(executions: Sequence[ExecutionState], first: int, rules: Rules) -> Interval | None:
    means = [float(e.values[first:].mean()) for e in executions if len(e.values) > first]
    return mean_interval(means, rules.confidence)


def _mean_at(executions: Sequence[ExecutionState], first: int, rules: Rules) -> Interval | None:
    values = [float(e.values[first]) for e in executions if len(e.values) > first]
    return mean_interval(values, rules.confidence) if values else None


def _heuristic_errors(executions: Sequence[ExecutionState]) -> tuple[HeuristicError, ...]:
    answered = _answered(executions)
    names = [choice.name for choice in answered[0].heuristics] if answered else []
    return tuple(_heuristic_error(name, place, answered) for place, name in enumerate(names))


def _heuristic_error(name: str, place: int, answered: Sequence[ExecutionState]) -> HeuristicError:
    decided = 0
    errors: list[float] = []
    for execution in answered:
        choice = execution.heuristics[place]
        if choice.mean is None:
            continue
        decided += 1
        if execution.initialised is not None:
            errors.append(choice.mean / float(execution.values[execution.initialised :].mean()) - 1)
    return HeuristicError(name, decided, tuple(errors))


def _refusals(executions: Sequence[ExecutionState]) -> list[Caution]:
    return [
        Caution(e.refusal.code, f"No answer for execution {e.label}: {e.refusal.message}")
        for e in executions
        if e.refusal is not None
    ]
