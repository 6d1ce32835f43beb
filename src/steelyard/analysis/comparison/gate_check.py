"""Whether a comparison keeps the gates that were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from steelyard.analysis.comparison.comparison_results import Answer, Comparison, GateCheck
from steelyard.core.errors import UsageError
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.experiment_spec import Direction, ExperimentSpec
from steelyard.core.gate_spec import GateSpec


def check_gates(spec: ExperimentSpec) -> None:
    """Refuse gates of an experiment that nothing is compared in, or on a metric that it lacks.

    Raises
    ------
    UsageError
        The message names the metrics that there are.
    """
    for gate in spec.gates:
        if spec.kind != "comparison":
            raise UsageError(
                f"{gate.option} {gate.text} asks about a comparison, and here is only one variant "
                "of each benchmark.",
                field=gate.option,
            )
        known = [metric.name for metric in spec.metrics]
        if gate.metric is not None and gate.metric not in known:
            raise UsageError(
                f"{gate.option} {gate.text}: there is no metric {gate.metric!r}. Measured: "
                f"{', '.join(known)}.",
                field=gate.option,
            )


def with_gates(answer: Answer, gates: Sequence[GateSpec]) -> Answer:
    """`answer` with the outcome of each gate on each comparison that it is about."""
    checks = [check for gate in gates for check in _checks(gate, answer)]
    return replace(answer, gates=tuple(checks)) if checks else answer


def _checks(gate: GateSpec, answer: Answer) -> Iterator[GateCheck]:
    metric = gate.metric or answer.metric.name
    compared = [c for c in answer.comparisons if c.metric.name == metric]
    for comparison in compared:
        limit = comparison.margin_ratio if gate.limit_ratio is None else gate.limit_ratio
        ratio = _ratio(gate, comparison, answer, len(compared))
        shown = is_shown(gate.claim, ratio, limit, comparison.metric.direction)
        yield GateCheck(
            gate=gate,
            comparison=comparison,
            ratio=ratio,
            limit_ratio=limit,
            passed=shown == gate.required,
        )


def _ratio(gate: GateSpec, comparison: Comparison, answer: Answer, count: int) -> Interval:
    quantile = gate.quantile
    if quantile is None:
        return comparison.ratio
    from steelyard.analysis.comparison.quantile_ratio import quantile_ratio

    values = {v.name: v.metrics[comparison.metric.name].values for v in answer.variants}
    return quantile_ratio(
        values[comparison.baseline],
        values[comparison.candidate],
        quantile,
        confidence=comparison.ratio.confidence,
        comparison_count=count,
    )


def is_shown(claim: str, ratio: Interval, limit_ratio: float, direction: Direction) -> bool:
    """Whether the whole interval of a ratio lies where a claim says.

    Parameters
    ----------
    claim : str
        As of `GateSpec`.
    ratio : Interval
        Candidate / baseline; without bounds it shows nothing.
    limit_ratio : float
        Of the change that the claim is about.
    """
    if not isinstance(ratio, Estimate):
        return False
    low, high = ratio.low, ratio.high
    if direction == "higher":
        low, high = 2.0 - high, 2.0 - low
    # Now above 1 is worse.
    worst, best = 1.0 + limit_ratio, 1.0 - limit_ratio
    return {
        "slower": low > worst,
        "faster": high < best,
        "not-slower": high <= worst,
        "not-faster": low >= best,
        "equivalent": best <= low and high <= worst,
    }[claim]


def passed(checks: Iterable[GateCheck]) -> bool:
    """Whether every one did."""
    return all(check.passed for check in checks)
