"""What gates say, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.analysis.comparison.comparison_results import Answer, GateCheck
from steelyard.core.estimate import Estimate
from steelyard.core.gate_spec import MEAN
from steelyard.report.kinds.comparison.sentences import change_word, room_text, wording_of
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import difference_text, one_line


def gate_sentences(answer: Answer) -> list[str]:
    """A sentence for each comparison that failed a gate, and one for each gate that all passed."""
    names = labels(variant.name for variant in answer.variants)
    found: list[str] = []
    for gate in dict.fromkeys(check.gate for check in answer.gates):
        checks = [check for check in answer.gates if check.gate == gate]
        failed = [check for check in checks if not check.passed]
        found += [f"gate failed: {check_sentence(check, names)}" for check in failed]
        if not failed:
            found.append(_passed(checks, names))
    return found


def _passed(checks: Sequence[GateCheck], names: Mapping[str, str]) -> str:
    if len(checks) == 1:
        return f"gate passed: {check_sentence(checks[0], names)}"
    gate = checks[0].gate
    return f"gate passed: {gate.option} {gate.text}, {len(checks)} comparisons"


def check_sentence(check: GateCheck, names: Mapping[str, str]) -> str:
    """How one comparison stands to one gate, such as ``head is slower than base by 3.1 % ± 0.8 %,
    limit 2 %``."""
    comparison = check.comparison
    candidate, baseline = names[comparison.candidate], names[comparison.baseline]
    before = ""
    if comparison.benchmark:
        baseline, candidate = map(one_line, comparison.sides)
        before = f"{one_line(comparison.benchmark)}: "
    inside = _inside(check)
    limit = f"limit {100 * check.limit_ratio:g} %"
    ratio = check.ratio
    if not isinstance(ratio, Estimate):
        reason = one_line(ratio.explanation).rstrip(".")
        return f"{before}{candidate} against {baseline}{inside} is undecided: {reason}, {limit}"
    if ratio.low > 1 or ratio.high < 1:
        return f"{before}{_change(check, ratio, (candidate, baseline))}, {limit}"
    room = room_text(comparison.metric, ratio)
    return f"{before}{candidate} against {baseline}{inside} may be {room}, {limit}"


def _change(check: GateCheck, ratio: Estimate, names: tuple[str, str]) -> str:
    """A change that is shown, in words that fit the metric."""
    candidate, baseline = names
    metric, inside = check.comparison.metric, _inside(check)
    word, difference = change_word(metric, ratio.estimate), difference_text(ratio)
    verb = {"bytes": "uses", "count": "needs"}.get(wording_of(metric))
    if verb is not None and check.gate.statistic == MEAN:
        return f"{candidate} {verb} {difference} {word} {one_line(metric.name)} than {baseline}"
    if verb is not None:
        return f"{candidate} {verb} {difference} {word} than {baseline}{inside}"
    return f"{candidate} is {word} than {baseline}{inside} by {difference}"


def _inside(check: GateCheck) -> str:
    metric = one_line(check.comparison.metric.name)
    statistic = check.gate.statistic
    if statistic != MEAN:
        return f" in the {statistic} of {metric}"
    return "" if metric == "wall_time" else f" in {metric}"


def gate_object(answer: Answer) -> dict[str, Any] | None:
    """The contract's object of all gates; None without any.

    ``limit`` and ``metric`` are those of the first gate, each of ``checks`` has its own.
    """
    if not answer.gates:
        return None
    names = labels(variant.name for variant in answer.variants)
    first = answer.gates[0]
    return {
        "passed": all(check.passed for check in answer.gates),
        "limit": first.limit_ratio,
        "metric": first.comparison.metric.name,
        "checks": [_check_object(check, names) for check in answer.gates],
    }


def _check_object(check: GateCheck, names: Mapping[str, str]) -> dict[str, Any]:
    comparison = check.comparison
    benchmark = {"benchmark": comparison.benchmark} if comparison.benchmark else {}
    return {
        **benchmark,
        "gate": f"{check.gate.option} {check.gate.text}",
        "passed": check.passed,
        "baseline": comparison.baseline,
        "candidate": comparison.candidate,
        "metric": comparison.metric.name,
        "statistic": check.gate.statistic,
        "limit": check.limit_ratio,
        "ratio": check.ratio.as_json(),
        "message": check_sentence(check, names),
    }
