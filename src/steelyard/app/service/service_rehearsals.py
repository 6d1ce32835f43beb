"""Rehearsals of a service: each package once on each architecture, for what it prints."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, cast

from steelyard.allocation.requirement import eligible
from steelyard.app.service.planned_submission import PlannedSubmission
from steelyard.app.service.sent_result import readable, whole_field
from steelyard.app.service.service_room import ServiceRoom
from steelyard.app.service.worker_levels import levels_of
from steelyard.core.errors import DataError, UsageError
from steelyard.core.identifier import new_identifier
from steelyard.core.json_codec import to_json
from steelyard.core.package_spec import PackageSpec
from steelyard.service.accounts import Identity
from steelyard.service.audit_log import note
from steelyard.service.rehearsals import (
    NewRehearsal,
    Rehearsal,
    add_rehearsals,
    end_rehearsal,
    next_rehearsal,
    rehearsals_of,
)
from steelyard.service.workers import Worker, all_workers, beat

# The end of what scripts print is kept: there an error stands.
LONGEST_OUTPUT = 1 << 20


class ServiceRehearsals(ServiceRoom):
    """The rehearsals of a service."""

    def ask(self, who: Identity, planned: PlannedSubmission) -> str:
        """Have the packages of an experiment run once on each architecture; the name of the batch.

        Raises
        ------
        UsageError
            It runs no package.
        """
        found = _packages(planned)
        if not found:
            raise UsageError(
                "A rehearsal runs benchmark packages, and the file names none: "
                '`package = "FILE"` under [[benchmark]].',
                field="--debug",
            )
        batch = new_identifier(time.time_ns() // 1_000_000)
        with self._database.writing() as connection:
            hosts = _hosts(planned, list(all_workers(connection)))
            asked = [
                NewRehearsal(
                    worker.id,
                    architecture,
                    name,
                    package.digest,
                    cast("dict[str, Any]", to_json(package)),
                )
                for package, name in found.items()
                for architecture, worker in hosts.items()
            ]
            add_rehearsals(connection, who.account_id, batch, asked, self.clock())
            note(connection, self.clock(), who.name, "rehearse", batch)
        return batch

    def progress(self, who: Identity, batch: str) -> list[Rehearsal]:
        """How those that were asked for at once are getting on.

        Raises
        ------
        UsageError
            There are none of this name.
        """
        with self._database.reading() as connection:
            found = rehearsals_of(connection, who.account_id, batch)
        if not found:
            raise UsageError(f"There are no rehearsals {batch!r}.", field="experiment")
        return found

    def give(self, worker: Worker) -> Rehearsal | None:
        """The next one of a worker, if there is one for it."""
        with self._database.writing() as connection:
            given = next_rehearsal(connection, worker.id)
            if given is not None:
                beat(connection, worker.id, "reserved", self.clock())
        return given

    def take(self, worker: Worker, document: Mapping[str, Any]) -> bool:
        """What a worker says of one; whether it had been given to it.

        Raises
        ------
        DataError
            It is no result of a rehearsal.
        """
        told = whole_field(document, "rehearsal"), whole_field(document, "attempt")
        problem, output = document.get("problem"), document.get("output")
        if not isinstance(problem, str) or not isinstance(output, str):
            raise DataError("A rehearsal has a problem and an output, both texts.")
        shown = readable(output)
        if len(shown) > LONGEST_OUTPUT:
            shown = "... (the beginning was left out)\n" + shown[-LONGEST_OUTPUT:]
        with self._database.writing() as connection:
            return end_rehearsal(connection, worker.id, told, readable(problem)[:10_000], shown)


def _packages(planned: PlannedSubmission) -> dict[PackageSpec, str]:
    """The packages of an experiment with the name of the benchmark that each is first of."""
    found: dict[PackageSpec, str] = {}
    for variant in planned.spec.variants:
        if variant.package is not None:
            found.setdefault(variant.package, variant.group or variant.name)
    return found


def _hosts(planned: PlannedSubmission, workers: list[Worker]) -> dict[str, Worker]:
    """A worker of each architecture that the experiment may run on, by the architecture's name."""
    found: dict[str, Worker] = {}
    for worker in workers:
        facts = levels_of(worker).facts
        there = worker.status not in ("gone", "quarantined")
        if there and eligible(planned.asked.require, facts):
            found.setdefault(str(facts.get("architecture", "unknown")), worker)
    return found
