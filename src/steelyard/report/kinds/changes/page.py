"""The page of a history: tracks with their bands and changes, and the table of changes."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.history.stated_alarms import FoundChanges, StatedAlarm
from steelyard.report.kinds.changes.drawn_tracks import drawn_tracks
from steelyard.report.kinds.changes.sentences import (
    alarm_sentence,
    short_revision,
    size_text,
    state_text,
)
from steelyard.report.kinds.changes.tables import changes_by_size, confidence_cell
from steelyard.report.kinds.changes.text import summary_sentence, units_of
from steelyard.report.pages.rendered import embedded_json, own_script, rendered_page

# Rows that a browser shows without a delay; --json has all.
MOST_ROWS = 1000


def changes_page(found: FoundChanges) -> str:
    """One page that loads nothing from anywhere.

    Parameters
    ----------
    found : FoundChanges
        Its tracks with their points.
    """
    rows = changes_by_size(found.tracks)
    tracks = sorted(found.tracks, key=lambda track: -len(track.changes))
    place = {track.name: number for number, track in enumerate(tracks)}
    script = own_script("changes/changes.js")
    view = {
        "title": "Changes along revisions",
        "summary": summary_sentence(found),
        "alarms": [_alarm(stated, found) for stated in found.alarms if stated.state != "old"],
        "rows": [
            {
                "track": str(track.name),
                "place": place[track.name],
                "benchmark": track.name.benchmark,
                "metric": track.name.metric,
                "host": track.name.host,
                "kind": change.kind,
                "revision": short_revision(change.revision),
                "size": size_text(change, track.unit),
                "direction": change.direction,
                "confidence": confidence_cell(change),
            }
            for track, change in rows[:MOST_ROWS]
        ],
        "left_out": max(0, len(rows) - MOST_ROWS),
        "hosts": sorted({track.name.host for track in tracks}),
        "metrics": sorted({track.name.metric for track in tracks}),
        "cautions": [caution.message for caution in found.cautions],
        "drawn": embedded_json(drawn_tracks(tracks)),
        **script,
    }
    return rendered_page("changes/page.html.jinja", view, ("page.css", "changes/changes.css"))


def _alarm(stated: StatedAlarm, found: FoundChanges) -> dict[str, Any]:
    tone = {"worse": "slower", "better": "faster", "neither": "neutral"}[stated.alarm.direction]
    if stated.state != "new":
        tone = "neutral"
    safe = stated.link if stated.link.startswith(("https://", "http://")) else ""
    return {
        "tone": tone,
        "state": state_text(stated),
        "sentence": alarm_sentence(stated, units_of(found)),
        "link": safe,
        "revision": short_revision(stated.alarm.revision),
    }
