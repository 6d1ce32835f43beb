"""What was kept of changes: a change is known by any of the revisions among which it lies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from steelyard.analysis.history.stated_alarms import TrackChanges
from steelyard.core.tracks import Change
from steelyard.store.track_store import ChangeNote


class KnownNotes:
    """Notes by the changes that they are on.

    Parameters
    ----------
    notes : sequence of ChangeNote
        In the order in which they were kept.
    tracks : iterable of TrackChanges
    """

    def __init__(self, notes: Sequence[ChangeNote], tracks: Iterable[TrackChanges]) -> None:
        self._at: dict[tuple[int, str], list[tuple[int, ChangeNote]]] = {}
        for place, note in enumerate(notes):
            self._at.setdefault((note.track, note.revision), []).append((place, note))
        self._known: dict[int, tuple[int, tuple[str, ...]]] = {}
        for track in tracks:
            spans = track.spans or ((),) * len(track.changes)
            for change, span in zip(track.changes, spans, strict=True):
                self._known[id(change)] = (track.number or 0, (change.revision, *span))

    def on(self, change: Change) -> list[ChangeNote]:
        """The notes on a change of the tracks, oldest first.

        A run that refuted a change has said so of its revision alone: a true one may begin beside
        it.
        """
        number, revisions = self._known[id(change)]
        found = {
            place: note
            for revision in dict.fromkeys(revisions)
            for place, note in self._at.get((number, revision), ())
            if note.sort != "refuted" or revision == change.revision
        }
        return [found[place] for place in sorted(found)]
