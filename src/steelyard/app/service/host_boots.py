"""Hosts that boot themselves: what the service wants of them, and what they say when they are back.

A host boots by a command that its worker was given. Which boot it is in it knows by the kernel's
own number, so that a command which did nothing is not taken for a boot.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from steelyard.app.service.sent_result import readable
from steelyard.app.service.worker_levels import can_boot
from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.private_file import private_opener
from steelyard.service.part_queue import next_boot
from steelyard.service.workers import Worker

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
# A host shuts its services down first, this worker among them.
_LONGEST_BOOT_S = 600.0
_MOST_SAID = 300


@dataclass(frozen=True)
class WantedBoot:
    """A host is to be booted before its next part; `booted_for` names what for."""

    booted_for: str


@dataclass(frozen=True)
class HostSaid:
    """What a worker says of its host when it asks: what it was booted for since it last asked, and
    what became of the part that it was given before; empty where there is nothing to say."""

    booted_for: str = ""
    lost: str = ""

    @property
    def why_lost(self) -> tuple[str, ...]:
        """Why the part is lost that it was given before, where it is known."""
        return (self.lost,) if self.lost else ()


def read_said(body: Mapping[str, Any]) -> HostSaid:
    """What the body of a worker's question says; what is of the wrong kind is not heard."""
    found = [body.get(name, "") for name in ("booted_for", "lost")]
    return HostSaid(
        *(readable(text)[:_MOST_SAID] if isinstance(text, str) else "" for text in found)
    )


def wanted_boot(connection: Connection, worker: Worker, now_s: float) -> WantedBoot | None:
    """The boot that the next part of a worker takes, where its host boots itself."""
    if worker.cluster or not can_boot(worker) or worker.status == "quarantined":
        return None
    name = next_boot(connection, worker.id, now_s)
    return WantedBoot(name) if name else None


def checked_boot_command(text: str | None) -> str:
    """The command that boots a host; empty where none is given.

    Raises
    ------
    UsageError
        It is no command.
    """
    try:
        words = shlex.split(text or "")
    except ValueError as error:
        raise UsageError(
            f"--boot-command {text!r} is no command: {error}.", field="--boot-command"
        ) from None
    if text is not None and (not words or shutil.which(words[0]) is None):
        raise UsageError(
            f"--boot-command takes a command of this host, such as 'systemctl reboot', not "
            f"{text!r}.",
            field="--boot-command",
        )
    return text or ""


@dataclass(frozen=True)
class HostBoots:
    """The boots of this host as its worker sees them.

    Parameters
    ----------
    directory : str
        The worker's own: what it says outlives a boot.
    command : str
        That boots the host; empty where nothing does.
    boot_id : str
        Where the kernel says which boot this is.
    """

    directory: str
    command: str = ""
    boot_id: str = _BOOT_ID

    def said(self) -> HostSaid:
        """What to say with the next question."""
        wanted, running = self._read("boot.json"), self._read("running.json")
        now = self._now()
        booted_for = ""
        if wanted and wanted["boot"] != now:
            booted_for = str(wanted["for"])
        lost = ""
        if running and running["boot"] != now:
            lost = "its host crashed or lost power while the block ran, and was booted anew"
        elif running:
            lost = "the worker was ended while the block ran"
        return HostSaid(booted_for, lost)

    def heard(self) -> None:
        """The service has heard what was said."""
        for name in ("boot.json", "running.json"):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self.directory, name))

    def runs(self) -> None:
        """A part is being run: if this host goes down meanwhile, it is known afterwards."""
        self._write("running.json", {"boot": self._now()})

    def has_run(self) -> None:
        """No part is being run any more."""
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self.directory, "running.json"))

    def boot(self, booted_for: str) -> None:
        """Boot this host. It does not come back from this.

        Raises
        ------
        MissingCapabilityError
            The host was not booted.
        """
        self._write("boot.json", {"boot": self._now(), "for": booted_for})
        told = ""
        try:
            done = subprocess.run(
                shlex.split(self.command), capture_output=True, text=True, check=False
            )
            told = done.stderr.strip()[-_MOST_SAID:]
            if done.returncode == 0:
                time.sleep(_LONGEST_BOOT_S)
                told = f"this host is the same boot after {_LONGEST_BOOT_S:.0f} s"
        except OSError as error:
            told = str(error)
        raise MissingCapabilityError(
            f"The command {self.command!r} did not boot this host: {told}", field="--boot-command"
        )

    def _now(self) -> str:
        try:
            with open(self.boot_id, encoding="ascii") as file:
                return file.read().strip()
        except OSError:
            return ""

    def _read(self, name: str) -> dict[str, Any]:
        try:
            with open(os.path.join(self.directory, name), encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) and "boot" in found else {}

    def _write(self, name: str, document: Mapping[str, str]) -> None:
        """Write what is on the disk when this returns: the host may go down at any time."""
        path = os.path.join(self.directory, name)
        with open(f"{path}.part", "w", encoding="utf-8", opener=private_opener) as file:
            json.dump(document, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.part", path)
        folder = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)
