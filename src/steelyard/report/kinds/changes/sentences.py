"""What is said of changes and alarms, in words."""

from __future__ import annotations

from steelyard.analysis.history.stated_alarms import StatedAlarm
from steelyard.core.estimate import Estimate
from steelyard.core.tracks import Change
from steelyard.core.units import format_value
from steelyard.report.texts.readable import decimals_for, one_line

# As git shortens names of revisions in large repositories.
SHORT_LENGTH = 12
_HEXADECIMAL = frozenset("0123456789abcdef")
_LONG_NAME = 40
_STATES = {
    "new": "new",
    "old": "old",
    "acknowledged": "acknowledged",
    "snoozed": "snoozed",
    "refuted": "not confirmed by a run",
    "host": "the host changed",
}


def short_revision(revision: str) -> str:
    """The beginning of a name of git; other names as they are."""
    is_git = len(revision) >= _LONG_NAME and set(revision) <= _HEXADECIMAL
    return revision[:SHORT_LENGTH] if is_git else one_line(revision)


def size_text(change: Change, unit: str) -> str:
    """How large a change is: in percent with its interval, such as ``+10.2 % [+9.8, +10.6]``."""
    if change.kind == "noise":
        return _noise_text(change)
    size = change.size
    if isinstance(size, Estimate):
        half = 100 * size.half_width
        decimals = min(4, max(1 if half < 10 else 0, decimals_for(half)))
        parts = [100 * (value - 1) for value in (size.estimate, size.low, size.high)]
        told = [f"{part:+z.{decimals}f}" for part in parts]
        return f"{told[0]} % [{told[1]}, {told[2]}]"
    if size.estimate is not None:
        return f"about {100 * (size.estimate - 1):+z.2g} %"
    moved = change.difference.estimate
    return "unknown" if moved is None else f"{'+' if moved > 0 else ''}{format_value(moved, unit)}"


def _noise_text(change: Change) -> str:
    size = change.size
    if isinstance(size, Estimate):
        return f"noise × {size.estimate:.2g} [{size.low:.2g}, {size.high:.2g}]"
    return "noise" if size.estimate is None else f"noise × {size.estimate:.2g}"


def change_sentence(change: Change, unit: str) -> str:
    """One change in one sentence, without its track."""
    where = short_revision(change.revision)
    if change.first_revision and change.first_revision != change.revision:
        where = f"{short_revision(change.first_revision)}..{where}"
    verdict = "" if change.direction == "neither" else f", {change.direction}"
    size = size_text(change, unit)
    told = size if change.kind == "noise" else f"{change.kind} of {size}"
    return f"{told} at {where}{verdict}"


def alarm_sentence(stated: StatedAlarm, units: dict[str, str]) -> str:
    """One alarm in one sentence: its most certain change, and on how many tracks it shows."""
    change = stated.alarm.changes[0]
    track = str(change.track)
    text = f"{one_line(track)}: {change_sentence(change, units.get(track, ''))}"
    if stated.subject:
        text += f' ("{one_line(stated.subject)}")'
    others = len({one.track for one in stated.alarm.changes}) - 1
    if others:
        text += f", and on {others} other track{'s'[: others > 1]}"
    if stated.alarm.reason == "moved-cost":
        text += "; what some benchmarks lost others gained"
    return f"{text}."


def state_text(stated: StatedAlarm) -> str:
    """What is known of an alarm beside its changes, such as ``new, confirmed``."""
    text = _STATES[stated.state]
    found = stated.confirmation
    if found is not None and found.verdict != "refuted":
        text += f", {found.verdict}"
        text += f" ({one_line(found.reason)})" if found.reason else ""
    return f"{text}: {one_line(stated.note)}" if stated.note else text
