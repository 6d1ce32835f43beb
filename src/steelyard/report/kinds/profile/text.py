"""A profile as text for people."""

from __future__ import annotations

import os

from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.analysis.profiles.profile_samples import COUNTED, FunctionShare, independent_count
from steelyard.analysis.profiles.sampling_health import SamplingHealth
from steelyard.core.estimate import Interval, Unbounded
from steelyard.core.units import format_duration, format_value
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import caution_text, one_line
from steelyard.report.texts.table import Table

SHOWN_FUNCTIONS = 25
_NAME_WIDTH = 60
_TOLD_WORTH_RATIO = 0.95
_TOLD_UNWATCHED_RATIO = 0.01


def share_text(share: Interval) -> str:
    """A share with its interval, in percent."""
    if isinstance(share, Unbounded):
        return f"{100 * (share.estimate or 0.0):.1f} % (unbounded)"
    if share.method == COUNTED:
        return f"{100 * share.estimate:.1f} %"
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.estimate:.1f} % ({low:.1f} – {high:.1f})"


def _short(name: str) -> str:
    plain = one_line(name)
    return plain if len(plain) <= _NAME_WIDTH else plain[: _NAME_WIDTH - 1] + "…"


def weighed(answer: ProfileAnswer) -> str:
    """What shares are of."""
    return "events" if answer.recorded.is_of_events else "time"


def functions_table(answer: ProfileAnswer, limit: int | None = None) -> Table:
    """A row a function, those first in which the program itself was most often."""
    shown = [share for share in answer.functions if share.sample_count][:limit]
    chains = any(share.total_share is not None for share in shown)
    callees = ("with callees",) if chains else ()
    inlines = any(share.inlined_ratio for share in shown)
    inlined = ("inlined",) if inlines else ()
    headers = (weighed(answer), *callees, "samples", "kernel", *inlined, "function", "in")
    rows = tuple(_function_row(share, chains, inlines) for share in shown)
    left = frozenset({len(headers) - 2, len(headers) - 1})
    return Table(headers, rows, left, spare=(len(headers) - 3,))


def _part(ratio: float) -> str:
    return f"{100 * ratio:.0f} %" if ratio else ""


def _function_row(share: FunctionShare, chains: bool, inlines: bool) -> tuple[str, ...]:
    total = share.total_share
    within = ("–" if total is None else f"{100 * (total.estimate or 0.0):.1f} %",) if chains else ()
    kernel = _part(share.kernel_ratio)
    inlined = (_part(share.inlined_ratio),) if inlines else ()
    place = one_line(os.path.basename(share.frame.object)) or share.frame.object
    return (
        share_text(share.share),
        *within,
        str(share.sample_count),
        kernel,
        *inlined,
        _short(share.frame.name),
        place,
    )


def threads_table(answer: ProfileAnswer) -> Table:
    """A row a thread."""
    rows = tuple(
        (
            share_text(share.share),
            str(share.sample_count),
            one_line(share.name) or "–",
            str(share.thread),
            str(share.process),
        )
        for share in answer.threads[:SHOWN_FUNCTIONS]
    )
    headers = (weighed(answer), "samples", "name", "thread", "process")
    return Table(headers, rows, frozenset({2}))


def health_line(item: SamplingHealth) -> str:
    """How random the looks at one CPU or thread were."""
    return (
        f"{item.source}: {item.interval_count} intervals, mean "
        f"{format_value(item.mean_ns * 1e-9, 's', 3)}, variation {100 * item.variation:.0f} %, "
        f"{100 * item.outside_ratio:.0f} % of lags beyond the bound of independence (5 % expected)"
    )


def delays_lines(answer: ProfileAnswer) -> list[str]:
    """What of the looks went otherwise than planned, where anything did."""
    late, unseen = answer.recorded.late_count, answer.recorded.unseen_count
    if not late and not unseen:
        return []
    missed = answer.recorded.missed_count
    return [
        f"{late} looks too late to be armed, drawn anew; {unseen} without a sample, "
        f"{missed} of them while no CPU was idle"
    ]


def _each(every: int) -> str:
    return "each" if every == 1 else f"one in {every:,}"


def facts_line(answer: ProfileAnswer) -> str:
    """How it was recorded, in one line."""
    header, summary = answer.recorded.header, answer.recorded.summary
    count = len(answer.samples.functions)
    if header.get("unit") == "ns":
        period = format_value(float(header["period"]) * 1e-9, "s", 3)
    else:
        period = f"{header.get('period')} {header.get('unit')}"
    spread = {
        "uniform": "random",
        "exponential": "exponential",
        "rounds": "random by rounds",
        "fixed": "fixed",
    }
    worth = independent_count(answer.samples)
    counted = f"{count} samples"
    if worth < _TOLD_WORTH_RATIO * count:
        counted += f", worth {worth:.0f} independent ones"
    parts = [counted, f"period {period}, {spread.get(header.get('spread', ''), '?')}"]
    if answer.recorded.is_of_events:
        parts = [f"{counted}, {_each(int(header['period']))} of {one_line(header['event'])}"]
    ratio = answer.recorded.unwatched_ratio
    if ratio is None or ratio >= _TOLD_UNWATCHED_RATIO:
        told = "an unknown part" if ratio is None else f"{100 * ratio:.0f} %"
        what = "events lost" if answer.recorded.is_of_events else "its time not watched"
        parts.append(f"{told} of {what}")
    if "elapsed_ns" in summary:
        parts.append(f"over {format_duration(summary['elapsed_ns'] * 1e-9)}")
    if "handling_ns" in summary and count:
        looks = len(answer.recorded.look_times_ns)
        look = "an event" if answer.recorded.is_of_events else "a look"
        parts.append(f"{summary['handling_ns'] * 1e-3 / looks:.0f} µs of processor time {look}")
    return "; ".join(parts)


def profile_text(answer: ProfileAnswer, width: int | None = None) -> str:
    """What the terminal shows; ends with a newline."""
    lines = [facts_line(answer), ""]
    lines += plain_table(functions_table(answer, SHOWN_FUNCTIONS), width)
    hidden = sum(bool(share.sample_count) for share in answer.functions) - SHOWN_FUNCTIONS
    if hidden > 0:
        lines.append(f"and {hidden} more functions (--json and --html have all)")
    if len(answer.threads) > 1:
        lines += ["", *plain_table(threads_table(answer), width)]
    how = [*(health_line(item) for item in answer.health), *delays_lines(answer)]
    lines += ["", *how] if how else []
    for caution in answer.cautions:
        lines += ["", f"Warning: {caution_text(caution.message)}"]
    return "\n".join(lines) + "\n"
