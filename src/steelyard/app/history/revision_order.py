"""The order of the values of a track: by git's topology where that is known, else by what is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from steelyard.store.track_store import StoredRevision, StoredValue


class Placed(NamedTuple):
    """A value at its place along the track; equal places are runs of one revision."""

    place: int
    value: StoredValue


def repository_places(revisions: Sequence[StoredRevision]) -> dict[int, int]:
    """The place of each revision of a repository by its number; empty where git knows none.

    Parameters
    ----------
    revisions : sequence of StoredRevision
        In the order in which they were added.

    Notes
    -----
    Revisions that git knows go by their topological order. One that it does not know, of a
    history that was rewritten, goes behind the last known one that is not younger; without a time
    behind the one that was added before it.
    """
    known = [revision for revision in revisions if revision.position is not None]
    if not known:
        return {}
    order = _with_unknown(revisions, known)
    return {revision.number: place for place, revision in enumerate(order)}


def ordered_values(
    values: Sequence[StoredValue],
    revisions: Mapping[int, StoredRevision],
    places: Mapping[int, int] | None = None,
) -> list[Placed]:
    """The values of a track, ancestors first.

    Parameters
    ----------
    values : sequence of StoredValue
        In the order in which they were added.
    revisions : mapping of number to StoredRevision
    places : mapping of number to int, optional
        Of the repository's revisions (`repository_places`).

    Notes
    -----
    Without places, where git knows no revision: by the index that the source gave, else by time
    where every revision has one (when it was made, else first measured), else by number where all
    are named by numbers, else in the order in which they were added.
    """
    if not places:
        own = [revisions[number] for number in dict.fromkeys(value.revision for value in values)]
        order = _without_git(own, values)
        places = {revision.number: place for place, revision in enumerate(order)}
    placed = [Placed(places[value.revision], value) for value in values]
    return sorted(placed, key=attrgetter("place"))


def _with_unknown(
    own: Sequence[StoredRevision], known: Sequence[StoredRevision]
) -> list[StoredRevision]:
    """Known revisions by position, each followed by the unknown ones that belong behind it."""
    order = sorted(known, key=lambda revision: revision.position or 0)
    # The latest time so far, so that clocks that go back do not hide what is behind them.
    latest: list[float] = []
    for revision in order:
        last = latest[-1] if latest else float("-inf")
        latest.append(max(last, revision.committed_unix_s or last))
    place_of = {revision.number: place for place, revision in enumerate(order)}
    behind: list[tuple[float, float, int, StoredRevision]] = []
    previous = -1
    for revision in own:
        if revision.number in place_of:
            previous = place_of[revision.number]
            continue
        time = revision.committed_unix_s
        place = previous if time is None else bisect_right(latest, time) - 1
        behind.append((place + 0.5, time or 0.0, revision.number, revision))
    found = [(float(place), 0.0, 0, revision) for place, revision in enumerate(order)]
    return [item[-1] for item in sorted([*found, *behind], key=lambda item: item[:3])]


def _without_git(
    own: Sequence[StoredRevision], values: Sequence[StoredValue]
) -> list[StoredRevision]:
    given = {value.revision: value.place for value in values if value.place is not None}
    if len(given) == len(own):
        return sorted(own, key=lambda revision: (given[revision.number], revision.number))
    times = _times(own, values)
    if len(times) == len(own):
        return sorted(own, key=lambda revision: (times[revision.number], revision.number))
    if all(revision.name.isdecimal() and revision.name.isascii() for revision in own):
        return sorted(own, key=lambda revision: (len(revision.name.lstrip("0")), revision.name))
    return sorted(own, key=lambda revision: revision.number)


def _times(own: Sequence[StoredRevision], values: Sequence[StoredValue]) -> dict[int, float]:
    """When each revision was made, else first measured, of those where one is known."""
    found = {r.number: r.committed_unix_s for r in own if r.committed_unix_s is not None}
    measured: dict[int, float] = {}
    for value in values:
        if value.measured_unix_s is not None:
            first = measured.get(value.revision, value.measured_unix_s)
            measured[value.revision] = min(first, value.measured_unix_s)
    return {**measured, **found}
