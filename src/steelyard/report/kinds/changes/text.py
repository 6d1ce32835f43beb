"""Changes and alarms as text for people, in a terminal and in a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.history.stated_alarms import FoundChanges, StatedAlarm
from steelyard.report.formats.markdown import escaped, table_lines
from steelyard.report.kinds.changes.sentences import alarm_sentence, short_revision, state_text
from steelyard.report.kinds.changes.tables import changes_table
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import one_line

# A table in a terminal or a pull request that nobody reads to its end helps nobody.
MOST_ROWS = 50


def summary_sentence(found: FoundChanges) -> str:
    """What was looked at, and how much was found."""
    tracks, changes = len(found.tracks), len(found.changes)
    values = sum(track.count for track in found.tracks)
    new = sum(stated.state == "new" for stated in found.alarms)
    return (
        f"{_counted(changes, 'change')} in {_counted(tracks, 'track')} with {values} values, "
        f"{_counted(new, 'new alarm')}; detector {found.detector}."
    )


def changes_text(found: FoundChanges, width: int | None = None) -> str:
    """New alarms first, then the table of changes; ends with a newline."""
    units = units_of(found)
    lines = wrapped(summary_sentence(found), width)
    for stated in found.alarms:
        if stated.state in ("new", "refuted"):
            told = f"{state_text(stated)}: {alarm_sentence(stated, units)}"
            lines += ["", *wrapped(told[0].upper() + told[1:], width)]
            lines += [f"  {stated.link}"] if stated.link else []
    table = changes_table(found, MOST_ROWS)
    if table.rows:
        lines += ["", *plain_table(table, width)]
    left = len(found.changes) - len(table.rows)
    if left:
        lines += ["", f"{left} smaller changes are left out; --json and -o have all."]
    return "\n".join(lines) + "\n"


def changes_markdown(found: FoundChanges, alarms: Sequence[StatedAlarm] | None = None) -> str:
    """The same for a pull request or a chat; `alarms` in place of the new ones."""
    units = units_of(found)
    told = [s for s in found.alarms if s.state == "new"] if alarms is None else list(alarms)
    lines = [escaped(summary_sentence(found)), ""]
    for stated in told:
        mark = {"worse": "🔴", "better": "🟢", "neither": "⚪"}[stated.alarm.direction]
        state = escaped(state_text(stated))
        lines.append(
            f"- {mark} **{state}**: {escaped(alarm_sentence(stated, units))}{_link(stated)}"
        )
    if not told:
        lines.append("No new alarm.")
    table = changes_table(found, MOST_ROWS)
    if table.rows and alarms is None:
        lines += ["", "<details><summary>All changes</summary>", "", *table_lines(table)]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def units_of(found: FoundChanges) -> dict[str, str]:
    """The unit of each track by its text."""
    return {str(track.name): track.unit for track in found.tracks}


def _link(stated: StatedAlarm) -> str:
    if not stated.link:
        return ""
    # Parentheses would end the address, and angle brackets an HTML element.
    safe = stated.link.replace("(", "%28").replace(")", "%29").replace("<", "").replace(">", "")
    return f" [{escaped(one_line(short_revision(stated.alarm.revision)))}]({safe})"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s'[: count != 1]}"
