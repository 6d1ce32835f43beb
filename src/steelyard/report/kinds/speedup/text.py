"""Promised and measured gains as text for people."""

from __future__ import annotations

from dataclasses import replace

from steelyard.analysis.profiles.speedup import Promise, Speedup
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.units import format_value
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import caution_text, one_line
from steelyard.report.texts.table import Table

_VERDICTS = {
    "predicts": "predicts the gain",
    "too-much": "promises too much",
    "too-little": "promises too little",
}


def verdict_text(promise: Promise) -> str:
    """What a profiler's promise was worth, in words."""
    if promise.verdict != "undecided":
        return _VERDICTS[promise.verdict]
    if isinstance(promise.ratio, Estimate):
        return f"cannot tell: known to ± {promise.ratio.half_width:.2f} only"
    return "cannot tell"


def gain_sentence(found: Speedup) -> str:
    """What mending the function brought, and why no promise can be judged where that is so."""
    times = " and ".join(
        f"{format_value(value.estimate, 's', 3)} {when}"
        for value, when in ((found.before_s, "before"), (found.after_s, "after"))
        if value.estimate is not None
    )
    begin = f"{one_line(found.function)}: measured gain {percent_text(found.gain)}"
    sentence = f"{begin}; processor time {times}, {len(found.blocks)} runs each."
    hidden = hidden_text(found)
    return f"{sentence} {hidden}" if hidden else sentence


def hidden_text(found: Speedup) -> str:
    """Why the gain cannot be told from noise; empty where it can."""
    for promise in found.promises:
        if not isinstance(promise.ratio, Estimate):
            return promise.ratio.explanation
    return ""


def speedup_table(found: Speedup) -> Table:
    """A row for each profiler."""
    headers = ("profiler", "rank", "share before", "promised gain", "promised / measured")
    rows = tuple(
        (
            promise.profiler,
            "–" if promise.rank is None else str(promise.rank),
            percent_text(_within_whole(promise.share)),
            percent_text(promise.gain),
            _ratio_text(promise.ratio),
            "–" if promise.rest is None else percent_text(promise.rest, sign="+"),
            verdict_text(promise),
        )
        for promise in found.promises
    )
    return Table((*headers, "the rest", "so the profiler"), rows, frozenset({0, 6}), (5, 1))


def _within_whole(share: Interval) -> Interval:
    """A share whose interval goes no further than a share can."""
    if not isinstance(share, Estimate):
        return share
    return replace(share, low=max(0.0, share.low), high=min(1.0, share.high))


def percent_text(value: Interval, sign: str = "") -> str:
    """An interval of parts in percent, such as ``41.2 % (40.1 – 42.3)``."""
    if value.estimate is None:
        return "–"
    text = f"{100 * value.estimate:{sign}z.1f} %"
    if not isinstance(value, Estimate):
        return f"about {text}"
    return f"{text} ({100 * value.low:{sign}z.1f} – {100 * value.high:{sign}z.1f})"


def notes(found: Speedup) -> tuple[str, ...]:
    """What the columns mean."""
    if found.factor is None:
        how = "the function's time before less its time after, by the profiler's own shares"
    else:
        how = f"the function's share times 1 - 1/{found.factor:g}, for it is so many times as fast"
    first = (
        f"Promised gain: {how}; the share is the most that can be gained. Both are parts of the "
        "program's time before."
    )
    second = (
        "The rest: by how much all else changed, by this profiler. Where profilers of different "
        "kinds agree that it did, the change did more than its function, and none could have "
        "promised that."
    )
    return (first, second) if found.factor is None else (first,)


def speedup_text(found: Speedup, width: int | None = None) -> str:
    """The table for a terminal; ends with a newline."""
    lines = [*wrapped(gain_sentence(found), width), "", *plain_table(speedup_table(found), width)]
    for caution in found.cautions:
        lines += ["", *wrapped(f"warning: {caution_text(caution.message)}", width)]
    return "\n".join([*lines, "", *notes(found)]) + "\n"


def _ratio_text(value: Interval) -> str:
    if isinstance(value, Estimate):
        return f"{value.estimate:z.2f} ({value.low:z.2f} – {value.high:z.2f})"
    return "–"
