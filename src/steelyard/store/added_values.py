"""Values of tracks into the store: all of a source or nothing, and nothing twice."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, func, select, update

from steelyard.core.errors import DataError
from steelyard.core.track_row import TrackRow
from steelyard.store.schema import revisions, track_values, tracks

# 2^-64 for two of a track's values to be taken for one by chance among 2^32.
_FINGERPRINT_BYTES = 16
_BATCH = 10_000

TrackKey = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class RevisionFacts:
    """What git knows of a revision.

    Parameters
    ----------
    position : int
        Its place in the topological order, ancestors first.
    parents : tuple of str
        Its parents, the first one being of the branch that was merged into.
    committed_unix_s : float
    subject : str
        The first line of its message.
    """

    position: int
    parents: tuple[str, ...]
    committed_unix_s: float
    subject: str


@dataclass(frozen=True)
class Added:
    """How many values of a source were new, and how many the store had."""

    new_count: int
    known_count: int


def add_values(
    connection: Connection,
    repository: str,
    rows: Sequence[TrackRow],
    source: str,
    facts: Mapping[str, RevisionFacts],
) -> Added:
    """Keep the values of one source.

    Parameters
    ----------
    connection : Connection
        One that writes; what is kept stays or goes with its transaction.
    repository : str
        The name of the repository of the revisions; empty where there is none.
    rows : sequence of TrackRow
        With `revision`, `host` and `branch`.
    source : str
        The identifier of an experiment, or the digest of a file.
    facts : mapping of revision to RevisionFacts
        What git knows of these revisions.

    Raises
    ------
    DataError
        A track has another unit or direction than the values: nothing is kept.
    """
    revision_ids = _kept_revisions(connection, repository, rows, facts)
    track_ids = _kept_tracks(connection, repository, rows)
    before = connection.execute(select(func.count()).select_from(track_values)).scalar_one()
    prints = Fingerprints()
    values = (
        {
            "track_id": track_ids[track_key(repository, row)],
            "revision_id": revision_ids[row.revision or ""],
            "first_revision": row.first_revision,
            "place": row.position,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "confidence": row.confidence,
            "trial_count": row.trial_count,
            "observations": array("d", row.observations).tobytes() if row.observations else None,
            "measured_unix_s": row.measured_unix_s,
            "source": source,
            "fingerprint": prints.of(repository, row),
        }
        for row in rows
    )
    _insert_all(connection, track_values, values)
    after = connection.execute(select(func.count()).select_from(track_values)).scalar_one()
    return Added(after - before, len(rows) - (after - before))


def set_positions(
    connection: Connection, repository: str, facts: Mapping[str, RevisionFacts]
) -> None:
    """Put known revisions of a repository where git has them now.

    Revisions that git does not know any more, of a history that was rewritten, lose their place:
    one from another order says nothing in this one.
    """
    query = select(revisions.c.id, revisions.c.revision).where(revisions.c.repository == repository)
    known = connection.execute(query).all()
    for identity, name in known:
        fact = facts.get(name)
        values = {"position": None} if fact is None else _facts_row(fact)
        connection.execute(update(revisions).where(revisions.c.id == identity).values(**values))


def track_key(repository: str, row: TrackRow) -> TrackKey:
    """What tells the track of a value from others."""
    return (repository, row.branch or "", row.benchmark, row.metric, row.host or "")


class Fingerprints:
    """Digests of values by what they say, so that a value is known again in a file that grew.

    Values that are the same in all are told apart by how many there were before in their source.
    """

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def of(self, repository: str, row: TrackRow) -> bytes:
        """The digest of one value; call it for the values of a source in their order."""
        told = (
            track_key(repository, row),
            (row.revision, row.first_revision, row.value, row.low, row.high),
            (row.measured_unix_s, row.trial_count, row.observations),
        )
        content = repr(told).encode("utf-8", "surrogatepass")
        digest = blake2b(content, digest_size=_FINGERPRINT_BYTES).digest()
        count = self._seen.get(digest, 0)
        self._seen[digest] = count + 1
        if count == 0:
            return digest
        return blake2b(digest + str(count).encode(), digest_size=_FINGERPRINT_BYTES).digest()


def _kept_revisions(
    connection: Connection,
    repository: str,
    rows: Sequence[TrackRow],
    facts: Mapping[str, RevisionFacts],
) -> dict[str, int]:
    """The number of each revision in the store."""
    wanted: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = row.revision or ""
        if name in wanted:
            continue
        fact = facts.get(name)
        known = {"position": None, "committed_unix_s": row.committed_unix_s}
        plain = {**known, "parents": "[]", "subject": ""}
        wanted[name] = {
            "repository": repository,
            "revision": name,
            **(plain if fact is None else _facts_row(fact)),
        }
    _insert_all(connection, revisions, wanted.values())
    _tell_times(connection, repository, wanted)
    query = select(revisions.c.revision, revisions.c.id).where(revisions.c.repository == repository)
    return {row.revision: row.id for row in connection.execute(query)}


def _tell_times(
    connection: Connection, repository: str, wanted: Mapping[str, Mapping[str, Any]]
) -> None:
    """Keep the times of revisions that had none so far."""
    lacking = select(revisions.c.id, revisions.c.revision).where(
        revisions.c.repository == repository, revisions.c.committed_unix_s.is_(None)
    )
    for identity, name in connection.execute(lacking).all():
        time = wanted.get(name, {}).get("committed_unix_s")
        if time is not None:
            chosen = update(revisions).where(revisions.c.id == identity)
            connection.execute(chosen.values(committed_unix_s=time))


def _facts_row(fact: RevisionFacts) -> dict[str, Any]:
    return {
        "position": fact.position,
        "parents": json.dumps(list(fact.parents)),
        "committed_unix_s": fact.committed_unix_s,
        "subject": fact.subject,
    }


def _kept_tracks(
    connection: Connection, repository: str, rows: Sequence[TrackRow]
) -> dict[TrackKey, int]:
    """The number of each track in the store, once its unit is known to be that of the values."""
    wanted: dict[TrackKey, TrackRow] = {}
    for row in rows:
        key = track_key(repository, row)
        first = wanted.setdefault(key, row)
        if (first.unit, first.direction) != (row.unit, row.direction):
            raise _changed(row, first.unit, first.direction)
    names = ("repository", "branch", "benchmark", "metric", "host")
    made = (
        {**dict(zip(names, key, strict=True)), "unit": row.unit, "direction": row.direction}
        for key, row in wanted.items()
    )
    _insert_all(connection, tracks, made)
    found: dict[TrackKey, int] = {}
    for row in connection.execute(select(tracks).where(tracks.c.repository == repository)):
        key = (row.repository, row.branch, row.benchmark, row.metric, row.host)
        found[key] = row.id
        asked = wanted.get(key)
        if asked is not None and (row.unit, row.direction) != (asked.unit, asked.direction):
            raise _changed(asked, row.unit, row.direction)
    return found


def _changed(row: TrackRow, unit: str, direction: str) -> DataError:
    """The error for a value whose track is in another unit, or better in the other direction."""
    what = f"{row.metric} of {row.benchmark!r}" if row.metric else repr(row.benchmark)
    if unit != row.unit:
        told = f"{what} is in {unit!r} so far, and in {row.unit!r} at revision {row.revision}."
    else:
        told = f"{what}: {direction} is better so far, {row.direction} at revision {row.revision}."
    return DataError(
        f"{told} Nothing was added. Name the metric or the benchmark otherwise where the unit "
        "changes, or convert the values.",
        field="unit",
    )


def _insert_all(connection: Connection, table: Any, rows: Iterable[dict[str, Any]]) -> None:
    """Insert what is not there yet; every row has the keys of the first one."""
    for batch in _batches(iter(rows)):
        names = tuple(batch[0])
        places = ", ".join("?" * len(names))
        # By the driver: what SQLAlchemy does for each row takes longer than the insertion.
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({places}) "
            "ON CONFLICT DO NOTHING",
            list(map(itemgetter(*names), batch)),
        )


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch
