"""A worker: it asks a service for parts, runs them, and sends back what came of them.

It only makes outgoing connections. A result is on the disk before it is sent, and stays there until
the service has said that it was taken, so that neither a crash nor a network loses it.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from steelyard.allocation.worker_facts import CAN_BOOT
from steelyard.app.service.begun_part import BegunPart
from steelyard.app.service.host_boots import HostBoots
from steelyard.app.service.worker_archives import (
    forget_orphans,
    has_archives,
    keep_archives,
    send_archives,
)
from steelyard.app.service.worker_levels import found_facts
from steelyard.app.service.worker_packages import WorkerPackages, run_rehearsal
from steelyard.app.service.worker_part import make_given_builds, run_given
from steelyard.app.service.worker_place import Say, WorkerPlace
from steelyard.core.errors import SteelyardError
from steelyard.core.private_file import make_private_directories, private_opener
from steelyard.service.service_client import ServiceClient, ServiceRefusal, UnreachableError

ASK_EVERY_S = 2.0
BEAT_EVERY_S = 15.0
LONGEST_PAUSE_S = 60.0
# A worker that ends by itself does so where no service answers for so long: what it has waits on
# its disk, and it holds its host no longer than that.
LONGEST_SILENCE_S = 10.0
# What is given to a worker whether or not its host was booted.
_NO_PARTS = ("given-rehearsal", "given-build")
# The status of HTTP for what is no result at all: sending it again would not help.
_UNREADABLE = 422


@dataclass(frozen=True)
class HostFacts:
    """What is told of a host beside what it finds: the name of its worker, words that experiments
    can require, and whether it boots itself."""

    name: str
    tags: tuple[str, ...] = ()
    boots: bool = False


def enrol_here(server: str, token: str, about: HostFacts, place: WorkerPlace) -> ServiceClient:
    """Enrol this host; the client that speaks for it from now on."""
    name, facts = about.name, found_facts(about.tags)
    body = {"name": name, "facts": {**facts, **({"boots": CAN_BOOT} if about.boots else {})}}
    answer = ServiceClient(server, token).post("api/workers", body)
    make_private_directories(place.outbox)
    _write(place.identity, {"server": server, "name": name, "token": answer["token"]})
    return ServiceClient(server, str(answer["token"]))


def enrolled_worker(
    find: Callable[[], ServiceClient],
    about: HostFacts,
    place: WorkerPlace,
    say: Say,
    longest_s: float = math.inf,
) -> ServiceClient:
    """As `enrol_here`, as soon as the service answers.

    Parameters
    ----------
    find : callable
        The service, which may have moved by the next time that it is asked.
    about : HostFacts

    Raises
    ------
    ServiceRefusal
        The service says why not.
    UnreachableError
        It has not answered for `longest_s`.
    """
    pause_s, silent_s, is_told = ASK_EVERY_S, 0.0, False
    while True:
        client = find()
        try:
            return enrol_here(client.address, client.token, about, place)
        except UnreachableError as error:
            if silent_s >= longest_s:
                raise
            if not is_told:
                say(f"{error.message} Trying again.")
            is_told = True
            time.sleep(pause_s)
            silent_s += pause_s
            pause_s = min(LONGEST_PAUSE_S, 2 * pause_s)


def _write(path: str, document: Mapping[str, Any]) -> None:
    """Write a file that appears whole, and is on the disk when it does."""
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8", opener=private_opener) as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


class WorkerLoop:
    """Runs what a service gives until it is told to stop.

    Parameters
    ----------
    client : ServiceClient
        With the worker's own token.
    place : WorkerPlace
    say : callable
    find : callable, optional
        Where the service is now, if it may have moved, or None where that is not known. A service
        of this machine has another address each time that it starts.
    read_host : callable, optional
        What the host takes for the reference benchmark, None where that is not due.
    boot_command : str, optional
        What boots this host.
    """

    def __init__(
        self,
        client: ServiceClient,
        place: WorkerPlace,
        say: Say,
        find: Callable[[], str | None] = lambda: None,
        read_host: Callable[[], Mapping[str, float] | None] = lambda: None,
        boot_command: str = "",
    ) -> None:
        self._client = client
        self._find = find
        self._read_host = read_host
        self._place = place
        self._boots = HostBoots(place.directory, boot_command)
        self._say = say
        self._pause = threading.Event()
        self._silent = False

    def run(self, *, once: bool = False) -> None:
        """Ask, run, send, again and again; `once` ends where there is nothing to run.

        Raises
        ------
        ServiceRefusal
            The worker is not known to the service any more.
        UnreachableError
            With `once`: the service has not answered for `LONGEST_SILENCE_S`.
        """
        pause_s, silent_s = ASK_EVERY_S, 0.0
        while True:
            try:
                self._send_outbox()
                self._send_reading()
                given = self._client.post("api/worker/next", vars(self._boots.said()))
                self._heard()
                if given is None or given["kind"] not in _NO_PARTS:
                    self._boots.heard()
                if given is not None:
                    self._do(given)
            except (UnreachableError, ServiceRefusal) as error:
                # Behind the address of a service that has moved there may be another.
                if isinstance(error, ServiceRefusal) and not self._has_moved():
                    raise
                self._unheard(error)
                if once and silent_s >= LONGEST_SILENCE_S:
                    raise
                self._pause.wait(pause_s)
                silent_s += pause_s
                pause_s = min(LONGEST_PAUSE_S, 2 * pause_s)
                continue
            pause_s, silent_s = ASK_EVERY_S, 0.0
            if given is None and once:
                return
            if given is None:
                self._pause.wait(ASK_EVERY_S)

    def _do(self, given: Mapping[str, Any]) -> None:
        """Boot this host, or run what was given.

        Raises
        ------
        MissingCapabilityError
            The host was not booted.
        UnreachableError
            A package cannot be fetched, or the service not be told how far the part is.
        """
        if given["kind"] == "wanted-boot":
            self._say("booting this host")
            self._boots.boot(given["booted_for"])
        self._boots.runs()
        try:
            self._run_one(given)
        finally:
            self._boots.has_run()

    def _run_one(self, given: Mapping[str, Any]) -> None:
        """Run what was given, and leave its result in the outbox.

        Raises
        ------
        UnreachableError
            A package cannot be fetched now.
        """
        make_private_directories(self._place.parts)
        with tempfile.TemporaryDirectory(dir=self._place.parts) as directory, self._beating():
            packages = WorkerPackages(self._client, self._place.packages)
            if given["kind"] == "given-rehearsal":
                self._say(f"rehearsal of {given['benchmark']}")
                self._rehearsed(run_rehearsal(given, directory, packages))
                return
            if given["kind"] == "given-build":
                self._say(f"building for the workers of {given['experiment']}")
                if why := make_given_builds(given, directory, self._say, packages):
                    self._say(why)
                return
            self._say(f"running {len(given['positions'])} trials of {given['experiment']}")
            begun = BegunPart(self._place.begun, given)
            result = begun.after(run_given(begun.now, directory, self._say, packages), directory)
            name = f"{given['part']}-{given['attempt']}.json"
            if result is not None:
                keep_archives(directory, self._place.outbox, name)
        if result is None:
            about = {"part": given["part"], "attempt": given["attempt"], "ran": begun.ran}
            self._client.post("api/worker/ran", about)
            return
        _write(os.path.join(self._place.outbox, name), result)

    def _send_reading(self) -> None:
        """Send what the host takes for the reference benchmark, if that is due."""
        with self._beating():
            # It may have to wait for another measurement of this machine to end.
            reading = self._read_host()
        if reading is None:
            return
        told = self._client.post("api/worker/reading", {"reading": dict(reading)})
        if told["set_aside"]:
            self._say("this host is set aside: its reference benchmark drifts")

    def _rehearsed(self, result: Mapping[str, Any]) -> None:
        """Send what scripts printed; if it is lost, the rehearsal is given out again."""
        try:
            self._client.post("api/worker/rehearsals", result)
        except ServiceRefusal as error:
            self._say(error.message)

    def _send_outbox(self) -> None:
        """Send all results, the oldest first; each is removed when the service has spoken."""
        forget_orphans(self._place.outbox)
        for name in sorted(os.listdir(self._place.outbox)):
            path = os.path.join(self._place.outbox, name)
            if not name.endswith(".json"):
                continue
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
            if has_archives(self._place.outbox, name):
                where = (result["part"], result["attempt"])
                with self._beating():
                    send_archives(self._client, self._place.outbox, name, where, self._say)
            outcome, message = self._sent(result)
            if outcome != "committed":
                self._say(f"{outcome}: {message}")
            os.unlink(path)

    def _sent(self, result: Any) -> tuple[str, str]:
        """What the service did with a result, and why; raises unless it has spoken of this one."""
        try:
            taken = self._client.post("api/worker/results", result)
        except ServiceRefusal as error:
            if error.status != _UNREADABLE:
                raise
            return "refused", error.message
        if not isinstance(taken, dict) or cast("dict[str, Any]", taken).get("kind") != "taken":
            raise UnreachableError("What answers is no service of Steelyard.", field="--server")
        told = cast("dict[str, Any]", taken)
        return str(told.get("outcome")), str(told.get("message"))

    @contextmanager
    def _beating(self) -> Iterator[None]:
        """Tell the service every few seconds that this host is alive."""
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(BEAT_EVERY_S):
                try:
                    self._client.post("api/worker/beat", {"status": "running"})
                except SteelyardError as error:
                    self._say(error.message)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _has_moved(self) -> bool:
        """Whether the service is elsewhere now."""
        return self._find() not in (None, self._client.address)

    def _unheard(self, error: SteelyardError) -> None:
        if not self._silent:
            self._say(f"{error.message} Trying again.")
        self._silent = True
        self._client = replace(self._client, address=self._find() or self._client.address)

    def _heard(self) -> None:
        if self._silent:
            self._say("the service answers again")
        self._silent = False
