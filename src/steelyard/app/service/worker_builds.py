"""Builds on a worker: made for all of its platform, or fetched from whoever has made them.

Whatever stands in the way of sharing one, the worker builds for itself: what it measures does not
wait for a network.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from steelyard.build.build_archive import (
    MOST_BYTES,
    PackedBuild,
    move_build,
    pack_build,
    unpack_build,
)
from steelyard.build.run_build import PLACE, Build
from steelyard.core.errors import ArchiveError, BuildFailedError, SteelyardError
from steelyard.service.service_client import ServiceClient

_PAUSES_S = (0.2, 0.5, 1.0, 2.0)
Say = Callable[[str], None]


class WorkerBuilds:
    """The exchange of builds for one part; see `build_exchange.BuildExchange`.

    Parameters
    ----------
    client : ServiceClient
    part : mapping
        Its ``part`` and ``attempt``.
    scratch : str
        A directory for archives, which are taken away.
    say : callable
    are_shared : bool
        Whether the experiment asks for it; otherwise it is only noted whose builds are used.
    """

    def __init__(
        self,
        client: ServiceClient,
        part: Mapping[str, Any],
        scratch: str,
        say: Say,
        *,
        are_shared: bool,
    ) -> None:
        self._client = client
        self._part = {name: part[name] for name in ("part", "attempt")}
        self._scratch = scratch
        self._say = say
        self.are_shared = are_shared
        self._told: dict[str, dict[str, Any]] = {}
        self._failed: dict[str, BuildFailedError] = {}
        # What fails from now on does so by itself: this host lacks nothing for it.
        self.lacks_nothing = False
        self.failures: dict[str, str] = {}

    @property
    def used(self) -> list[dict[str, Any]]:
        """For provenance: each build that others share, by its key, with whose it is and the digest
        of its archive, or why it was built here after all."""
        return [{"key": key, **self._told[key]} for key in sorted(self._told)]

    def found(self, key: str, build: Build) -> None:
        """A build was in the cache: another's, or one that others of the platform may want."""
        made_by = build.realised.get("made_by")
        if isinstance(made_by, Mapping):
            self._told[key] = dict(cast("Mapping[str, Any]", made_by))
        elif self.are_shared:
            told = self._asked(key)
            if told.get("do") == "make":
                self.made(key, build)
            elif told.get("yours"):
                self._told[key] = {"worker": told.get("worker"), "sha256": told.get("sha256")}

    def brought(self, key: str, directory: str) -> Build | None:
        """A build of another worker, brought to `directory`; None where it is to be made here.

        Raises
        ------
        BuildFailedError
            It failed where it was made.
        """
        if not self.are_shared:
            return None
        told = self._asked(key)
        if told.get("do") == "wait":
            # Nobody waits for one that waits: two might wait for each other.
            self.settle(lacks_nothing=False)
            self._say(f"waiting for the build that {told.get('worker')} makes")
        pauses_s = iter(_PAUSES_S)
        while told.get("do") == "wait":
            time.sleep(next(pauses_s, _PAUSES_S[-1]))
            told = self._asked(key)
        if told.get("do") == "failed":
            message = f"{told.get('message')} (built by the worker {told.get('worker')})"
            self.failures[key] = message
            raise BuildFailedError(message, field="build")
        if told.get("do") == "fetch":
            try:
                return self._fetched(key, directory, told)
            except (SteelyardError, OSError) as error:
                self._refuse(key, directory, told, error)
        if told.get("do") == "own":
            self._note_own(key, str(told.get("message")))
        return None

    def made(self, key: str, build: Build) -> None:
        """A build was made here: it is sent where the service waits for it."""
        if not self.are_shared or "built_here" in self._told.get(key, {}):
            return
        path = os.path.join(self._scratch, f"{key}.tar")
        try:
            pack_build(key, build, path)
            self._told[key] = self._sent(key, path)
        except (SteelyardError, OSError) as error:
            self._unshared(key, "own", f"it cannot be sent: {_why(error)}")
        finally:
            _remove(path)

    def failed(self, key: str, error: BuildFailedError) -> None:
        """A build failed here; `settle` says whether that is the build's own doing."""
        if self.are_shared:
            self._failed[key] = error
            if self.lacks_nothing:
                self.settle(lacks_nothing=True)

    def settle(self, *, lacks_nothing: bool) -> None:
        """Tell what failed: for all of the platform where this host lacks nothing, else for this
        worker alone."""
        while self._failed:
            key, error = self._failed.popitem()
            message = re.sub(rf"\S*/{key}", PLACE, error.message)
            if error.ended_itself and lacks_nothing:
                self._unshared(key, "failed", message)
                self.failures[key] = message
            else:
                self._unshared(key, "own", message)

    def _asked(self, key: str) -> Mapping[str, Any]:
        try:
            return self._post("wanted", {"key": key})
        except SteelyardError as error:
            self._note_own(key, error.message)
            return {}

    def _sent(self, key: str, path: str) -> dict[str, Any]:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        part, attempt = self._part["part"], self._part["attempt"]
        place = f"api/worker/builds/{part}/{attempt}/{key}?sha256={digest}"
        found = self._client.send_file(place, path)
        told = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        if not told.get("kept"):
            raise ArchiveError(str(told.get("message") or "the service does not keep it"))
        return {"worker": told.get("worker"), "sha256": digest}

    def _fetched(self, key: str, directory: str, told: Mapping[str, Any]) -> Build:
        path = os.path.join(self._scratch, f"{key}.tar")
        scratch = f"{directory}.brought"
        part, attempt = self._part["part"], self._part["attempt"]
        try:
            place = f"api/worker/builds/{part}/{attempt}/{key}"
            self._client.receive_file(place, path, MOST_BYTES)
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != told.get("sha256"):
                raise ArchiveError("its bytes are not those of its digest")
            shutil.rmtree(scratch, ignore_errors=True)
            packed: PackedBuild = unpack_build(path, scratch, key)
            made_by = {"worker": str(told.get("worker")), "sha256": digest}
            build = move_build(scratch, directory, packed, made_by)
        finally:
            _remove(path)
            shutil.rmtree(scratch, ignore_errors=True)
        self._say(f"took the build that {told.get('worker')} made")
        self._told[key] = made_by
        return build

    def _refuse(
        self, key: str, directory: str, told: Mapping[str, Any], error: SteelyardError | OSError
    ) -> None:
        """Build here what could not be taken, and let the service look at what it keeps."""
        why = f"the build of {told.get('worker')} was not taken: {_why(error)}"
        self._say(why)
        if isinstance(error, ArchiveError):
            try:
                self._post("refused", {"key": key, "sha256": told.get("sha256")})
                again = self._asked(key)
            except SteelyardError:
                again = {}
            if again.get("do") == "make":
                # It is forgotten there: the one that is made here takes its place.
                return
        self._note_own(key, why)

    def _unshared(self, key: str, state: str, message: str) -> None:
        if state == "own":
            self._note_own(key, message)
        try:
            self._post("unshared", {"key": key, "state": state, "message": message})
        except SteelyardError as error:
            self._say(error.message)

    def _note_own(self, key: str, why: str) -> None:
        self._told[key] = {"built_here": why}

    def _post(self, call: str, body: Mapping[str, Any]) -> dict[str, Any]:
        found = self._client.post(f"api/worker/builds/{call}", {**self._part, **body})
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _why(error: SteelyardError | OSError) -> str:
    return error.message if isinstance(error, SteelyardError) else str(error.strerror)


def _remove(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)
