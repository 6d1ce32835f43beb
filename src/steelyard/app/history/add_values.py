"""Values into the history: from experiments and files, at revisions that git may know."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.app.history.experiment_rows import experiment_rows, without_values
from steelyard.app.history.revision_place import AddRequest, RevisionPlace
from steelyard.app.history.source_file import SourceValues, read_source_file, source_paths
from steelyard.core.errors import DataError, UsageError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.store.track_store import TrackStore

if TYPE_CHECKING:
    from steelyard.app.results.library import Library


@dataclass(frozen=True)
class AddedSource:
    """What became of one source."""

    name: str
    source: str
    tracks: int
    new_count: int
    known_count: int


@dataclass(frozen=True)
class AddedValues:
    """What became of all sources; `repository` is empty where there is none."""

    repository: str
    branch: str
    sources: tuple[AddedSource, ...]
    cautions: tuple[Caution, ...]


def add_values(asked: AddRequest, library: Library) -> AddedValues:
    """Keep the values of sources, each source as a whole.

    Raises
    ------
    UsageError
        A source names no revision and none is given; git knows none of the revisions.
    DataError
        A file is not what it should be, or a unit changes midway: of that source nothing is kept.
    """
    cautions: list[Caution] = []
    sources = [_renamed(found, asked) for found in _sources(asked, library, cautions)]
    sources = [_with_revisions(found, asked) for found in sources]
    tracks = TrackStore(library.store)
    place = RevisionPlace.of(asked, sources, tracks)
    cautions += place.cautions
    facts = place.facts(tracks, sources)
    added: list[AddedSource] = []
    for found in sources:
        rows = [place.placed(row, asked) for row in found.rows]
        cautions += _cautions_of(found)
        count = tracks.add(place.name, rows, found.source, facts)
        names = {(row.branch, row.benchmark, row.metric, row.host) for row in rows}
        added.append(
            AddedSource(found.name, found.source, len(names), count.new_count, count.known_count)
        )
    if facts:
        tracks.place(place.name, facts)
    return AddedValues(place.name, place.branch, tuple(added), tuple(cautions))


def _sources(asked: AddRequest, library: Library, cautions: list[Caution]) -> list[SourceValues]:
    found: list[SourceValues] = []
    for name in asked.sources:
        if not os.path.exists(name):
            experiment = _experiment_of(name, library)
            rows = experiment_rows(experiment, asked.metrics)
            identifier = experiment.spec.identifier
            left_out = without_values(experiment, rows)
            found.append(SourceValues(identifier, identifier, rows, left_out))
            continue
        paths = list(source_paths(name))
        for path in paths:
            try:
                found.append(read_source_file(path, asked.format_name, asked.metrics))
            except DataError as error:
                if not os.path.isdir(name) or "looks like none" not in error.message:
                    raise
                told = f"{path} is left out: its format is not known."
                cautions.append(Caution("file-left-out", told))
    if not found:
        raise DataError(
            f"There is no file with values in {', '.join(asked.sources)}.", field="file"
        )
    return found


def _experiment_of(name: str, library: Library) -> Experiment:
    try:
        return library.load(name)
    except UsageError as error:
        raise UsageError(
            f"{name} is neither a file nor an experiment of the store. {error.message}",
            field="source",
        ) from None


def _renamed(found: SourceValues, asked: AddRequest) -> SourceValues:
    """With the names that the call gives in place of the source's."""
    if asked.benchmark is not None and len({row.benchmark for row in found.rows}) > 1:
        names = ", ".join(sorted({row.benchmark for row in found.rows})[:5])
        raise UsageError(
            f"--benchmark names one benchmark, and {found.name} has several: {names}.",
            field="--benchmark",
        )
    if asked.benchmark is None and asked.host is None:
        return found
    rows = [
        replace(
            row,
            benchmark=asked.benchmark or row.benchmark,
            host=row.host if asked.host is None else asked.host,
        )
        for row in found.rows
    ]
    return replace(found, rows=rows)


def _with_revisions(found: SourceValues, asked: AddRequest) -> SourceValues:
    """With the revision of the call where the source has none."""
    given = asked.revision or (asked.range or "").rpartition("..")[2]
    bare = sum(row.revision is None for row in found.rows)
    if bare and not given:
        raise UsageError(
            f"{found.name} does not say at which revision it was measured. Name it: "
            "--revision HEAD.",
            field="--revision",
        )
    if given and bare < len(found.rows):
        raise UsageError(
            f"{found.name} names revisions itself, so --revision and --range do not go with it.",
            field="--revision",
        )
    if not bare:
        return found
    return replace(found, rows=[replace(row, revision=given) for row in found.rows])


def _cautions_of(found: SourceValues) -> list[Caution]:
    cautions = [Caution("values-left-out", f"{found.name}: {told}") for told in found.left_out]
    times: dict[tuple[str | None, ...], float] = {}
    back = 0
    for row in found.rows:
        time = row.measured_unix_s if row.committed_unix_s is None else row.committed_unix_s
        if time is not None:
            track = (row.branch, row.benchmark, row.metric, row.host)
            back += time < times.get(track, time)
            times[track] = time
    if back:
        cautions.append(
            Caution(
                "clock-went-back",
                f"{found.name}: times go back from one value to the next in {back} "
                f"{'place' if back == 1 else 'places'}. Order "
                "goes by git where it knows the revisions, else by an index, else by time.",
            )
        )
    return cautions
