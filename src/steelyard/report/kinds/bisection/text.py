"""The revision that a search found, as text for people."""

from __future__ import annotations

from steelyard.core.estimate import Estimate, Interval
from steelyard.core.units import format_duration
from steelyard.report.kinds.bisection.bisection_facts import BisectionTold
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

_SHORT = 12
_OUTCOMES = {"with": "with the change", "without": "without it", "broken": "can't be tested"}


def bisection_text(told: BisectionTold, width: int | None = None) -> str:
    """The revision, the change, the tests; ends with a newline."""
    lines = [*_found_lines(told), "", *_tests_table(told, width), ""]
    spent_s = sum(test.spent_s for test in told.tests)
    count = len(told.tests)
    lines.append(
        f"{count} test{'s'[: count != 1]} of {told.revisions_count} revisions, "
        f"{format_duration(spent_s)}"
    )
    return "\n".join(lines) + "\n"


def _found_lines(told: BisectionTold) -> list[str]:
    sure = share_text(told.probability)
    change = _ratio_text(told.ends)
    lines = [f"{told.bad[:_SHORT]} / {told.good[:_SHORT]} in {told.metric}: {change}"]
    if len(told.inseparable) > 1:
        names = ", ".join(name[:_SHORT] for name, _ in told.inseparable)
        lines.append(
            f"one of {len(told.inseparable)} revisions, which no test can tell apart, made the "
            f"change with probability {sure}: {names}"
        )
    else:
        lines.append(
            f"{told.revision[:_SHORT]} made the change with probability {sure}: "
            f"{one_line(told.subject)}"
        )
    if told.size is not None:
        lines.append(f"against its parent: {_ratio_text(told.size)}")
    if told.stopped == "budget":
        lines.append(
            f"The budget ended before {share_text(told.confidence)} was reached. The same call "
            "with a larger --budget goes on from here. Most probable are:"
        )
        lines += [f"  {name[:_SHORT]}  {share_text(p)}" for name, p in told.probabilities.items()]
    elif told.stopped == "nothing-left":
        lines.append("No further test can say more: the revisions between can't be tested.")
    return lines


def share_text(share: float) -> str:
    """A probability in percent; never 100 unless it is."""
    return "more than 99.99 %" if 0.9999 < share < 1.0 else f"{100 * share:.4g} %"


def _ratio_text(ratio: Interval) -> str:
    if isinstance(ratio, Estimate):
        confidence = f"{100 * ratio.confidence:g} %"
        return f"{ratio.estimate:.4g} [{ratio.low:.4g}, {ratio.high:.4g}] ({confidence})"
    return f"no bounds ({ratio.reason})"


def _tests_table(told: BisectionTold, width: int | None) -> list[str]:
    rows = tuple(
        (
            test.revision[:_SHORT],
            _OUTCOMES[test.outcome],
            str(test.run_count),
            "" if test.ratio is None else f"{test.ratio:.4g}",
            format_duration(test.spent_s),
        )
        for test in told.tests
    )
    if not rows:
        return ["No test was needed."]
    table = Table(("revision", "it seems", "runs", "ratio", "time"), rows, frozenset({0, 1}))
    return plain_table(table, width)
