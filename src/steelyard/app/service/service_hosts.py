"""What a service knows of its workers' hosts: readings, quarantine, and what a cluster says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from steelyard.app.service.reference_benchmark import read_reading
from steelyard.app.service.service_room import ServiceRoom
from steelyard.core.errors import DataError
from steelyard.service.accounts import Identity
from steelyard.service.audit_log import note
from steelyard.service.cluster_workers import (
    ClusterWorker,
    cluster_workers,
    keep_boot,
    vouch_for,
)
from steelyard.service.host_readings import (
    add_readings,
    drifts_of,
    forget_readings,
    set_aside,
    trim_readings,
)
from steelyard.service.part_queue import lose_silent_workers, lose_worker
from steelyard.service.submission_limits import end_exceeded
from steelyard.service.workers import Worker, all_workers, as_it_is, count_fault, release_worker


class ServiceHosts(ServiceRoom):
    """The workers of a service as hosts; each call is one transaction."""

    def workers(self) -> list[Worker]:
        """All workers; those that were silent for too long are gone from now on."""
        with self._database.writing() as connection:
            lose_silent_workers(connection, self.clock())
            end_exceeded(connection, self.clock())
            return list(all_workers(connection))

    def shown_workers(self) -> list[Worker]:
        """The same for a page, which waits for nobody who writes: nothing is kept of it."""
        now_s = self.clock()
        with self._database.reading() as connection:
            return [as_it_is(worker, now_s) for worker in all_workers(connection)]

    def keep_reading(self, worker: Worker, document: Mapping[str, Any]) -> bool:
        """What a worker took for the reference benchmark; whether its host is set aside for it.

        Raises
        ------
        DataError
            It is no reading.
        """
        found = read_reading(document.get("reading"))
        if found is None:
            raise DataError("A reading has a time above 0 for each part.", field="reading")
        with self._database.writing() as connection:
            add_readings(connection, worker.id, found, self.clock())
            trim_readings(connection, worker.id)
            drifts = set_aside(connection, worker.id, drifts_of(connection, worker.id))
            if drifts:
                note(connection, self.clock(), f"worker {worker.name}", "drift", "reading")
        return drifts

    def release(self, who: Identity, name: str) -> bool:
        """Let a worker out of quarantine, with its host as it is; whether it was in it."""
        with self._database.writing() as connection:
            number = release_worker(connection, name)
            if number is not None:
                forget_readings(connection, number)
                note(connection, self.clock(), who.name, "release", f"worker {name}")
        return number is not None

    def cluster_workers(self, names: Iterable[str]) -> dict[str, ClusterWorker]:
        """Those of some hosts that are enrolled, by name, with what waits for them."""
        with self._database.writing() as connection:
            return cluster_workers(connection, names, self.clock())

    def vouch_for(self, worker: ClusterWorker, cluster: str, status: str = "idle") -> None:
        """A cluster says that a host is alive on which no worker runs now."""
        with self._database.writing() as connection:
            vouch_for(connection, worker.id, cluster, status, self.clock())

    def was_booted(self, worker: ClusterWorker, booted_for: str) -> None:
        """A host was booted for its next part."""
        with self._database.writing() as connection:
            keep_boot(connection, worker.id, booted_for)

    def has_ended(self, worker: ClusterWorker, why: str) -> None:
        """No worker runs on a host any more that was given a part."""
        with self._database.writing() as connection:
            lose_worker(connection, worker.id, self.clock(), why)

    def has_failed(self, worker: ClusterWorker, why: str) -> None:
        """What should have run a worker on a host did not: a fault of the host."""
        with self._database.writing() as connection:
            count_fault(connection, worker.id, why)
