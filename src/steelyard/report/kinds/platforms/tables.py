"""The tables of predictions across hosts."""

from __future__ import annotations

from steelyard.core.estimate import Estimate, Interval
from steelyard.predict.platforms.fitted import FittedModels
from steelyard.predict.platforms.host_choice import HostChoice
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.model_evaluation import PlatformEvaluation
from steelyard.predict.platforms.next_measurement import NextMeasurements
from steelyard.predict.platforms.platform_answers import PlatformAnswer
from steelyard.predict.platforms.scores import Blame, Score, score_cases
from steelyard.predict.platforms.suite_study import SuiteStudy
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

NONE = "–"
MOST_ROWS = 40


def number(value: float | None, digits: int = 4) -> str:
    """A number with as many significant digits, or a dash."""
    return NONE if value is None else f"{value:.{digits}g}"


def percent(ratio: float | None, digits: int = 1) -> str:
    """A ratio in percent; beyond ten times it is said so."""
    if ratio is None:
        return NONE
    return "> 1000 %" if ratio > 10 else f"{100 * ratio:.{digits}f} %"


def bounds(value: Interval | None) -> str:
    """The interval of an estimate, or a dash."""
    if isinstance(value, Estimate):
        return f"{number(value.low)} … {number(value.high)}"
    return NONE


def hosts_table(answer: PlatformAnswer) -> Table:
    """Each host with its estimate or refusal, and the measured value beside it."""
    rows: list[tuple[str, ...]] = []
    for host in answer.hosts:
        estimate = None if host.value is None else host.value.estimate
        state = "measured" if host.known else host.refusal.reason if host.refusal else "answered"
        error = None
        if estimate is not None and host.measured:
            error = abs(estimate - host.measured) / abs(host.measured)
        rows.append(
            (
                one_line(host.host),
                number(None if host.refused else estimate),
                NONE if host.refused else bounds(host.value),
                number(host.measured),
                percent(error),
                state,
            )
        )
    headers = ("host", "predicted", "interval", "measured", "error", "answer")
    return Table(headers, tuple(rows), frozenset({0, 5}), (2, 4))


def fits_table(found: FittedModels) -> Table:
    """Each model with its fit and its errors."""
    rows = [
        (
            one.model.name,
            number(one.prediction.adjusted_r_squared),
            number(one.prediction.mallows_cp, 3),
            percent(one.error_median),
            percent(one.error_max),
            one_line(", ".join(one.predictors))
            if len(one.predictors) <= 8
            else "most of the suite"
            if one.predictors
            else "the suite",
        )
        for one in found.models
    ]
    headers = ("model", "adjusted R²", "Cp", "median error", "worst error", "predictors")
    return Table(headers, tuple(rows), frozenset({0, 5}), (5,))


def strategies_table(found: PlatformEvaluation) -> Table:
    """Each model with its errors by quantile, of what it answered and of everything."""
    rows: list[tuple[str, ...]] = []
    for one in found.evaluated:
        score = score_cases(one)
        answered = score.answered or (None,) * 6
        everything = score.everything or (None,) * 6
        rows.append(
            (
                one.model.name,
                str(one.known_hosts),
                str(len(one.cases)),
                percent(score.answered_ratio),
                *(percent(answered[place]) for place in (0, 3, 5)),
                *(percent(everything[place]) for place in (0, 1, 3, 5)),
                NONE if score.coverage is None else percent(score.coverage.estimate),
            )
        )
    headers = (
        "strategy", "known", "cases", "answered", "median", "95 %", "worst",
        "all: median", "all: 75 %", "all: 95 %", "all: worst", "coverage",
    )  # fmt: skip
    return Table(headers, tuple(rows), frozenset({0}), (8, 7, 2, 9, 10, 11))


def candidates_table(found: HostChoice) -> Table:
    """The candidates, the chosen one first."""
    rows = [
        (
            one_line(one.answer.host),
            number(
                one.answer.measured
                if one.answer.known
                else None
                if one.answer.value is None
                else one.answer.value.estimate
            ),
            number(one.price),
            percent(one.probability),
            percent(one.regret_ratio),
            "measured"
            if one.answer.known
            else one.answer.refusal.reason
            if one.answer.refusal
            else "predicted",
        )
        for one in found.candidates
    ]
    headers = ("host", "value", "price", "best with", "expected regret", "value is")
    table = Table(headers, tuple(rows[:MOST_ROWS]), frozenset({0, 5}))
    return table if found.by_price else table.without(2)


def next_hosts_table(found: NextMeasurements) -> Table:
    """Hosts to measure the application on."""
    rows = [(one_line(one.host), percent(one.doubt_ratio)) for one in found.hosts[:MOST_ROWS]]
    return Table(("measure on", "doubt left over all hosts"), tuple(rows))


def next_benchmarks_table(found: NextMeasurements) -> Table:
    """Benchmarks to measure on hosts that lack them."""
    rows = [
        (one_line(one.host), one_line(one.benchmark), percent(one.error_ratio))
        for one in found.benchmarks[:MOST_ROWS]
    ]
    return Table(("on", "measure", "error left"), tuple(rows), frozenset({0, 1}))


def parts_table(found: SuiteStudy) -> Table:
    """What each benchmark adds."""
    rows = [
        (
            one_line(part.benchmark),
            part.verdict,
            percent(part.error_p90) if part.error_p90 < float("inf") else NONE,
            str(part.cluster),
            one_line(part.nearest),
            f"{part.correlation:.3f}",
        )
        for part in found.parts
    ]
    headers = ("benchmark", "verdict", "90 % of errors below", "cluster", "nearest", "correlation")
    return Table(headers, tuple(rows), frozenset({0, 1, 4}), (5, 3))


def blame_tables(table: PlatformTable, blame: Blame) -> tuple[Table, Table]:
    """Hosts and benchmarks of the worst tenth (Oliveira 2015, table 7.3)."""
    hosts = tuple((one_line(table.hosts[row]), str(count)) for row, count in blame.by_host)
    names = tuple(
        (one_line(table.benchmarks[place]), str(count)) for place, count in blame.by_application
    )
    return Table(("target host", "cases"), hosts), Table(("application", "cases"), names)


def blame_sentence(table: PlatformTable, blame: Blame) -> str:
    """What leaving out the worst applications would do."""
    if not blame.dropped:
        return f"The worst {blame.cases} predictions err by {percent(blame.least_error)} or more."
    names = ", ".join(table.benchmarks[place] for place in blame.dropped)
    return (
        f"The worst {blame.cases} predictions err by {percent(blame.least_error)} or more. "
        f"Without {names} the worst error is {percent(blame.error_max)}."
    )


def largest_scores(found: PlatformEvaluation) -> list[Score]:
    """The scores with the most known hosts, least median error of answers first."""
    scores = [score_cases(one) for one in found.of_largest_count()]
    return sorted(scores, key=lambda score: (score.everything or (float("inf"),))[0])
