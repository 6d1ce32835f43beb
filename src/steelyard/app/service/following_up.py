"""Screening first, then the full design of what matters: the service sends the second by itself."""

from __future__ import annotations

from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.experiment.follow_up import follow_up_text
from steelyard.app.experiment.own_analysis import own_analysis
from steelyard.app.service.kept_submission import keep_planned
from steelyard.app.service.own_trouble import only_its_own
from steelyard.app.service.planned_submission import Wishes, new_submission, plan_submission
from steelyard.app.service.quotas import Quotas
from steelyard.app.service.service_experiment import service_experiment
from steelyard.app.service.service_hosts import ServiceHosts
from steelyard.app.service.service_packages import ServicePackages
from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.service.accounts import Identity, identity_of_account
from steelyard.service.follow_ups import (
    EndedScreening,
    ended_screenings,
    note_follow_up,
)
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.submitted_packages import packages_of

_METHOD = "screening"


def refuse_no_screening(text: str, name: str) -> None:
    """See that another experiment can follow that of a file with the content `text`.

    Raises
    ------
    UsageError
        Its analysis is no screening.
    """
    file = experiment_file_of(text.removeprefix("\ufeff"), name)
    if file.analysis.get("method") != _METHOD:
        raise UsageError(
            f"{file.path}: only a screening can be followed. It has under [analysis]: "
            f'method = "{_METHOD}"; `steelyard experiment init --kind screening` writes one.',
            field="--follow-up",
        )


class FollowingUp:
    """Looks at screenings that have ended, and sends what follows them.

    Parameters
    ----------
    database : ServiceDatabase
    packages : ServicePackages
    hosts : ServiceHosts
    """

    def __init__(
        self,
        database: ServiceDatabase,
        packages: ServicePackages,
        hosts: ServiceHosts,
    ) -> None:
        self._database = database
        self._packages = packages
        self._hosts = hosts

    def look(self, quotas: Quotas) -> None:
        """Send what follows each of them, or note why nothing does. A member's quota holds for it
        too. Whoever else does the same at the same time sends it once."""
        with self._database.reading() as connection:
            found = ended_screenings(connection)
        for ended in found:
            with only_its_own(lambda why, ended=ended: self._note_none(ended, why)):
                self._send(ended, quotas)

    def _note_none(self, ended: EndedScreening, why: str) -> None:
        with self._database.writing() as connection:
            note_follow_up(connection, ended.sent.id, f"none: {why}")

    def _send(self, ended: EndedScreening, quotas: Quotas) -> None:
        sent = ended.sent
        with self._database.reading() as connection:
            experiment = service_experiment(connection, sent)
            digests = packages_of(connection, sent.id)
        who = self._sender(ended)
        text = follow_up_text(
            sent.file.removeprefix("\ufeff"), sent.identifier, _proposed(experiment)
        )
        known = self._packages.known(who, digests)
        planned = plan_submission(text, "the follow-up", self._hosts.workers(), known)
        row = new_submission(
            *(planned, who.account_id, self._hosts.clock(), sent.visibility),
            Wishes(priority=ended.priority),
        )
        with self._database.writing() as connection:
            if note_follow_up(connection, sent.id, row.identifier):
                keep_planned(connection, who, planned, row, digests, quotas)

    def _sender(self, ended: EndedScreening) -> Identity:
        with self._database.reading() as connection:
            who = identity_of_account(connection, ended.account_id)
        if who is None or not who.may("submit"):
            raise UsageError(f"{ended.sent.account} may not send experiments any more.")
        return who


def _proposed(experiment: Experiment) -> tuple[str, ...]:
    """The factors that a screening proposes.

    Raises
    ------
    UsageError
        None, or not all of it was run.
    """
    from steelyard.analysis.screening.screened_effects import proposed_factors

    if experiment.stopped in (None, "interrupted"):
        raise UsageError("not all of its trials were run.")
    analyzed = own_analysis(experiment)
    proposed = None if analyzed is None else proposed_factors(analyzed.result)
    if not proposed:
        raise UsageError("the screening proposes no factor.")
    return proposed
