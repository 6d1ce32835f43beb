"""The launcher's side in Python: start it, keep it fed, take its records.

Nothing here blocks the launcher: messages are queued in its pipe well ahead, records come
back in batches, and both directions are served together, so that neither side can wait for the
other while that one waits too.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, Protocol

from steelyard.core.errors import LauncherDiedError
from steelyard.core.experiment_spec import MetricSpec, Variant
from steelyard.core.native_program import native_program
from steelyard.core.process_state import LOOK_INTERVAL_S, is_stopped
from steelyard.measure.metrics import METRICS
from steelyard.measure.protocol import message, program_message, run_message

JOURNAL_DESCRIPTOR = 3
READ_SIZE_BYTES = 1 << 18
# Room for the records of some 2,000 trials; what an unprivileged process may ask for at most.
PIPE_SIZE_BYTES = 1 << 20
# What the launcher and the program that it ends may take; both are killed after it.
ENDING_S = 10.0


class OpenFile(Protocol):
    """A journal that is open for appending."""

    def fileno(self) -> int: ...


def launcher_path() -> str:
    """The launcher's binary: ``STEELYARD_LAUNCHER``, or the one inside the package.

    Raises
    ------
    MissingCapabilityError
        There is none.
    """
    return native_program("steelyard-launcher", "the launcher", variable="STEELYARD_LAUNCHER")


class Launcher:
    """A running launcher. A context manager: leaving it ends the launcher and what it runs.

    Parameters
    ----------
    journal : str or open file
        The journal that the launcher appends to: its path, or the file that holds its lock.
    work_directory : str
        An existing directory for what the programs print.
    variants : sequence of Variant
        The programs; `queue` names them by their index.
    metrics : sequence of MetricSpec
        What is asked for; performance counters are opened only for these.
    keep_output : bool or str
        Keep the standard output of each trial in ``work_directory/POSITION.out``; with
        ``"until-taken"``, until the `records` call after the one that gave the trial. That is
        done in any case where a metric is taken from it; otherwise the output is discarded.
    output_cap_bytes : int, optional
        A program that writes more is ended, its trial failed with the reason ``output``.

    Raises
    ------
    UsageError
        A program does not exist.
    MissingCapabilityError
        The launcher is not installed.
    """

    def __init__(
        self,
        journal: str | OpenFile,
        work_directory: str,
        variants: Sequence[Variant],
        metrics: Sequence[MetricSpec],
        *,
        keep_output: bool | Literal["until-taken"] = False,
        output_cap_bytes: int | None = None,
    ) -> None:
        printed = any(metric.source in ("regex", "json", "iterations") for metric in metrics)
        self._removes_output = keep_output == "until-taken" or (printed and not keep_output)
        self._outputs: list[str] = []
        session = [(b"directory", os.path.abspath(os.fsencode(work_directory)))]
        session.append((b"journal", b"%d" % JOURNAL_DESCRIPTOR))
        session.append((b"keep-output", b"%d" % (bool(keep_output) or printed)))
        if output_cap_bytes is not None:
            session.append((b"output-cap-bytes", b"%d" % output_cap_bytes))
        session += [(b"counter", os.fsencode(counter)) for counter in counters_for(metrics)]
        self._to_send = bytearray(message(b"session", *(part for pair in session for part in pair)))
        for index, variant in enumerate(variants):
            self.define(index, variant)
        self._received = b""
        self._fatal: str | None = None
        self._asked_to_end = False
        self._wait_status: int | None = None
        self._start(journal)

    def _start(self, journal: str | OpenFile) -> None:
        binary = launcher_path()
        opened = -1
        if isinstance(journal, str):
            opened = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        descriptor = opened if isinstance(journal, str) else journal.fileno()
        theirs_in, self._in = os.pipe()
        self._out, theirs_out = os.pipe()
        try:
            actions = [
                (os.POSIX_SPAWN_DUP2, theirs_in, 0),
                (os.POSIX_SPAWN_DUP2, theirs_out, 1),
                (os.POSIX_SPAWN_DUP2, descriptor, JOURNAL_DESCRIPTOR),
            ]
            self._pid = os.posix_spawn(binary, [binary], os.environ, file_actions=actions)
        finally:
            for end in (theirs_in, theirs_out, opened):
                if end >= 0:
                    os.close(end)
        with suppress(OSError):  # Its usual size does too, with more waking.
            fcntl.fcntl(self._out, fcntl.F_SETPIPE_SZ, PIPE_SIZE_BYTES)
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._send()

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()

    @property
    def pid(self) -> int:
        """The process of the launcher."""
        return self._pid

    def fileno(self) -> int:
        """The descriptor that becomes readable when there are records."""
        return self._out

    def define(self, index: int, variant: Variant) -> None:
        """Make `variant` the program `index` for the trials queued from now on."""
        self._to_send += program_message(index, variant)

    def queue(
        self, position: int, block: int, variant: int, warmup: bool = False, build: int = 0
    ) -> None:
        """Queue one trial; it is run after all that were queued before."""
        self._to_send += run_message(position, block, variant, build, warmup)

    def records(self, timeout_s: float | None = None) -> list[dict[str, Any]]:
        """Records of trials that have ended, in their order; waits for at least one.

        Returns
        -------
        list of dict
            Empty only when `timeout_s` has passed.

        Raises
        ------
        LauncherDiedError
            The launcher has ended, by a fault that it reports or by a signal. Records of its
            last 20 ms may then be in the journal alone, which has all of them.
        """
        self._remove_outputs()
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            found = self._take()
            if found or self._wait_status is not None:
                return found or self._end()
            left_s = None if deadline_s is None else deadline_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                return []
            if not self._wait(left_s):
                self._end_if_stopped()

    def finish(self, timeout_s: float | None = None) -> list[dict[str, Any]]:
        """Say that no more trials come, and give the records of all that were queued."""
        self._asked_to_end = True
        self._to_send += message(b"finish")
        records: list[dict[str, Any]] = []
        while batch := self.records(timeout_s):
            records += batch
        return records

    def abort(self) -> list[dict[str, Any]]:
        """End the launcher and the program that it runs; give the records not yet taken.

        The trial that is running leaves no record. Does nothing the second time.
        """
        if self._wait_status is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL if is_stopped(self._pid) else signal.SIGTERM)
        self._asked_to_end = True
        self._to_send.clear()
        records: list[dict[str, Any]] = []
        deadline_s = time.monotonic() + ENDING_S
        with suppress(LauncherDiedError):
            while True:
                batch = self.records(LOOK_INTERVAL_S)
                records += batch
                if not batch and self._wait_status is not None:
                    break
                if time.monotonic() > deadline_s:
                    self._kill()
        return records

    def _send(self) -> None:
        """Write as much as the pipe takes; whether something is left tells the poll."""
        while self._to_send:
            try:
                sent = os.write(self._in, self._to_send)
            except BlockingIOError:
                break
            except BrokenPipeError:
                self._to_send.clear()
                break
            del self._to_send[:sent]

    def _wait(self, left_s: float | None) -> bool:
        """Wait for records, but no longer than until the next look; whether something came."""
        self._send()
        if self._to_send:
            self._poll.register(self._in, select.POLLOUT)
        wait_s = LOOK_INTERVAL_S if left_s is None else min(left_s, LOOK_INTERVAL_S)
        came = self._poll.poll(wait_s * 1e3)
        if self._to_send:
            self._poll.unregister(self._in)
        return bool(came)

    def _end_if_stopped(self) -> None:
        """End a launcher that cannot work: the trial that runs would be timed wrongly anyway."""
        if not is_stopped(self._pid):
            return
        self._kill()
        self._fatal = (
            "The launcher was stopped (SIGSTOP), by the program that it ran most likely, and was "
            "ended. All trials that had ended are kept; `steelyard resume` goes on after them."
        )

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def _take(self) -> list[dict[str, Any]]:
        """What can be read without waiting; notes the end of the launcher."""
        if self._wait_status is not None:
            return []
        self._send()
        chunks = [self._received]
        ended = False
        while True:
            try:
                chunk = os.read(self._out, READ_SIZE_BYTES)
            except BlockingIOError:
                break
            if not chunk:
                ended = True
                break
            chunks.append(chunk)
        *lines, self._received = b"".join(chunks).split(b"\n")
        records = [json.loads(line) for line in lines]
        if records and "fatal" in records[-1]:
            self._fatal = records.pop()["fatal"]
        if ended:
            self._reap()
        if self._removes_output:
            self._outputs += [record["output"] for record in records if record.get("output")]
        return records

    def _reap(self) -> None:
        _, self._wait_status = os.waitpid(self._pid, 0)
        os.close(self._in)
        os.close(self._out)
        if os.WIFSIGNALED(self._wait_status):
            _end_session(self._pid)

    def _end(self) -> list[dict[str, Any]]:
        self._remove_outputs()
        if self._fatal is not None:
            raise LauncherDiedError(self._fatal)
        status = self._wait_status or 0
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            raise LauncherDiedError(
                f"The launcher was ended by {name}. All trials that had ended are kept; "
                "`steelyard resume` goes on after the last of them."
            )
        if self._asked_to_end:
            return []
        raise LauncherDiedError("The launcher has ended before its time; nothing tells why.")

    def _remove_outputs(self) -> None:
        for path in self._outputs:
            with suppress(FileNotFoundError):
                os.unlink(os.fsencode(path))
        self._outputs.clear()


def counters_for(metrics: Sequence[MetricSpec]) -> list[str]:
    """The performance counters that `metrics` need, by their names in perf(1)."""
    needed = (METRICS.get(m.name).counter for m in metrics if m.source == "counter")
    return [counter for counter in needed if counter is not None]


def _end_session(session: int) -> None:
    """End what a killed launcher left: the program dies with it, but not what that had started.

    The launcher leads a session of its own, which its programs inherit.
    """
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with suppress(OSError):
            with open(f"/proc/{entry}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
            if int(fields[3]) == session:
                os.kill(int(entry), signal.SIGKILL)
