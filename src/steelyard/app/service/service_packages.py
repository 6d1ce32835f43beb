"""Benchmark packages of a service: taken, kept once, given to the workers that run them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from steelyard.app.experiment.experiment_entries import KnownPackages
from steelyard.app.service.service_room import ServiceFiles
from steelyard.core.errors import ArchiveError, UsageError
from steelyard.core.private_file import make_private_directories
from steelyard.service.accounts import Identity
from steelyard.service.audit_log import note
from steelyard.service.package.archive import Package, unpack
from steelyard.service.package.canonical_archive import write_archive
from steelyard.service.package.kept_packages import KeptPackages
from steelyard.service.package.package_faults import PackageFaults, find_faults
from steelyard.service.submitted_packages import (
    SentPackage,
    account_bytes,
    account_packages,
    is_given,
    note_package,
    packages_of,
    unused_packages,
)
from steelyard.service.workers import Worker

# Of all packages of an account, unpacked; and what stays free on the disk of the service.
MOST_ACCOUNT_BYTES = 20 << 30
SPARE_BYTES = 1 << 30


@dataclass(frozen=True)
class TakenPackage:
    """A package that the service keeps, with what was noted about it."""

    package: Package
    found: PackageFaults


class ServicePackages(ServiceFiles):
    """The packages of a service: what is known of them in its database, files in a directory."""

    most_account_bytes = MOST_ACCOUNT_BYTES

    def upload_directory(self, size_bytes: int) -> str:
        """A new directory for an archive that is being sent.

        Raises
        ------
        UsageError
            The disk of the service has no place for it.
        """
        make_private_directories(self._directory)
        if shutil.disk_usage(self._directory).free < size_bytes + SPARE_BYTES:
            raise UsageError("The service's disk is full: no package can be taken.", field="FILE")
        return tempfile.mkdtemp(prefix="upload-", dir=self._directory)

    def receive(self, who: Identity, path: str) -> TakenPackage:
        """Check and keep the archive at `path`; one that is kept already is kept once.

        Raises
        ------
        ArchiveError
            It cannot be read, or has faults: all of them are named.
        UsageError
            The account has sent too much.
        """
        files = f"{path}.files"
        try:
            package = unpack(path, files)
        except ArchiveError as error:
            # Where it lies here is nobody's business.
            told = error.message.replace(f" {path!r}", "")
            raise ArchiveError(told, field="FILE") from None
        found = find_faults(package, files)
        if found.faults:
            raise ArchiveError(" ".join(fault.message for fault in found.faults), field="FILE")
        with self._database.writing() as connection:
            own = {each.digest for each in account_packages(connection, who.account_id)}
            total = account_bytes(connection, who.account_id) + package.size_bytes
            if package.digest not in own and total > self.most_account_bytes:
                most_gib = self.most_account_bytes >> 30
                raise UsageError(
                    f"The packages of {who.name} have more than {most_gib} GiB. "
                    "Those that no experiment names go after a week.",
                    field="FILE",
                )
            # Within the transaction: nobody forgets it meanwhile.
            self._kept().adopt(files, package.digest)
            note_package(connection, who.account_id, package, self.clock())
            note(connection, self.clock(), who.name, "package", package.digest)
        self._forget_unused()
        return TakenPackage(package, found)

    def sent(self, who: Identity) -> list[SentPackage]:
        """What one has sent, the newest first."""
        with self._database.reading() as connection:
            return account_packages(connection, who.account_id)

    def named_by(self, submission_id: int) -> dict[str, str]:
        """The digests of an experiment's packages by their names in its file."""
        with self._database.reading() as connection:
            return packages_of(connection, submission_id)

    def known(self, who: Identity, digests: Mapping[str, str]) -> KnownPackages:
        """Packages by their names in an experiment file.

        Raises
        ------
        UsageError
            One was not sent by `who`: its digest alone is no proof of having it.
        """
        own = {each.digest for each in self.sent(who)} if digests else set[str]()
        for name, digest in digests.items():
            if digest not in own or not self._kept().has(digest):
                raise UsageError(
                    f"The package {name!r} ({digest[:12]}) was not sent by {who.name}. "
                    "Send it first: POST api/packages, or `steelyard submit`.",
                    field="packages",
                )
        return KnownPackages(self._directory, dict(digests))

    def write_for(self, worker: Worker, digest: str) -> str:
        """A new file with a package that a worker is to run; who calls takes it away.

        Raises
        ------
        UsageError
            The worker was given nothing that runs it.
        """
        with self._database.reading() as connection:
            given = is_given(connection, worker.id, digest)
        if not given or not self._kept().has(digest):
            raise UsageError(
                f"The worker {worker.name} has been given nothing that runs the package {digest}.",
                field="packages",
            )
        number, path = tempfile.mkstemp(prefix="download-", dir=self._directory)
        try:
            os.close(number)
            self.write(digest, path)
        except BaseException:
            os.unlink(path)
            raise
        return path

    def write(self, digest: str, path: str) -> bool:
        """Write a package as an archive into a file; False where it is not kept any more."""
        if not self._kept().has(digest):
            return False
        with open(path, "wb") as file:
            write_archive(self._kept().place(digest), file)
        return True

    def clear(self) -> None:
        """Take away what a service that was killed left of uploads and downloads."""
        with suppress(OSError):
            for entry in os.scandir(self._directory):
                if entry.name.startswith(("upload-", "download-", "new-")):
                    _remove(entry.path)

    def _forget_unused(self) -> None:
        with self._database.writing() as connection:
            for digest in unused_packages(connection, self.clock()):
                self._kept().forget(digest)

    def _kept(self) -> KeptPackages:
        make_private_directories(self._directory)
        return KeptPackages(self._directory)


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(path)
