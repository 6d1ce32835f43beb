"""Where values belong: what is asked for, and what git knows of their revisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.app.history.kept_repository import as_kept
from steelyard.app.history.source_file import SourceValues
from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.experiment_results import Caution
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
    pass


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
class RevisionPlace:
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
    def of(
        cls, asked: AddRequest, sources: Sequence[SourceValues], tracks: TrackStore
    ) -> RevisionPlace:
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
