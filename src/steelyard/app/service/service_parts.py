"""What workers get of a service, and what they send back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from steelyard.app.service.block_disagreements import blame_by_repeats
from steelyard.app.service.host_boots import HostSaid, WantedBoot, wanted_boot
from steelyard.app.service.impossible_result import why_refused
from steelyard.app.service.sent_result import read_sent_result
from steelyard.app.service.service_archives import ServiceArchives
from steelyard.app.service.service_batches import end_unbuilt
from steelyard.app.service.service_room import ServiceRoom
from steelyard.service.audit_log import note
from steelyard.service.cluster_workers import keep_boot
from steelyard.service.part_queue import (
    GivenPart,
    keep_ran,
    lose_held,
    lose_silent_workers,
    next_part,
)
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.submission_limits import end_exceeded
from steelyard.service.trial_commits import Taken, commit_result, count_committed
from steelyard.service.workers import (
    Worker,
    beat,
    count_fault,
    hold_workers,
)


class ServiceParts(ServiceRoom):
    """The parts of experiments that workers run.

    Parameters
    ----------
    database : ServiceDatabase
    clock : callable
        Seconds since the epoch.
    archives : ServiceArchives
    look : callable
        Sees to experiments that go on or are followed, before a part is given.
    """

    def __init__(
        self,
        database: ServiceDatabase,
        clock: Callable[[], float],
        archives: ServiceArchives,
        look: Callable[[], None],
    ) -> None:
        super().__init__(database, clock)
        self._archives = archives
        self._look = look

    def give(self, worker: Worker, said: HostSaid | None = None) -> GivenPart | WantedBoot | None:
        """The next part of a worker, or the boot that this takes of a host which boots itself, if
        there is one for it."""
        said = said or HostSaid()
        self._look()
        with self._database.writing() as connection:
            now_s = self.clock()
            hold_workers(connection, {worker.id})
            lose_silent_workers(connection, now_s)
            lose_held(connection, worker.id, now_s, *said.why_lost)
            end_exceeded(connection, now_s)
            if said.booted_for:
                keep_boot(connection, worker.id, said.booted_for)
            given = next_part(connection, worker.id, now_s)
            boot = wanted_boot(connection, worker, now_s) if given is None else None
            status = "rebooting" if boot else "idle" if given is None else "reserved"
            beat(connection, worker.id, status, now_s)
        return given or boot

    def ran(self, worker: Worker, part_id: int, attempt: int, count: int) -> bool:
        """A worker has run so many trials of its part, and the next takes a boot; whether that can
        be."""
        with self._database.writing() as connection:
            return keep_ran(connection, worker.id, part_id, attempt, count)

    def beat(self, worker: Worker, status: str) -> None:
        """A worker's sign of life."""
        with self._database.writing() as connection:
            beat(connection, worker.id, status, self.clock())

    def take(self, worker: Worker, document: Any) -> Taken:
        """What a worker sends back; it can be sent any number of times.

        Raises
        ------
        DataError
            It is no result at all.
        """
        sent = read_sent_result(document)
        with self._database.writing() as connection:
            place = (sent.part_id, sent.attempt)
            wrong = why_refused(connection, worker, sent) or self._archives.refuse_others(
                connection, place, sent.trials
            )
            if wrong:
                count_fault(connection, worker.id, wrong, proven=True)
                taken = Taken("refused", wrong)
            else:
                taken = commit_result(connection, worker.id, sent, self.clock())
                if taken.outcome == "committed":
                    blame_by_repeats(connection, sent.experiment, sent.part_id)
                    end_unbuilt(connection, sent.experiment, sent.trials)
                    count_committed(connection, sent)
            if taken.outcome == "refused":
                detail = json.dumps({"part": sent.part_id, "why": taken.message})
                note(connection, self.clock(), f"worker {worker.name}", "refused", "result", detail)
        if taken.outcome not in ("committed", "twice"):
            self._archives.forget(worker, place)
        return taken
