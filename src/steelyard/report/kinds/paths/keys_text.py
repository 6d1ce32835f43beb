"""What differs between two profiles by their keys, as text for people."""

from __future__ import annotations

import os
from collections import Counter

from steelyard.analysis.paths.key_comparison import ComparedKeys, KeyDifference
from steelyard.analysis.profiles.profile_samples import COUNTED
from steelyard.core.estimate import Interval, Unbounded
from steelyard.report.kinds.profile.text import weighed
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import caution_text, one_line
from steelyard.report.texts.table import Table

SHOWN_KEYS = 25


def keys_text(found: ComparedKeys, width: int | None = None) -> str:
    """What the terminal shows; ends with a newline."""
    lines = wrapped(f"{found.program}, build {found.build}", width)
    answers = (("first", found.first), ("second", found.second))
    for name, answer in answers:
        path = os.path.basename(answer.recorded.path)
        lines.append(f"{name}: {len(answer.samples.functions)} samples of {one_line(path)}")
    lines += wrapped(verdicts_line(found), width)
    if found.differences:
        lines += ["", *plain_table(keys_table(found, SHOWN_KEYS), width)]
        hidden = len(found.differences) - SHOWN_KEYS
        if hidden > 0:
            lines.append(f"and {hidden} more (--json has all)")
    for name, answer in answers:
        for caution in answer.cautions:
            lines += ["", f"Warning, {name}: {caution_text(caution.message)}"]
    return "\n".join(lines) + "\n"


def verdicts_line(found: ComparedKeys) -> str:
    """How many keys differ."""
    counts = Counter(one.verdict for one in found.differences)
    return (
        f"{len(found.differences)} keys: {counts['more']} with a larger share in the second, "
        f"{counts['less']} with a smaller one, {counts['undecided']} undecided; all intervals hold "
        f"together with confidence {100 * found.confidence:g} %"
    )


def keys_table(found: ComparedKeys, limit: int | None = None) -> Table:
    """A row a key, the largest difference first."""
    rows = tuple(_row(found, one) for one in found.differences[:limit])
    headers = ("first", "second", "difference", "verdict", f"key, by {weighed(found.first)}")
    return Table(headers, rows, frozenset({3, 4}))


def _row(found: ComparedKeys, one: KeyDifference) -> tuple[str, ...]:
    return (
        _percent(one.first),
        _percent(one.second),
        _difference(one.difference),
        one.verdict,
        key_text(found, one),
    )


def key_text(found: ComparedKeys, one: KeyDifference) -> str:
    """A function and a height; or why the samples have none."""
    if isinstance(one.key, str):
        return f"no key: {one.key}"
    function, height_bytes = one.key
    return f"{one_line(found.functions[function])}@{height_bytes}"


def _percent(share: Interval) -> str:
    return f"{100 * (share.estimate or 0.0):.1f} %"


def _difference(difference: Interval) -> str:
    shown = f"{100 * (difference.estimate or 0.0):+.1f}"
    if isinstance(difference, Unbounded):
        return f"{shown} (unbounded)"
    if difference.method == COUNTED:
        return shown
    return f"{shown} ({100 * difference.low:+.1f} – {100 * difference.high:+.1f})"
