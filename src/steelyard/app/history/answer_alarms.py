"""Acknowledging alarms, and putting them off."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from steelyard.app.history.stored_tracks import Chosen, chosen_tracks
from steelyard.core.errors import UsageError
from steelyard.core.tracks import TrackName
from steelyard.store.track_store import ChangeNote, TrackStore

if TYPE_CHECKING:
    from steelyard.app.results.library import Library


@dataclass(frozen=True)
class AlarmAnswer:
    """What was done about the changes at a revision, and on which tracks."""

    revision: str
    sort: Literal["acknowledged", "snoozed"]
    until_unix_s: float | None
    tracks: tuple[TrackName, ...]


def answer_alarm(
    revision: str, chosen: Chosen, library: Library, note: str, snooze_s: float | None = None
) -> AlarmAnswer:
    """Keep that somebody knows of the changes at a revision, so that no check tells of them again.

    Parameters
    ----------
    revision : str
        Its name, or the beginning of it.
    chosen : Chosen
        The tracks.
    note : str
    snooze_s : float, optional
        For so long; None stands for ever.

    Raises
    ------
    UsageError
        No track has a value at such a revision, or several revisions begin so.
    """
    store = TrackStore(library.store)
    tracks = chosen_tracks(store, chosen)
    found: dict[str, list[tuple[int, TrackName]]] = {}
    for repository in dict.fromkeys(track.repository for track in tracks):
        names = {r.number: r.name for r in store.revisions(repository)}
        wanted = {n for n, name in names.items() if name == revision} or {
            n for n, name in names.items() if name.startswith(revision)
        }
        for track in tracks:
            if track.repository != repository or not wanted:
                continue
            for number in {v.revision for v in store.values(track.number)} & wanted:
                found.setdefault(names[number], []).append((track.number, track.name))
    if not found:
        raise UsageError(f"No chosen track has a value at revision {revision!r}.", field="revision")
    if len(found) > 1:
        several = ", ".join(sorted(found)[:3])
        raise UsageError(
            f"Several revisions begin with {revision!r}: {several}. Write more of its name.",
            field="revision",
        )
    (name, own) = next(iter(found.items()))
    now = time.time()
    sort = "acknowledged" if snooze_s is None else "snoozed"
    until = None if snooze_s is None else now + snooze_s
    for number, _ in own:
        store.note(ChangeNote(number, name, sort, now, until, note=note))
    return AlarmAnswer(name, sort, until, tuple(track for _, track in own))
