"""What was changed on the host, on disk before it is changed.

A line a record, appended and synced before the change that it announces. A torn last line
therefore announces a change that was not begun. The file is gone when nothing is left to
restore.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from steelyard.core.decoding import DECODING_FAULTS
from steelyard.core.errors import HostError
from steelyard.core.experiment_check import is_whole
from steelyard.host.trusted_file import check_trusted

JOURNAL_VARIABLE = "STEELYARD_HOST_JOURNAL"
# Not in /run: it must outlive a power cut.
MACHINE_JOURNAL = "/var/lib/steelyard/host.journal"
_VERSION = 1


@dataclass(frozen=True)
class Change:
    """One change that is to be put back.

    Parameters
    ----------
    number : int
        Its place in the order of changes.
    knob : str
        Which knob made it.
    previous, wanted : JSON values
        What was read before it, and what it brings about.
    boot_id : str
        The start of the machine that it was made in.
    reason : str or None
        Why it could not be put back so far.
    """

    number: int
    knob: str
    previous: Any
    wanted: Any
    boot_id: str
    reason: str | None = None

    def record(self) -> dict[str, Any]:
        """The line that announces it."""
        return {
            "change": self.number,
            "knob": self.knob,
            "boot_id": self.boot_id,
            "previous": self.previous,
            "wanted": self.wanted,
        }


def default_journal_path() -> str:
    """Where the journal is: ``$STEELYARD_HOST_JOURNAL``, or what all sessions of a user share.

    Root's is for the whole machine and outlives a power cut; another user's is among their
    state files (``XDG_STATE_HOME``).
    """
    chosen = os.environ.get(JOURNAL_VARIABLE)
    if chosen:
        return chosen
    if os.geteuid() == 0:
        return MACHINE_JOURNAL
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(state, "steelyard", "host.journal")


class HostJournal:
    """The journal at `path`, with the changes that are still to be put back.

    Raises
    ------
    HostError
        The file cannot be read, or is not a journal.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._changes: dict[int, Change] = {}
        self._fd: int | None = None
        self._next = 0
        self._load()

    @property
    def pending(self) -> tuple[Change, ...]:
        """The changes that are not put back, oldest first."""
        return tuple(self._changes[number] for number in sorted(self._changes))

    def open(self) -> None:
        """Make sure that the file can be written, which is made where it is missing.

        Raises
        ------
        HostError
            It cannot be written, or is not to be trusted.
        """
        with self._telling():
            if self._fd is None:
                self._fd = self._open()

    def announce(self, knob: str, previous: Any, wanted: Any, boot_id: str) -> Change:
        """Record a change and have it on the disk; only then may it be made."""
        change = Change(self._next, knob, previous, wanted, boot_id)
        self._append(change.record(), sync=True)
        self._next += 1
        self._changes[change.number] = change
        return change

    def settle(self, change: Change) -> None:
        """Record that `change` is put back. Losing the line only means restoring again."""
        self._append({"restored": change.number}, sync=False)
        self._changes.pop(change.number, None)

    def postpone(self, change: Change, reason: str) -> None:
        """Record why `change` could not be put back; it stays."""
        self._append({"failed": change.number, "reason": reason}, sync=True)
        self._changes[change.number] = Change(
            change.number, change.knob, change.previous, change.wanted, change.boot_id, reason
        )

    def close(self) -> None:
        """Close the file, and remove it when nothing is left to restore."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        if not self._changes and os.path.exists(self.path):
            os.unlink(self.path)

    def _append(self, record: dict[str, Any], sync: bool) -> None:
        with self._telling():
            if self._fd is None:
                self._fd = self._open()
            os.write(self._fd, json.dumps(record).encode() + b"\n")
            if sync:
                os.fsync(self._fd)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise HostError(
                f"The host journal {self.path} cannot be written: {error.strerror}. "
                f"Nothing is changed without it; set {JOURNAL_VARIABLE} to a writable path."
            ) from None

    def _open(self) -> int:
        is_new = not os.path.exists(self.path)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.path, flags, 0o600)
        try:
            check_trusted(fd, self.path)
        except HostError:
            os.close(fd)
            raise
        if is_new:
            os.write(fd, json.dumps({"host_journal": _VERSION}).encode() + b"\n")
            _sync_directory(os.path.dirname(self.path))
        else:
            _cut_torn_line(fd)
        return fd

    def _load(self) -> None:
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
            with open(fd, "rb") as file:
                check_trusted(fd, self.path)
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise HostError(
                f"The host journal {self.path} cannot be read: {error.strerror}."
            ) from None
        # What follows the last newline is torn: its change was never begun.
        for number, line in enumerate(lines[:-1], start=1):
            try:
                self._take(json.loads(line))
            except DECODING_FAULTS:
                raise HostError(
                    f"Line {number} of the host journal {self.path} is damaged. Mend or move "
                    "the file; it holds what the host's settings were."
                ) from None

    def _take(self, record: dict[str, Any]) -> None:
        if "change" in record:
            number = record["change"]
            if not is_whole(number, 0) or not isinstance(record["knob"], str):
                raise ValueError("a change has a number and the name of its knob")
            self._changes[number] = Change(
                number, record["knob"], record["previous"], record["wanted"], record["boot_id"]
            )
            self._next = max(self._next, number + 1)
        elif "restored" in record:
            self._changes.pop(record["restored"], None)
        elif "failed" in record and record["failed"] in self._changes:
            old = self._changes[record["failed"]]
            self._changes[old.number] = Change(
                old.number, old.knob, old.previous, old.wanted, old.boot_id, record["reason"]
            )


def _cut_torn_line(fd: int) -> None:
    size = os.fstat(fd).st_size
    text = os.pread(fd, size, 0)
    whole = text.rfind(b"\n") + 1
    if whole != size:
        os.ftruncate(fd, whole)


def _sync_directory(path: str) -> None:
    fd = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
