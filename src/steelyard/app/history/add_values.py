"""Values into the history: from experiments and files, at revisions that git may know."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.app.history.experiment_rows import experiment_rows, without_values
from steelyard.app.history.kept_repository import as_kept
from steelyard.app.history.source_file import SourceValues, read_source_file, source_paths
from steelyard.core.errors import DataError, MissingCapabilityError, UsageError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.track_row import TrackRow
from steelyard.repository.revisions import (
    Repository,
    commits_between,
    current_branch,
    find_repository,
    ordered_commits,
    resolve,
    resolved,
)
from steelyard.store.added_values import RevisionFacts
from steelyard.store.track_store import TrackStore

if TYPE_CHECKING:
    from steelyard.app.results.library import Library


@dataclass(frozen=True)
class AddRequest:
    """What to add, and at which revisions.

    Parameters
    ----------
    sources : tuple of str
        Files, directories of files, and experiments of the store.
    revision : str or None
        The revision of values that name none.
    range : str or None
        ``GOOD..BAD``: values that name no revision stand for the batch of commits that BAD has and
        GOOD has not.
    repository : str or None
        A directory in it; None takes the one of the working directory where it knows all
        revisions.
    branch, host, benchmark : str or None
        In place of what the sources say.
    metrics : tuple of str
        Those to take.
    format_name : str or None
        The format of the files.
    """

    sources: tuple[str, ...]
    revision: str | None = None
    range: str | None = None
    repository: str | None = None
    branch: str | None = None
    host: str | None = None
    benchmark: str | None = None
    metrics: tuple[str, ...] = ()
    format_name: str | None = None


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
    place = _Place.of(asked, sources, tracks)
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


@dataclass(frozen=True)
class _Place:
    """Where values belong: their repository, its branch, and the whole names of revisions."""

    repository: Repository | None
    branch: str
    names: Mapping[str, str]
    first_revision: str | None
    cautions: tuple[Caution, ...] = ()

    @property
    def name(self) -> str:
        """What the repository is called in the store."""
        return "" if self.repository is None else self.repository.name

    @classmethod
    def of(cls, asked: AddRequest, sources: Sequence[SourceValues], tracks: TrackStore) -> _Place:
        wanted = list(_revisions(sources))
        repository, cautions = _repository(asked, wanted)
        if repository is None:
            if asked.range is not None:
                raise UsageError(
                    "--range needs the repository that knows its revisions: --repository DIR.",
                    field="--range",
                )
            return cls(None, asked.branch or "", {}, None, cautions)
        repository = as_kept(repository, tracks)
        names = resolved(repository, wanted)
        unknown = [name for name in wanted if name not in names]
        if len(unknown) == len(wanted):
            raise UsageError(
                f"Git knows no revision {wanted[0]!r} in {repository.path}. Fetch it, or check the "
                "name and --repository.",
                field="--revision",
            )
        if unknown:
            message = (
                f"Git does not know {len(unknown)} of {len(wanted)} revisions in "
                f"{repository.path}, such as {unknown[0]!r}: they are kept, in the order of their "
                "times."
            )
            cautions = (Caution("unknown-revisions", message),)
        branch = current_branch(repository) if asked.branch is None else asked.branch
        return cls(repository, branch, names, _batch_start(asked, repository), cautions)

    def placed(self, row: TrackRow, asked: AddRequest) -> TrackRow:
        """A row with its place."""
        first = row.first_revision
        if first is not None:
            first = self.names.get(first, first)
        first = first or self.first_revision
        revision = self.names.get(row.revision or "", row.revision)
        branch = self.branch if asked.branch is not None or row.branch is None else row.branch
        found = (revision, first, branch or None)
        # Of a million rows a copy each takes as long as all else.
        if found == (row.revision, row.first_revision, row.branch):
            return row
        return replace(row, revision=revision, first_revision=first, branch=branch)

    def facts(
        self, tracks: TrackStore, sources: Sequence[SourceValues]
    ) -> dict[str, RevisionFacts]:
        """What git knows of the new revisions, and now of those that the store has."""
        if self.repository is None:
            return {}
        stored = [revision.name for revision in tracks.revisions(self.name)]
        known = {*self.names.values(), *resolved(self.repository, stored).values()}
        found: dict[str, RevisionFacts] = {}
        for position, commit in enumerate(ordered_commits(self.repository, sorted(known))):
            if commit.revision in known:
                found[commit.revision] = RevisionFacts(
                    position, commit.parents, commit.committed_unix_s, commit.subject
                )
        return found


def _revisions(sources: Iterable[SourceValues]) -> Iterable[str]:
    """The names of all revisions, each once, in the order of the sources."""
    return dict.fromkeys(
        name
        for found in sources
        for row in found.rows
        for name in (row.revision, row.first_revision)
        if name is not None
    )


def _repository(
    asked: AddRequest, wanted: Sequence[str]
) -> tuple[Repository | None, tuple[Caution, ...]]:
    """The repository of the revisions: the one asked for, or that of the working directory where
    it knows every one of them; and why it is not taken where it seems to be meant."""
    if asked.repository is not None:
        return find_repository(asked.repository), ()
    try:
        here = find_repository(".")
    except (UsageError, MissingCapabilityError) as error:
        meant = "safe.directory" in error.message
        return None, (Caution("repository-not-read", error.message),) if meant else ()
    known = resolved(here, wanted)
    if len(known) == len(wanted):
        return here, ()
    if not known:
        return None, ()
    missing = next(name for name in wanted if name not in known)
    message = (
        f"Git does not know {len(wanted) - len(known)} of {len(wanted)} revisions in {here.path}, "
        f"such as {missing!r}, so the values are kept without a repository. Fetch all "
        "(`git fetch --unshallow`) and add them again, or give --repository."
    )
    return None, (Caution("repository-not-taken", message),)


def _batch_start(asked: AddRequest, repository: Repository) -> str | None:
    """The oldest revision of the batch that --range names."""
    if asked.range is None:
        return None
    good, separator, bad = asked.range.partition("..")
    if not separator or not good or not bad or bad.startswith("."):
        raise UsageError(
            f"--range takes GOOD..BAD, such as v1..HEAD; it got {asked.range!r}.", field="--range"
        )
    commits = commits_between(
        repository, resolve(repository, good, "--range"), resolve(repository, bad, "--range")
    )
    return commits[0].revision
