"""Experiments of a service that go on until they are precise: further blocks, or their end."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from steelyard.allocation.brought_levels import rounds
from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.service.block_parts import parts_from, places_going_on
from steelyard.app.service.file_hosts import hosts_asked_by
from steelyard.app.service.own_trouble import only_its_own
from steelyard.app.service.service_experiment import service_experiment
from steelyard.app.service.service_room import ServiceRoom
from steelyard.core.experiment_results import StopReason
from steelyard.run.further_blocks import further_blocks, whole_rounds
from steelyard.service.submissions import (
    NewPart,
    Submission,
    add_parts,
    block_count,
    cancel_submission,
    paused_submissions,
    stop_submission,
)
from steelyard.service.workers import all_workers

# An experiment whose variation is as it is never gets precise: it has to end.
MOST_BLOCKS = 1000


@dataclass(frozen=True)
class _Step:
    """What was found to be done with an experiment that has `seen` blocks."""

    seen: int
    stopped: StopReason | None
    parts: list[NewPart]


class GoingFurther(ServiceRoom):
    """Looks at experiments whose blocks have all ended, and that go on until they are precise."""

    def look(self) -> None:
        """Give each of them further blocks, or end it. Whoever else does the same at the same time
        does it once: blocks are counted anew under a lock."""
        with self._database.reading() as connection:
            found = paused_submissions(connection)
        for sent in found:
            with only_its_own(lambda why, sent=sent: self._end(sent, why)):
                self._go_on(sent)

    def _go_on(self, sent: Submission) -> None:
        with self._database.reading() as connection:
            step = self._step(connection, sent)
        with self._database.writing() as connection:
            if block_count(connection, sent.id, lock=True) != step.seen:
                return
            if step.stopped is not None:
                stop_submission(connection, sent.id, step.stopped)
            else:
                add_parts(connection, sent.id, step.parts)

    def _end(self, sent: Submission, why: str) -> None:
        with self._database.writing() as connection:
            cancel_submission(connection, sent.id, f"it cannot go on: {why}")

    def _step(self, connection: Connection, sent: Submission) -> _Step:
        experiment = service_experiment(connection, sent)
        seen = block_count(connection, sent.id)
        places = places_going_on(sent.going_on)
        spec = replace(experiment.spec, placement=None)
        found = further_blocks(spec, experiment.trials, seen, MOST_BLOCKS)
        if found.stopped is not None:
            return _Step(seen, found.stopped, [])
        wanted = whole_rounds(found.block_count, len(places))
        blocks = rounds(places, wanted // len(places), spec.seed)
        file = experiment_file_of(sent.file.removeprefix("\ufeff"), "the experiment file")
        asked = hosts_asked_by(file)
        new = dict(enumerate(blocks[seen:], seen))
        return _Step(seen, None, parts_from(spec, asked, new, list(all_workers(connection))))
