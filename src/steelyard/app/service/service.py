"""What a service does when it is asked: each call one transaction, whoever asks and however."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from steelyard.app.experiment.experiment_entries import KnownPackages
from steelyard.app.service.experiment_standing import Standing, Standings
from steelyard.app.service.following_up import FollowingUp
from steelyard.app.service.going_further import GoingFurther
from steelyard.app.service.kept_submission import keep_planned
from steelyard.app.service.known_costs import with_known_cost
from steelyard.app.service.planned_submission import (
    NO_WISHES,
    PlannedSubmission,
    Wishes,
    new_submission,
    plan_submission,
)
from steelyard.app.service.quotas import Quotas
from steelyard.app.service.sent_result import encodable
from steelyard.app.service.service_access import ServiceAccess
from steelyard.app.service.service_archives import ServiceArchives
from steelyard.app.service.service_batches import end_late
from steelyard.app.service.service_builds import ServiceBuilds
from steelyard.app.service.service_experiment import service_experiment
from steelyard.app.service.service_hosts import ServiceHosts
from steelyard.app.service.service_packages import ServicePackages
from steelyard.app.service.service_parts import ServiceParts
from steelyard.app.service.service_rehearsals import ServiceRehearsals
from steelyard.app.service.who_may import (
    KEEPERS,
    VISIBILITIES,
    checked_visibility,
    is_open,
    own_submission,
    seen_submission,
)
from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.masked_experiment import masked_experiment
from steelyard.service.accounts import Identity
from steelyard.service.audit_log import note
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.submissions import (
    ListedSubmission,
    Submission,
    cancel_submission,
    newest_submissions,
    set_visibility,
)

_SHOWN = 500
# An experiment file is text that a person wrote.
MOST_FILE_BYTES = 1 << 20


class Service:
    """The use cases of a service over its database.

    Parameters
    ----------
    database : ServiceDatabase
    packages : str
        The directory of benchmark packages; archives of results lie beside it.
    clock : callable
        Seconds since the epoch.
    """

    def __init__(
        self, database: ServiceDatabase, packages: str, clock: Callable[[], float] = time.time
    ) -> None:
        self.database = database
        self.packages = ServicePackages(database, packages, clock)
        beside = os.path.dirname(os.path.abspath(packages))
        self.archives = ServiceArchives(database, os.path.join(beside, "results"), clock)
        self.builds = ServiceBuilds(database, os.path.join(beside, "builds"), clock)
        self.rehearsals = ServiceRehearsals(database, clock)
        self.hosts = ServiceHosts(database, clock)
        self._further = GoingFurther(database, clock)
        self._standings = Standings()
        self.follow_ups = FollowingUp(database, self.packages, self.hosts)
        self.clock = clock
        self.quotas = Quotas()
        self.access = ServiceAccess(database, clock)
        self.parts = ServiceParts(database, clock, self.archives, self._look_further)

    def plan(
        self,
        text: str,
        name: str,
        packages: KnownPackages | None = None,
        who: Identity | None = None,
    ) -> PlannedSubmission:
        """What sending an experiment file would run, and where; its packages are `packages`.

        What it costs is known from experiments that `who` may see, where the file does not say it.
        """
        if len(encodable(text, "FILE")) > MOST_FILE_BYTES:
            raise UsageError(
                f"An experiment file has at most {MOST_FILE_BYTES >> 20} MiB.", field="FILE"
            )
        known = packages or KnownPackages("", {})
        workers = self.hosts.workers()
        planned = plan_submission(text.removeprefix("\ufeff"), name, workers, known)
        if who is None:
            return planned
        seen = self.submissions(who)
        with self.database.reading() as connection:
            return with_known_cost(connection, planned, seen)

    def submit(
        self,
        who: Identity,
        text: str,
        name: str,
        visibility: str = "private",
        wishes: Wishes = NO_WISHES,
        packages: Mapping[str, str] | None = None,
    ) -> PlannedSubmission:
        """Plan an experiment, and keep it with all its parts.

        `packages` has the digests of its benchmark packages by their names in the file.
        """
        checked_visibility(visibility)
        known_packages = self.packages.known(who, packages or {})
        planned = self.plan(text, name, known_packages, who)
        row = new_submission(planned, who.account_id, self.clock(), visibility, wishes)
        with self.database.writing() as connection:
            keep_planned(connection, who, planned, row, known_packages.digests, self.quotas)
            end_late(connection, who.account_id, row.identifier, wishes.batch)
        return planned

    def submissions(self, who: Identity) -> list[ListedSubmission]:
        """The newest that one may see, the newest first."""
        open_to = [each for each in VISIBILITIES if is_open(who, each)]
        with self.database.reading() as connection:
            name = None if who.role in KEEPERS else who.name
            return newest_submissions(connection, _SHOWN, name, open_to)

    def submission(self, who: Identity, identifier: str) -> Submission:
        """One of them.

        Raises
        ------
        UsageError
            There is none that one may see.
        """
        with self.database.reading() as connection:
            return seen_submission(connection, who, identifier)

    def standing(self, who: Identity, identifier: str) -> Standing:
        """How one of them stands."""
        with self.database.reading() as connection:
            found = seen_submission(connection, who, identifier)
            return self._standings.standing(connection, found)

    def experiment(self, who: Identity, identifier: str) -> Experiment:
        """An experiment with the trials that have been committed so far.

        Whoever did not send it gets it without secrets of commands and environments.
        """
        with self.database.reading() as connection:
            sent = seen_submission(connection, who, identifier)
            found = service_experiment(connection, sent)
        return found if sent.account == who.name else masked_experiment(found)

    def trials(self, sent: Submission) -> Experiment:
        """The same of an experiment that someone may see, with all its secrets."""
        with self.database.reading() as connection:
            return service_experiment(connection, sent)

    def cancel(self, who: Identity, identifier: str) -> bool:
        """Give nothing more of an experiment out; whether it was not ended already."""
        with self.database.writing() as connection:
            found = own_submission(connection, who, identifier)
            ended = cancel_submission(connection, found.id)
            note(connection, self.clock(), who.name, "cancel", f"experiment {identifier}")
        return ended

    def show_to(self, who: Identity, identifier: str, visibility: str) -> None:
        """Say who may see an experiment from now on."""
        checked_visibility(visibility)
        with self.database.writing() as connection:
            found = own_submission(connection, who, identifier)
            set_visibility(connection, found.id, visibility)
            about, detail = f"experiment {identifier}", f"{found.visibility} to {visibility}"
            note(connection, self.clock(), who.name, "visibility", about, detail)

    def _look_further(self) -> None:
        self._further.look()
        self.follow_ups.look(self.quotas)
