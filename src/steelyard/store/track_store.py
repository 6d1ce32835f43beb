"""The tracks of a store, and what was done about their changes."""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from sqlalchemy import delete, func, insert, select

from steelyard.core.errors import StoreError
from steelyard.core.track_row import TrackRow
from steelyard.core.tracks import TrackName
from steelyard.store.added_values import Added, RevisionFacts, add_values, set_positions
from steelyard.store.database import Store
from steelyard.store.schema import change_notes, revisions, track_values, tracks

NoteSort = Literal["acknowledged", "snoozed", "confirmed", "refuted", "unclear", "told"]


@dataclass(frozen=True)
class StoredTrack:
    """What a track is of, with how many values it has."""

    number: int
    repository: str
    branch: str
    benchmark: str
    metric: str
    host: str
    unit: str
    direction: str
    value_count: int = 0

    @property
    def name(self) -> TrackName:
        """What the track is of."""
        return TrackName(self.benchmark, self.metric, self.host, self.repository, self.branch)


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A revision as the store knows it; `position` is None where git does not know it."""

    number: int
    name: str
    position: int | None
    parents: tuple[str, ...]
    committed_unix_s: float | None
    subject: str


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value of a track at the revision with the number `revision` in the store.

    `place` is where its source puts it along the track, if it says so.
    """

    revision: int
    first_revision: str | None
    place: int | None
    value: float
    low: float | None
    high: float | None
    confidence: float | None
    trial_count: int
    observations: Sequence[float]
    measured_unix_s: float | None
    source: str


@dataclass(frozen=True)
class ChangeNote:
    """Something that was done about the change of a track at a revision."""

    track: int
    revision: str
    sort: NoteSort
    created_unix_s: float
    until_unix_s: float | None = None
    experiment: str | None = None
    note: str = ""


class TrackStore:
    """The tracks in a store.

    Raises
    ------
    StoreError
        From every method, as of `Store`.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(
        self,
        repository: str,
        rows: Sequence[TrackRow],
        source: str,
        facts: Mapping[str, RevisionFacts],
    ) -> Added:
        """Keep the values of a source, all or none; see `add_values`."""
        with self.store.writing() as connection:
            return add_values(connection, repository, rows, source, facts)

    def place(self, repository: str, facts: Mapping[str, RevisionFacts]) -> None:
        """Put the revisions of a repository where git has them now."""
        with self.store.writing() as connection:
            set_positions(connection, repository, facts)

    def tracks(self) -> tuple[StoredTrack, ...]:
        """All tracks, by benchmark, metric, host, branch and repository."""
        counted = (
            select(track_values.c.track_id, func.count().label("value_count"))
            .group_by(track_values.c.track_id)
            .subquery()
        )
        query = (
            select(tracks, counted.c.value_count)
            .join(counted, counted.c.track_id == tracks.c.id)
            .order_by(*(tracks.c[name] for name in ("benchmark", "metric", "host", "branch")))
        )
        with self.store.reading() as connection:
            return tuple(StoredTrack(*row) for row in connection.execute(query).all())

    def revisions(self, repository: str) -> tuple[StoredRevision, ...]:
        """The revisions of a repository in the order in which they were added."""
        query = (
            select(revisions).where(revisions.c.repository == repository).order_by(revisions.c.id)
        )
        with self.store.reading() as connection:
            return tuple(self._revision(row) for row in connection.execute(query))

    def _revision(self, row: Any) -> StoredRevision:
        try:
            parents = tuple(map(str, json.loads(row.parents)))
        except (TypeError, ValueError):
            raise StoreError(
                f"The store {self.store.path} holds no readable parents of revision "
                f"{row.revision}. `steelyard history add` of its repository mends that.",
                field="--store",
            ) from None
        return StoredRevision(
            row.id, row.revision, row.position, parents, row.committed_unix_s, row.subject
        )

    def values(self, track: int) -> tuple[StoredValue, ...]:
        """The values of the track with this number, in the order in which they were added."""
        names = [field.name for field in fields(StoredValue)]
        columns = [track_values.c["revision_id" if n == "revision" else n] for n in names]
        query = select(*columns).where(track_values.c.track_id == track).order_by(track_values.c.id)
        with self.store.reading() as connection:
            rows: Sequence[Any] = connection.execute(query).all()
        at = names.index("observations")
        # By place: a row's names take longer to look up than all else.
        found: list[StoredValue] = []
        for row in rows:
            cells: list[Any] = list(row)
            cells[at] = _doubles(cells[at])
            found.append(StoredValue(*cells))
        return tuple(found)

    def remove(self, numbers: Iterable[int], source: str | None = None) -> int:
        """Forget tracks, or their values of one source; how many values that were."""
        removed = 0
        with self.store.writing() as connection:
            for number in numbers:
                chosen = track_values.c.track_id == number
                if source is not None:
                    chosen = chosen & (track_values.c.source == source)
                removed += connection.execute(delete(track_values).where(chosen)).rowcount
                left = select(func.count()).where(track_values.c.track_id == number)
                if connection.execute(left).scalar_one() == 0:
                    connection.execute(delete(tracks).where(tracks.c.id == number))
        return removed

    def note(self, found: ChangeNote) -> None:
        """Keep what was done about a change."""
        row = {
            "track_id": found.track,
            "revision": found.revision,
            "sort": found.sort,
            "created_unix_s": found.created_unix_s or time.time(),
            "until_unix_s": found.until_unix_s,
            "experiment": found.experiment,
            "note": found.note,
        }
        with self.store.writing() as connection:
            connection.execute(insert(change_notes).values(**row))

    def notes(self) -> tuple[ChangeNote, ...]:
        """All that was done about changes, the oldest first."""
        query = select(change_notes).order_by(change_notes.c.id)
        with self.store.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(
            ChangeNote(
                row.track_id,
                row.revision,
                row.sort,
                row.created_unix_s,
                row.until_unix_s,
                row.experiment,
                row.note,
            )
            for row in rows
        )


def _doubles(content: bytes | None) -> Sequence[float]:
    found = array("d")
    if content is not None:
        found.frombytes(content)
    return found
