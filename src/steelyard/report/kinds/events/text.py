"""An event study as sentences and tables for people."""

from __future__ import annotations

from steelyard.analysis.events.event_counts import KindOfEvent
from steelyard.analysis.events.internal_variance import InternalVariance
from steelyard.analysis.events.order import order_goes_with_result
from steelyard.core.estimate import Estimate
from steelyard.core.units import scale_for
from steelyard.report.documents.rendering import Origin
from steelyard.report.kinds.events.paths_text import (
    coefficient_text,
    correlation_cells,
    counted,
    p_cell,
    p_text,
    paths_lines,
    paths_sentences,
    told_coefficient,
)
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import caution_text, difference_text, one_line, ratio_text
from steelyard.report.texts.table import Table

# Beyond them a table is for a file.
_MOST_KINDS = 40
_MOST_RUNS = 8
# Pairs of kinds that move together which a sentence names.
_MOST_PAIRS = 5
# From here on a difference is said as a multiple.
_MANY_TIMES = 3
# Call paths that a terminal shows.
_MOST_PATHS = 12


def headline(found: InternalVariance) -> str:
    """What was studied."""
    return f"{one_line(found.response)} and what happens inside {len(found.runs)} runs"


def conclusion(found: InternalVariance) -> list[str]:
    """What may be said, in sentences."""
    alpha = 1 - found.confidence
    differing = [kind for kind in found.kinds if kind.differs]
    sentences = [
        f"{counted(len(found.kinds), 'kind')} of events, of which {len(differing)} "
        f"{'differs' if len(differing) == 1 else 'differ'} in number between runs."
    ]
    telling = [kind for kind in differing if kind.goes_with_result(alpha, found.by_ranks_alone)]
    if telling:
        named = ", ".join(
            f"`{one_line(kind.name)}` ({told_coefficient(kind, found)})" for kind in telling[:5]
        )
        more = f" and {len(telling) - 5} more" if len(telling) > 5 else ""
        sentences.append(f"The number goes with {one_line(found.response)}: {named}{more}.")
    elif any(kind.adjusted_p is not None for kind in differing):
        sentences.append(
            f"No number of events goes with {one_line(found.response)} once the p values are "
            f"corrected for {counted(len(differing), 'kind')} ({found.correction})."
        )
    elif differing:
        sentences.append(f"Whether numbers go with {one_line(found.response)} takes more runs.")
    sentences += [*_together(found), *paths_sentences(found), *_order(found)]
    sentences.append(_overhead(found))
    return sentences


def _together(found: InternalVariance) -> list[str]:
    """Which kinds move with one that goes with the result."""
    if not found.together:
        return []
    named = ", ".join(
        f"`{one_line(one.first)}` and `{one_line(one.second)}` "
        f"(r = {coefficient_text(one.correlation)})"
        for one in found.together[:_MOST_PAIRS]
    )
    left = len(found.together) - _MOST_PAIRS
    more = f" and {counted(left, 'pair')} more" if left > 0 else ""
    return [
        f"Numbers that move together: {named}{more}. These runs cannot tell which of them goes "
        f"with {one_line(found.response)} by itself; an intervention on one of them can."
    ]


def _order(found: InternalVariance) -> list[str]:
    """Whether the order goes with the result, apart from the numbers."""
    p = found.order.p
    if p is None:
        different = any(any(row) for row in found.order_differences)
        if different and not any(any(row) for row in found.moved_ratios):
            return ["The order of events is the same in all runs: only their numbers differ."]
        return []
    goes = order_goes_with_result(found.order, found.confidence)
    return [
        f"The order of events, apart from their number, {'goes' if goes else 'does not go'} with "
        f"{one_line(found.response)}: how much it differs between two runs and how much their "
        f"results differ have r = {coefficient_text(found.order)}, p {p_text(p)}."
    ]


