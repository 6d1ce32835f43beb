"""The check after a run: what is new, whether it is confirmed, and whether a gate says no."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steelyard.analysis.history.alarm_groups import alarms_of_tracks
from steelyard.analysis.history.stated_alarms import Confirmation, FoundChanges, StatedAlarm
from steelyard.app.history.commit_links import commit_link
from steelyard.app.history.confirm_alarm import confirm_alarm
from steelyard.app.history.find_changes import (
    Question,
    find_track_changes,
    stated_alarms,
    with_weekly_rate,
)
from steelyard.app.history.measured_revisions import RevisionCommands, revision_runs
from steelyard.app.history.source_file import read_source_file
from steelyard.app.history.stored_tracks import (
    Chosen,
    LoadedTrack,
    chosen_tracks,
    loaded_tracks,
    tracks_of_rows,
)
from steelyard.core.errors import UsageError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import Caution
from steelyard.core.tracks import Change
from steelyard.repository.project_address import project_of
from steelyard.repository.revisions import Repository, find_repository
from steelyard.run.run_experiment import Place
from steelyard.store.track_store import ChangeNote, TrackStore

if TYPE_CHECKING:
    from steelyard.app.results.library import Library


@dataclass(frozen=True)
class HistoryGate:
    """What a caller wants to be told by the exit status: new alarms of this direction.

    `beyond_ratio` leaves alone what is not wholly larger than this relative difference.
    """

    direction: str
    beyond_ratio: float = 0.0


@dataclass(frozen=True)
class Confirming:
    """How alarms are confirmed before anyone is told: by which commands, where, for how long."""

    commands: RevisionCommands
    repository: Repository
    place: Place
    budget_s: float | None


@dataclass(frozen=True)
class HistoryQuestion:
    """What is asked of the history.

    `link` is a template of addresses of commits, or None.
    """

    chosen: Chosen = field(default_factory=Chosen)
    question: Question = field(default_factory=Question)
    link: str | None = None


def changes_of_library(asked: HistoryQuestion, library: Library) -> FoundChanges:
    """The changes of the store's tracks."""
    store = TrackStore(library.store)
    chosen = chosen_tracks(store, asked.chosen)
    notes = store.notes()
    asked = replace(asked, question=with_weekly_rate(asked.question, loaded_tracks(store, chosen)))
    found = _found(loaded_tracks(store, chosen), asked, notes)
    subjects = _subjects(store, found)
    alarms = tuple(_described(alarm, subjects, asked.link) for alarm in found.alarms)
    return replace(found, alarms=alarms)


def changes_of_files(
    paths: Sequence[str], format_name: str | None, asked: HistoryQuestion
) -> FoundChanges:
    """The changes of the tracks of files alone; nothing is kept."""
    sources = [read_source_file(path, format_name) for path in paths]
    rows = [row for source in sources for row in source.rows]
    told = [
        Caution("values-left-out", f"{source.name}: {sentence}")
        for source in sources
        for sentence in source.left_out
    ]
    loaded = [each for each in tracks_of_rows(rows) if asked.chosen.takes_name(each.track.name)]
    if not loaded:
        raise UsageError("No track of the files fits what is asked for.", field="--benchmark")
    asked = replace(asked, question=with_weekly_rate(asked.question, loaded))
    found = _found(iter(loaded), asked, (), one_source=len(paths) == 1)
    return replace(found, cautions=tuple(told))


def _found(
    loaded: Iterator[LoadedTrack],
    asked: HistoryQuestion,
    notes: Sequence[ChangeNote],
    *,
    one_source: bool = False,
) -> FoundChanges:
    tracks = find_track_changes(loaded, asked.question)
    references = asked.question.limits.references
    alarms = alarms_of_tracks(tracks, references, one_source=one_source)
    stated = stated_alarms(tracks, alarms, notes)
    return FoundChanges(asked.question.detector, tuple(tracks), tuple(stated))


