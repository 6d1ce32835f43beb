"""What a terminal shows of predictions across hosts."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.core.experiment_results import Caution
from steelyard.predict.platforms.fitted import FittedModels
from steelyard.predict.platforms.host_choice import HostChoice
from steelyard.predict.platforms.model_evaluation import PlatformEvaluation
from steelyard.predict.platforms.next_measurement import NextMeasurements
from steelyard.predict.platforms.platform_answers import PlatformAnswer
from steelyard.predict.platforms.scores import score_cases
from steelyard.predict.platforms.suite_study import SuiteStudy
from steelyard.report.kinds.platforms.tables import (
    blame_sentence,
    blame_tables,
    candidates_table,
    fits_table,
    hosts_table,
    next_benchmarks_table,
    next_hosts_table,
    parts_table,
    percent,
    strategies_table,
)
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import caution_text, confidence_text, one_line


def headline(answer: PlatformAnswer) -> str:
    """How many hosts have an answer."""
    asked = [host for host in answer.hosts if not host.known]
    answered = sum(1 for host in asked if not host.refused)
    name = one_line(answer.asked.application)
    return f"{name}: {answered} of {len(asked)} hosts answered, {len(asked) - answered} refused"


def answer_sentences(answer: PlatformAnswer) -> list[str]:
    """How the answer was made, and why hosts are refused."""
    sure = confidence_text(answer.asked.confidence)
    width = percent(answer.asked.limits.half_width_ratio, 0)
    lines = [
        f"By {answer.model.name} from {answer.known_hosts} known hosts; each known host is "
        f"predicted from the others. Intervals of {sure}; refused beyond ± {width}."
    ]
    if answer.predictors and len(answer.predictors) <= 8:
        lines.append(f"Predictors: {', '.join(answer.predictors)}.")
    explained = {h.refusal.reason: h.refusal.explanation for h in answer.hosts if h.refusal}
    return lines + [f"{reason}: {explanation}" for reason, explanation in explained.items()]


def answer_text(answer: PlatformAnswer, width: int | None) -> str:
    """The text of ``ask``."""
    table = plain_table(hosts_table(answer), width)
    return _joined([headline(answer)], answer_sentences(answer), table, answer.cautions)


def fits_text(found: FittedModels, width: int | None) -> str:
    """The text of ``fit``."""
    lines = [f"{one_line(found.application)} on {found.known_hosts} known hosts"]
    how = ["Errors are of known hosts, each left out in turn."]
    return _joined(lines, how, plain_table(fits_table(found), width), found.cautions)


def evaluation_sentence(found: PlatformEvaluation) -> str:
    """What was predicted."""
    table = found.table
    return (
        f"{len(table.benchmarks)} benchmarks on {len(table.hosts)} hosts, each benchmark in turn "
        "the application. Errors are |predicted - measured| / measured."
    )


def evaluation_text(found: PlatformEvaluation, width: int | None) -> str:
    """The text of ``evaluate``."""
    lines = [evaluation_sentence(found)]
    for one in found.of_largest_count():
        if one.model.name == "stacking":
            blame = score_cases(one).blame
            if blame is not None:
                lines.append(blame_sentence(found.table, blame))
    table = plain_table(strategies_table(found), width)
    return _joined(["Strategies compared"], lines, table, found.cautions)


def choice_headline(found: HostChoice) -> str:
    """The host to take."""
    best = found.candidates[0]
    what = "best for its price" if found.by_price else "fastest"
    return (
        f"Take {one_line(best.answer.host)}: {what} with probability {percent(best.probability)}, "
        f"expected regret {percent(best.regret_ratio, 2)}"
    )


def choice_text(found: HostChoice, width: int | None) -> str:
    """The text of ``choose``."""
    how = [
        "Regret is what a host is expected to cost beyond the best one, drawn from the errors "
        f"that the suite's benchmarks have there (seed {found.seed})."
    ]
    table = plain_table(candidates_table(found), width)
    return _joined([choice_headline(found)], how, table, found.cautions)


def next_headline(found: NextMeasurements) -> str:
    """The first thing to measure."""
    name = one_line(found.application)
    if found.hosts:
        return f"Measure {name} on {one_line(found.hosts[0].host)} next"
    first = found.benchmarks[0]
    return f"Measure {one_line(first.benchmark)} on {one_line(first.host)} next"


def next_text(found: NextMeasurements, width: int | None) -> str:
    """The text of ``next``."""
    tables: list[str] = []
    if found.hosts:
        tables += plain_table(next_hosts_table(found), width)
    if found.benchmarks:
        tables += ["", *plain_table(next_benchmarks_table(found), width)]
    how = [f"{found.known_hosts} hosts are known."]
    return _joined([next_headline(found)], how, tables, found.cautions)


def suite_headline(found: SuiteStudy) -> str:
    """How many benchmarks can be dropped, and how many stand alone."""
    verdicts = [part.verdict for part in found.parts]
    return (
        f"{len(verdicts)} benchmarks: {verdicts.count('redundant')} can be dropped, "
        f"{verdicts.count('unrepresented')} not represented by the others"
    )


def suite_sentences(found: SuiteStudy) -> list[str]:
    """What the verdicts mean."""
    lines = [
        f"Redundant: predicted within {percent(found.tolerance_ratio, 0)} from those kept, in 90 % "
        f"of hosts. Unrepresented: missed by more than {percent(found.limit_ratio, 0)}."
    ]
    if found.blame is not None:
        lines.append(blame_sentence(found.table, found.blame))
    return lines


def suite_text(found: SuiteStudy, width: int | None) -> str:
    """The text of ``suite``."""
    lines = plain_table(parts_table(found), width)
    if found.blame is not None:
        for table in blame_tables(found.table, found.blame):
            lines += ["", *plain_table(table, width)]
    return _joined([suite_headline(found)], suite_sentences(found), lines, found.cautions)


def _joined(
    head: list[str], sentences: list[str], table: list[str], cautions: Iterable[Caution]
) -> str:
    warnings = [f"warning: {caution_text(caution.message)}" for caution in cautions]
    parts = [head, [one_line(line) for line in sentences], table, warnings]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"
