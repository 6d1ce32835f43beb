"""Builds at a service: one worker makes each for all of its platform, the others fetch it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import uuid
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection

from steelyard.app.service.sent_result import readable, whole_field
from steelyard.app.service.service_room import ServiceFiles
from steelyard.app.service.worker_levels import levels_of
from steelyard.build.build_archive import MOST_BYTES, unpack_build
from steelyard.core.errors import ArchiveError, UsageError
from steelyard.core.private_file import make_private_directories
from steelyard.service.audit_log import note
from steelyard.service.shared_builds import (
    ASKING_LIMIT_S,
    BuildPlace,
    GivenBuild,
    WantedBuild,
    forget_build,
    forget_longest_unused,
    give_builds,
    is_shared,
    keep_build,
    keep_unshared,
    kept_build,
    refuse_others_build,
    submission_of_held,
    want_build,
)
from steelyard.service.submitted_packages import packages_of
from steelyard.service.workers import Worker, all_workers, beat, count_fault

# The tag of a worker that builds for others of its platform when it has nothing else to do.
BUILD_HOST = "build-host"
# Of all builds; and what stays free on the disk of the service.
MOST_KEPT_BYTES = 20 << 30
SPARE_BYTES = 1 << 30
_LONGEST_MESSAGE = 10_000
_KEY = re.compile(r"[0-9a-f]{32}")
_UPLOAD = "upload-"


class ServiceBuilds(ServiceFiles):
    """The builds that a service keeps."""

    most_kept_bytes = MOST_KEPT_BYTES

    def want(self, worker: Worker, document: Any) -> WantedBuild:
        """What a worker does about a build that a part of its needs.

        Raises
        ------
        DataError, UsageError
            It holds no such part.
        """
        asked = _asked(worker, document)
        with self._lock, self._database.writing() as connection:
            place = self._held(connection, asked)
            host = self._build_host(connection, worker, place)
            found = want_build(connection, place, self.clock(), host)
            if found.doing == "fetch" and not os.path.exists(self._path(found.digest)):
                forget_build(connection, place)
                found = want_build(connection, place, self.clock(), host)
        return found

    def give(self, worker: Worker) -> GivenBuild | None:
        """An experiment whose builds a build host makes now, if there is one."""
        if not _is_build_host(worker):
            return None
        with self._database.writing() as connection:
            given = give_builds(connection, worker.id)
            if given is not None:
                beat(connection, worker.id, "reserved", self.clock())
        return given

    def _build_host(
        self, connection: Connection, worker: Worker, place: BuildPlace
    ) -> Worker | None:
        """A worker that builds for those of its platform, and does nothing else now; none for a
        build host itself, and where packages belong to the experiment: those are for its workers.
        """
        if _is_build_host(worker) or packages_of(connection, place.submission_id):
            return None
        now_s = self.clock()
        hosts = (
            each
            for each in all_workers(connection)
            if _is_build_host(each)
            and each.status == "idle"
            and each.heartbeat_unix_s >= now_s - ASKING_LIMIT_S
            and _platform(each) == place.platform
        )
        return next(hosts, None)

    def unshared(self, worker: Worker, document: Any) -> None:
        """A worker says why a build that it was asked to make cannot be shared, or failed."""
        asked = _asked(worker, document)
        state = document.get("state")
        if state not in ("failed", "own"):
            raise UsageError(f"A build is failed or own, not {state!r}.", field="state")
        message = readable(str(document.get("message", "")))[:_LONGEST_MESSAGE]
        with self._lock, self._database.writing() as connection:
            keep_unshared(connection, self._held(connection, asked), state, message)

    def upload(self, size_bytes: int) -> str:
        """The path of a new file for a build that is being sent.

        Raises
        ------
        UsageError
            It is too large.
        """
        if size_bytes > MOST_BYTES:
            raise UsageError(f"A build has at most {MOST_BYTES >> 20} MiB.", field="FILE")
        make_private_directories(self._directory)
        return os.path.join(self._directory, f"{_UPLOAD}{uuid.uuid4().hex}")

    def receive(self, worker: Worker, document: Any, path: str) -> tuple[str, str]:
        """Keep the build in the file `path`, which a worker was asked for; its digest, and why it
        is not kept, empty where it is.

        One that is not what it says is a fault of its worker: the bytes came with their digest.

        Raises
        ------
        UsageError
            The worker was not asked for it.
        """
        asked = _asked(worker, document)
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with self._lock, self._database.writing() as connection:
            refuse_others_build(connection, self._held(connection, asked))
        if document.get("sha256") != digest:
            return digest, "its bytes are not those that were sent"
        wrong = self._wrong(path, asked.key)
        with self._lock, self._database.writing() as connection:
            place = self._held(connection, asked)
            refuse_others_build(connection, place)
            if wrong:
                self._blame(connection, place, f"the build that it sent is refused: {wrong}")
                forget_build(connection, place)
                return digest, wrong
            if shutil.disk_usage(self._directory).free < SPARE_BYTES:
                why = "the service's disk is full"
                keep_unshared(connection, place, "own", why)
                return digest, why
            self._adopt(path, digest)
            keep_build(connection, place, digest, os.path.getsize(self._path(digest)), self.clock())
            self._remove(forget_longest_unused(connection, self.most_kept_bytes))
        return digest, ""

    def path(self, worker: Worker, document: Any) -> str:
        """The file with a build that a part of a worker needs.

        Raises
        ------
        UsageError
            It holds no such part, or the build is not kept.
        """
        asked = _asked(worker, document)
        with self._database.writing() as connection:
            found = kept_build(connection, self._held(connection, asked))
        if found is None or not os.path.exists(self._path(found[0])):
            raise UsageError("The service does not keep this build.", field="key")
        return self._path(found[0])

    def refused(self, worker: Worker, document: Any) -> None:
        """A worker could not take a build that it fetched. It is looked at here again: one that was
        damaged here is forgotten, and one that is wrong as it was sent is a fault of its sender."""
        asked = _asked(worker, document)
        with self._database.writing() as connection:
            place = self._held(connection, asked)
            found = kept_build(connection, place)
        if found is None or found[0] != document.get("sha256"):
            return
        digest, sender = found
        is_whole = self._is_whole(digest)
        wrong = self._wrong(self._path(digest), asked.key) if is_whole else "it was damaged here"
        if not wrong:
            return
        with self._lock, self._database.writing() as connection:
            if kept_build(connection, place) != found:
                return
            forget_build(connection, place)
            if is_whole:
                count_fault(connection, sender, f"a build of its: {wrong}", proven=True)
            if not is_shared(connection, digest):
                self._remove([digest])

    def clear(self) -> None:
        """Take away what a service that was killed left of uploads."""
        with suppress(OSError):
            for entry in os.scandir(self._directory):
                if entry.name.startswith(_UPLOAD):
                    _remove(entry.path)

    def _held(self, connection: Connection, asked: BuildPlace) -> BuildPlace:
        number = submission_of_held(connection, asked.worker_id, asked.part_id, asked.attempt)
        return BuildPlace(
            *(asked.platform, asked.key, asked.worker_id, asked.part_id, asked.attempt),
            submission_id=number,
        )

    def _blame(self, connection: Connection, place: BuildPlace, why: str) -> None:
        count_fault(connection, place.worker_id, why, proven=True)
        note(connection, self.clock(), f"worker {place.worker_id}", "refused", "build", why)

    def _wrong(self, path: str, key: str) -> str:
        """Why an archive is not the build that it says; empty where it is."""
        scratch = os.path.join(self._directory, f"{_UPLOAD}{uuid.uuid4().hex}")
        try:
            unpack_build(path, scratch, key)
        except ArchiveError as error:
            return error.message
        finally:
            _remove(scratch)
        return ""

    def _is_whole(self, digest: str) -> bool:
        try:
            with open(self._path(digest), "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == digest
        except OSError:
            return False

    def _adopt(self, path: str, digest: str) -> None:
        target = self._path(digest)
        make_private_directories(os.path.dirname(target))
        os.replace(path, target)

    def _remove(self, digests: Any) -> None:
        for digest in digests:
            _remove(self._path(digest))

    def _path(self, digest: str) -> str:
        return os.path.join(self._directory, digest[:2], digest)


def _is_build_host(worker: Worker) -> bool:
    tags = worker.facts.get("tags")
    return isinstance(tags, list) and BUILD_HOST in tags


def _platform(worker: Worker) -> str:
    (platform,) = levels_of(worker).levels["platform"]
    return platform


def _asked(worker: Worker, document: Any) -> BuildPlace:
    key = document.get("key")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise UsageError("A build is named by its key.", field="key")
    platform = _platform(worker)
    part_id, attempt = whole_field(document, "part"), whole_field(document, "attempt")
    return BuildPlace(platform, key, worker.id, part_id, attempt)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(path)
