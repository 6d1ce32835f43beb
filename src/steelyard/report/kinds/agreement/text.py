"""How far profilers agree, as tables and text."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.profiles.agreement_results import RELATIONS, Agreement, ProgramAgreement
from steelyard.analysis.profiles.profile_agreement import LARGEST_N
from steelyard.core.estimate import Interval, Unbounded
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

RELATION_WORDS = {
    "agree": "agree",
    "caller-callee": "one calls the other",
    "disagree": "disagree",
}


def program_label(item: ProgramAgreement) -> str:
    """The program's name, with what tells it from another build."""
    profiles = item.profiles
    setting = f" ({profiles.setting})" if profiles.setting else ""
    return one_line(profiles.name + setting)


def percent(share: Interval) -> str:
    """A share with its interval, in percent."""
    if isinstance(share, Unbounded):
        return "–" if share.estimate is None else f"{100 * share.estimate:.1f} %"
    low, high = 100 * max(0.0, share.low), 100 * min(1.0, share.high)
    return f"{100 * share.estimate:.1f} % ({low:.1f} – {high:.1f})"


def hotness_table(item: ProgramAgreement) -> Table:
    """A row for each function that is the hottest by any profiler, a column for each profiler."""
    profilers = list(item.hottest)
    functions = list(dict.fromkeys(item.hottest.values()))
    rows = tuple(
        (one_line(function), *(percent(item.share(profiler, function)) for profiler in profilers))
        for function in functions
    )
    return Table(("function", *profilers), rows, frozenset({0}))


def pairs_table(item: ProgramAgreement) -> Table:
    """Every pair of profilers, with what each names as the hottest function."""
    rows = tuple(
        (
            pair.first,
            one_line(item.hottest[pair.first]),
            pair.second,
            one_line(item.hottest[pair.second]),
            RELATION_WORDS[pair.relation],
            "–" if pair.stability is None else f"{100 * pair.stability:.0f} %",
        )
        for pair in item.pairs
    )
    headers = ("profiler", "hottest", "profiler", "hottest", "they", "in resampled runs")
    return Table(headers, rows, frozenset({0, 1, 2, 3, 4}))


def unions_table(items: Sequence[ProgramAgreement]) -> Table:
    """Union_n of every program."""
    rows = tuple(
        (program_label(item), *(f"{union.estimate or 0:.0f}" for union in item.unions))
        for item in items
    )
    return Table(("program", *(str(n + 1) for n in range(LARGEST_N))), rows, frozenset({0}))


def totals_table(found: Agreement) -> Table:
    """Every pair of profilers over all programs: how often they agree, and how far apart they are.

    The distance is in points: percent of the program's time.
    """
    rows = tuple(
        (
            pair.first,
            pair.second,
            *(str(pair.relations[relation]) for relation in RELATIONS),
            percent(pair.distance).replace(" %", ""),
        )
        for pair in found.pairs
    )
    words = (RELATION_WORDS[relation] for relation in RELATIONS)
    return Table(("profiler", "profiler", *words, "points apart"), rows, frozenset({0, 1}))


def relations_line(found: Agreement) -> str:
    """How many pairs agree, over all programs."""
    total = sum(found.relations.values())
    counts = ", ".join(
        f"{found.relations[relation]} {RELATION_WORDS[relation]}" for relation in RELATIONS
    )
    return f"Of {total} {'pair' if total == 1 else 'pairs'} of profilers: {counts}."


def agreement_text(found: Agreement, width: int | None = None, cautions: Sequence[str] = ()) -> str:
    """The tables for a terminal, with what to know of the profilers; ends with a newline."""
    lines: list[str] = []
    for item in found.programs:
        runs = {len(given) for given in item.profiles.runs.values()}
        told = " or ".join(map(str, sorted(runs))) + (" run each" if runs == {1} else " runs each")
        lines += [f"{program_label(item)}: share of the hottest functions, {told}", ""]
        lines += [*plain_table(hotness_table(item), width), ""]
        lines += [*plain_table(pairs_table(item), width), ""]
    if len(found.programs) > 1:
        lines += ["Pairs of profilers over all programs", ""]
        lines += [*plain_table(totals_table(found), width), ""]
    lines += ["Different functions among the n hottest of each profiler, for n from 1 to 10", ""]
    lines += [*plain_table(unions_table(found.programs), width), "", relations_line(found)]
    lines += [f"caution: {caution}" for caution in cautions]
    return "\n".join(lines) + "\n"
