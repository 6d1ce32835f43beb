"""A search for a revision as it is asked for by names, and its answer as it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from steelyard.app.history.bisect import find_revision
from steelyard.app.history.bisection_prior import (
    adopted_evidence,
    weights_by_lines,
    weights_of_file,
)
from steelyard.app.history.bisection_results import Bisected, Search
from steelyard.app.history.kept_repository import as_kept
from steelyard.app.history.measured_revisions import RevisionCommands
from steelyard.app.history.stored_tracks import Chosen
from steelyard.report.kinds.bisection.bisection_facts import BisectionTold, TestTold
from steelyard.repository.revisions import (
    Commit,
    Repository,
    commits_between,
    find_repository,
    resolve,
)
from steelyard.store.track_store import TrackStore

if TYPE_CHECKING:
    from steelyard.app.results.library import Library
    from steelyard.run.run_experiment import Place


@dataclass(frozen=True)
class AskedSearch:
    """What a caller says; `good`, `bad` are any names that git knows, `adopt` is
    ``BENCHMARK[:METRIC]``."""

    good: str
    bad: str
    commands: RevisionCommands
    confidence: float
    margin_ratio: float
    budget_s: float
    prior: Literal["lines", "uniform"] = "lines"
    weights: str | None = None
    adopt: str | None = None
    repository: str | None = None
    anew: bool = False


def bisected(asked: AskedSearch, library: Library, place: Place) -> BisectionTold:
    """Search for the revision.

    Raises
    ------
    UsageError
        There is no repository, it does not know an end, or the ends are not one behind the other.
    DataError
        The file of weights is not what it should be.
    AnalysisError, BuildFailedError, TrialsFailedError
        The ends do not differ, or cannot be measured.
    """
    repository = find_repository(asked.repository or ".")
    good = resolve(repository, asked.good, "--good")
    bad = resolve(repository, asked.bad, "--bad")
    commits = tuple(commits_between(repository, good, bad))
    adopted: dict[str, float] = {}
    if asked.adopt is not None:
        benchmark, _, metric = asked.adopt.partition(":")
        metrics = (metric,) if metric else ()
        kept = as_kept(repository, TrackStore(library.store))
        chosen = Chosen((benchmark,), metrics, repository=kept.name)
        adopted = adopted_evidence(library, chosen, good, bad)
    search = Search(
        good,
        bad,
        commits,
        asked.commands,
        asked.confidence,
        asked.margin_ratio,
        asked.budget_s,
        _weights(asked, repository, commits),
        adopted,
    )
    found = find_revision(search, repository, place, library, anew=asked.anew)
    return _told(found, repository)


def _weights(
    asked: AskedSearch, repository: Repository, commits: tuple[Commit, ...]
) -> dict[str, float]:
    if asked.weights is not None:
        return weights_of_file(asked.weights, repository)
    return weights_by_lines(repository, commits) if asked.prior == "lines" else {}


def _told(found: Bisected, repository: Repository) -> BisectionTold:
    subjects = {commit.revision: commit.subject for commit in found.search.commits}
    return BisectionTold(
        repository.name,
        found.search.good,
        found.search.bad,
        len(found.search.commits),
        found.metric,
        found.ends,
        found.found.revision,
        subjects[found.found.revision],
        [(name, subjects[name]) for name in found.found.inseparable],
        found.found.set_probability,
        found.size,
        [
            TestTold(s.revision, s.outcome, s.run_count, s.ratio, s.spent_s, s.experiment)
            for s in found.steps
        ],
        found.probabilities,
        found.stopped,
        found.search.confidence,
    )