def _overhead(found: InternalVariance) -> str:
    factor, unit = scale_for(found.recorded_mean, found.unit)
    recorded = f"{found.recorded_mean / factor:.4g} {unit}".strip()
    if found.plain_mean is None:
        return f"With events recorded {one_line(found.response)} is {recorded}."
    factor, unit = scale_for(found.plain_mean, found.unit)
    plain = f"{found.plain_mean / factor:.4g} {unit}".strip()
    both = f"{one_line(found.response)} is {recorded} with events recorded and {plain} without"
    ratio = found.overhead
    if not isinstance(ratio, Estimate):
        return f"{both}."
    if ratio.low <= 1 <= ratio.high:
        return f"{both}: no difference that is sure, ratio {ratio_text(ratio)}."
    if ratio.estimate >= _MANY_TIMES:
        times = [
            f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
            for value in (ratio.estimate, ratio.low, ratio.high)
        ]
        return f"{both}: {times[0]} [{times[1]}, {times[2]}] times as much."
    more = "more" if ratio.estimate >= 1 else "less"
    return f"{both}: {difference_text(ratio)} {more}."


def correlation_table(found: InternalVariance, most: int | None = None) -> Table:
    """A row a kind that differs, as Table 4.3 of Larres (2012), then all events, then the order as
    in his Table 4.4."""
    rows = [_row(kind) for kind in found.kinds if kind.differs][:most]
    rows.append(_row(found.total))
    order = (
        "order of events",
        coefficient_text(found.order),
        p_cell(found.order.p),
        "",
        "",
        "",
        "",
    )
    headers = ("event", "Pearson r", "p", "corrected p", "rank r", "p", "corrected p")
    return Table(headers, (*rows, order), frozenset({0}), spare=(5, 2))


def _row(kind: KindOfEvent) -> tuple[str, ...]:
    return (
        one_line(kind.name),
        *correlation_cells(kind),
    )


def counts_table(found: InternalVariance, most_runs: int | None = None) -> Table:
    """How often each kind occurs in each run, ``!`` where runs differ: Figure 4.3 of Larres
    (2012). The runs come from the lowest result to the highest."""
    places = sorted(range(len(found.runs)), key=lambda place: found.runs[place].value)
    if most_runs is not None and len(places) > most_runs:
        step = (len(places) - 1) / (most_runs - 1)
        places = [places[round(index * step)] for index in range(most_runs)]
    factor, unit = scale_for(found.recorded_mean, found.unit)
    values = [f"{found.runs[place].value / factor:.4g}" for place in places]
    head = f"{one_line(found.response)} [{unit}]" if unit else one_line(found.response)
    rows = [
        (one_line(kind.name), "!" if kind.differs else "", *(str(kind.counts[p]) for p in places))
        for kind in (*found.kinds, found.total)
    ]
    return Table((head, "", *values), tuple(rows), frozenset({0, 1}))


def diff_lines(found: InternalVariance) -> list[str]:
    """The order of events in two runs side by side, as Figure 4.4 of Larres (2012)."""
    signs = {"both": " ", "first": "<", "second": ">"}
    return ["  ..." if not name else f"{signs[side]} {one_line(name)}" for side, name in found.diff]


def events_text(found: InternalVariance, _origin: Origin, width: int | None = None) -> str:
    """What may be said, then the tables; ends with a newline."""
    lines = wrapped(headline(found), width)
    for sentence in conclusion(found):
        lines += wrapped(sentence, width)
    counts = counts_table(found, _MOST_RUNS)
    shown = counts._replace(rows=(*counts.rows[:-1][:_MOST_KINDS], counts.rows[-1]))
    lines += ["", *plain_table(correlation_table(found, _MOST_KINDS), width)]
    lines += ["", *plain_table(shown, width)]
    if len(found.runs) > _MOST_RUNS or len(found.kinds) > _MOST_KINDS:
        lines.append(
            f"{len(found.runs)} runs, {len(found.kinds)} kinds; --json and --html have all."
        )
    if found.paths:
        lines += ["", *paths_lines(found.paths[:_MOST_PATHS], width)]
        if len(found.paths) > _MOST_PATHS:
            lines.append(f"{len(found.paths):,} call paths; --json and --html have all.")
    if found.cautions:
        lines.append("")
        for caution in found.cautions:
            lines += wrapped(f"warning: {caution_text(caution.message)}", width)
    return "\n".join(lines) + "\n"