def _subjects(store: TrackStore, found: FoundChanges) -> dict[tuple[str, str], str]:
    """The first lines of the messages of commits, by repository and revision."""
    repositories = {alarm.alarm.changes[0].track.repository for alarm in found.alarms}
    return {
        (repository, revision.name): revision.subject
        for repository in repositories
        for revision in store.revisions(repository)
    }


def _described(
    stated: StatedAlarm, subjects: dict[tuple[str, str], str], link: str | None
) -> StatedAlarm:
    repository, revision = stated.alarm.changes[0].track.repository, stated.alarm.revision
    return replace(
        stated,
        subject=subjects.get((repository, revision), ""),
        link=commit_link(repository, revision, link),
    )


def with_confirmations(
    found: FoundChanges, asked: Confirming, library: Library, say: Callable[[str], None]
) -> FoundChanges:
    """The new alarms, each once confirmed or refuted by a run; what is known needs no other run."""
    store = TrackStore(library.store)
    known = {(n.track, n.revision): n for n in store.notes() if n.sort == "confirmed"}
    numbers = {track.name: track.number or 0 for track in found.tracks}
    alarms: list[StatedAlarm] = []
    with revision_runs(asked.repository, asked.commands, asked.place) as runs:
        for stated in found.alarms:
            if stated.state != "new":
                alarms.append(stated)
                continue
            change = stated.alarm.changes[0]
            note = known.get((numbers[change.track], change.revision))
            if note is not None:
                kept = Confirmation(
                    "confirmed", change.previous_revision, None, note.experiment or ""
                )
                alarms.append(replace(stated, confirmation=kept))
                continue
            say(f"confirming {change.track} at {change.revision[:12]}")
            answer = confirm_alarm(stated.alarm, runs, asked.budget_s)
            _keep(store, stated, numbers[change.track], answer)
            state = "refuted" if answer.verdict == "refuted" else stated.state
            alarms.append(replace(stated, state=state, confirmation=answer))
    return replace(found, alarms=tuple(alarms))


def _keep(store: TrackStore, stated: StatedAlarm, track: int, answer: Confirmation) -> None:
    store.note(
        ChangeNote(
            track,
            stated.alarm.changes[0].revision,
            answer.verdict,
            time.time(),
            experiment=answer.experiment or None,
            note=answer.reason,
        )
    )


def confirming_repository(path: str | None, found: FoundChanges) -> Repository:
    """The repository in which alarms are confirmed: the one named, else of the working directory.

    Raises
    ------
    UsageError
        There is none, or it is another one than that of the tracks.
    """
    repository = find_repository(path or ".")
    names = {track.name.repository for track in found.tracks if track.changes}
    other_names = [name for name in names if project_of(name) != project_of(repository.name)]
    if other_names:
        other = min(other_names) or "no repository"
        raise UsageError(
            f"The tracks are of {other}, and {repository.path} is {repository.name}. Name the "
            "right one with --repository, or give --no-confirm.",
            field="--repository",
        )
    return repository


def gate_says_no(gate: HistoryGate, found: FoundChanges, *, confirmed_only: bool) -> bool:
    """Whether a new alarm, confirmed where that is wanted, is what the gate is against."""
    return any(
        crosses_gate(gate, change)
        for stated in told_alarms(found, confirmed_only=confirmed_only)
        for change in stated.alarm.changes
    )


def told_alarms(found: FoundChanges, *, confirmed_only: bool) -> list[StatedAlarm]:
    """The new alarms that anyone is told of."""
    return [
        stated
        for stated in found.alarms
        if stated.state == "new"
        and (
            not confirmed_only
            or (stated.confirmation is not None and stated.confirmation.verdict == "confirmed")
        )
    ]


def crosses_gate(gate: HistoryGate, change: Change) -> bool:
    """Whether a change is of the gate's direction and wholly larger than its share."""
    if gate.direction not in ("any", change.direction):
        return False
    if gate.beyond_ratio == 0.0:
        return True
    size = change.size
    if not isinstance(size, Estimate):
        return False
    return size.low > 1 + gate.beyond_ratio or size.high < 1 - gate.beyond_ratio
