"""Archives of results at a service: taken from workers, kept once, given to who may see them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Connection, select

from steelyard.app.service.service_room import ServiceFiles
from steelyard.app.service.who_may import NotAllowedError
from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Trial
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.masked_experiment import given_values
from steelyard.core.package_spec import EnvironmentLimits
from steelyard.core.private_file import make_private_directories
from steelyard.service.accounts import Identity
from steelyard.service.archive_kinds import BEGINNING_BYTES, archive_suffix
from steelyard.service.part_archives import archive_place
from steelyard.service.result_archives import (
    ArchiveTotals,
    ResultArchive,
    account_archive_bytes,
    archive_at,
    archive_totals,
    archives_of,
    archives_of_attempt,
    forget_attempt,
    forget_old,
    is_known,
    may_forget,
    note_archive,
)
from steelyard.service.service_schema import accounts
from steelyard.service.submissions import Submission
from steelyard.service.workers import Worker

# Of one archive; of all archives of an account; and what stays free on the disk of the service.
MOST_ARCHIVE_BYTES = EnvironmentLimits().result_bytes
MOST_ACCOUNT_BYTES = 20 << 30
SPARE_BYTES = 1 << 30
_UPLOAD = "upload-"
Archives = list[ResultArchive]


class ServiceArchives(ServiceFiles):
    """The archives of results of a service."""

    most_account_bytes = MOST_ACCOUNT_BYTES

    def upload(self, size_bytes: int) -> str:
        """The path of a new file for an archive that is being sent.

        Raises
        ------
        UsageError
            It is too large.
        """
        if size_bytes > MOST_ARCHIVE_BYTES:
            raise UsageError(
                f"An archive of results has at most {MOST_ARCHIVE_BYTES >> 20} MiB.", field="FILE"
            )
        make_private_directories(self._directory)
        return os.path.join(self._directory, f"{_UPLOAD}{uuid.uuid4().hex}")

    def receive(self, worker: Worker, place: tuple[int, int], position: int, path: str) -> str:
        """Keep the archive in the file `path`, which a worker sends of a trial of a part and an
        attempt; why it is not kept, empty where it is.

        Raises
        ------
        UsageError
            The worker was not given the trial.
        """
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            suffix = archive_suffix(file.read(BEGINNING_BYTES))
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with self._lock, self._database.writing() as connection:
            account_id = archive_place(connection, worker.id, place, position)
            why = self._why_not(connection, account_id, digest, size)
            if not why:
                # Within the transaction: nobody forgets it meanwhile.
                self._adopt(path, digest)
            found = ResultArchive(position, "" if why else digest, size, suffix, why)
            note_archive(connection, place, found, self.clock())
        return why

    def _why_not(self, connection: Connection, account_id: int, digest: str, size: int) -> str:
        if is_known(connection, digest) and os.path.exists(self._path(digest)):
            return ""
        if account_archive_bytes(connection, account_id) + size > self.most_account_bytes:
            name = connection.execute(
                select(accounts.c.name).where(accounts.c.id == account_id)
            ).scalar_one()
            most_gib = self.most_account_bytes / (1 << 30)
            return f"the archives of results of {name} have more than {most_gib:g} GiB"
        if shutil.disk_usage(self._directory).free < SPARE_BYTES:
            return "the service's disk is full"
        return ""

    def refuse_others(
        self, connection: Connection, place: tuple[int, int], trials: Sequence[Trial]
    ) -> str:
        """Why archives that an attempt has sent cannot be those of its trials; empty where they
        are."""
        sent = archives_of_attempt(connection, *place)
        told = {each.position: _told_digest(each) for each in trials}
        for position, digest in sent.items():
            if digest and digest != told.get(position):
                return (
                    f"the archive of results of its trial at the position {position} is not the "
                    "one that the trial names"
                )
        return ""

    def forget(self, worker: Worker, place: tuple[int, int]) -> None:
        """Take away what a worker's own attempt has sent that came to nothing."""
        with self._lock, self._database.writing() as connection:
            if may_forget(connection, worker.id, place):
                self._remove(forget_attempt(connection, *place))

    def totals(self, sent: Submission) -> ArchiveTotals:
        """How many there are of the committed trials of what someone may see."""
        with self._database.reading() as connection:
            return archive_totals(connection, sent.id)

    def listed(self, who: Identity, sent: Submission, most: int | None = None) -> Archives:
        """They, by position, the first `most` of them.

        Raises
        ------
        NotAllowedError
            What they hold may have secrets of whoever sent the experiment.
        """
        _refuse_secrets(who, sent)
        with self._database.reading() as connection:
            return archives_of(connection, sent.id, most=most)

    def one(self, who: Identity, sent: Submission, position: int) -> ResultArchive:
        """That of one trial.

        Raises
        ------
        NotAllowedError
            As for `listed`.
        UsageError
            There is none.
        """
        _refuse_secrets(who, sent)
        with self._database.reading() as connection:
            found = archive_at(connection, sent.id, position)
        if found is None:
            raise UsageError(
                f"The experiment {sent.identifier} has no archive of results of a trial at the "
                f"position {position}.",
                field="experiment",
            )
        return found

    def path(self, found: ResultArchive) -> str:
        """The file with an archive.

        Raises
        ------
        UsageError
            It is not kept, or not any more.
        """
        path = self.place(found) if found.digest else ""
        if not path or not os.path.exists(path):
            why = found.reason or "the service lost it"
            raise UsageError(
                f"The archive of results of trial {found.position} is not here: {why}.",
                field="experiment",
            )
        return path

    def place(self, found: ResultArchive) -> str:
        """Where an archive lies, or lay."""
        return self._path(found.digest)

    def clear(self) -> None:
        """Take away what a service that was killed left of uploads, and what came to nothing."""
        with suppress(OSError):
            for entry in os.scandir(self._directory):
                if entry.name.startswith(_UPLOAD):
                    os.unlink(entry.path)
        with self._lock, self._database.writing() as connection:
            self._remove(forget_old(connection, self.clock()))

    def _adopt(self, path: str, digest: str) -> None:
        target = self._path(digest)
        make_private_directories(os.path.dirname(target))
        os.replace(path, target)

    def _remove(self, digests: Sequence[str]) -> None:
        for digest in digests:
            with suppress(OSError):
                os.unlink(self._path(digest))

    def _path(self, digest: str) -> str:
        return os.path.join(self._directory, digest[:2], digest)


def may_have_archives(who: Identity, sent: Submission) -> bool:
    """Whether someone may have what programs packed: what is masked elsewhere can be in there."""
    spec = experiment_spec_from_json(json.loads(sent.specification))
    return sent.account == who.name or not given_values(spec)


def _refuse_secrets(who: Identity, sent: Submission) -> None:
    if not may_have_archives(who, sent):
        raise NotAllowedError(
            f"The archives of results of {sent.identifier} are for {sent.account} alone: its "
            "programs were given values that are hidden from others."
        )


def _told_digest(trial: Trial) -> str:
    package = trial.details.get("package")
    return str(package.get("sha256", "")) if isinstance(package, dict) else ""
