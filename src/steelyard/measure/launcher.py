"""The launcher's side in Python: tell it what to run, well ahead, and take its records."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from steelyard.core.errors import LauncherDiedError
from steelyard.core.experiment_spec import Variant
from steelyard.core.interruption import heard, raise_unheard
from steelyard.core.process_state import LOOK_INTERVAL_S
from steelyard.measure.launcher_process import JOURNAL_DESCRIPTOR, LauncherProcess, OpenFile
from steelyard.measure.protocol import message, program_message, run_message

# What the launcher and the program that it ends may take; both are killed after it.
ENDING_S = 10.0


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
    counters : sequence of str
        Performance counters to open for each trial, by their names in perf(1).
    keep_output : bool
        Keep the standard output of each trial in ``work_directory/POSITION.out``; otherwise it is
        discarded.
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
        counters: Sequence[str] = (),
        *,
        keep_output: bool = False,
        output_cap_bytes: int | None = None,
    ) -> None:
        session = [(b"directory", os.path.abspath(os.fsencode(work_directory)))]
        session.append((b"journal", b"%d" % JOURNAL_DESCRIPTOR))
        session.append((b"keep-output", b"%d" % keep_output))
        if output_cap_bytes is not None:
            session.append((b"output-cap-bytes", b"%d" % output_cap_bytes))
        session += [(b"counter", os.fsencode(counter)) for counter in counters]
        programs = [program_message(index, variant) for index, variant in enumerate(variants)]
        self._fatal: str | None = None
        self._asked_to_end = False
        self._process = LauncherProcess(journal)
        self._process.put(message(b"session", *(part for pair in session for part in pair)))
        for program in programs:
            self._process.put(program)
        self._process.send()

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()

    @property
    def pid(self) -> int:
        """The process of the launcher."""
        return self._process.pid

    def define(self, index: int, variant: Variant) -> None:
        """Make `variant` the program `index` for the trials queued from now on."""
        self._process.put(program_message(index, variant))

    def queue(
        self, position: int, block: int, variant: int, warmup: bool = False, build: int = 0
    ) -> None:
        """Queue one trial; it is run after all that were queued before."""
        self._process.put(run_message(position, block, variant, build, warmup))

    def send(self) -> None:
        """Give it what was queued now, rather than when records are next asked for."""
        self._process.send()

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
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            found = self._take()
            if found:
                return found
            if self._process.has_ended:
                self._explain_end()
                return []
            left_s = None if deadline_s is None else deadline_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                return []
            if not self._process.wait(left_s):
                raise_unheard()
                self._end_if_stopped()

    def finish(self, timeout_s: float | None = None) -> list[dict[str, Any]]:
        """Say that no more trials come, and give the records of all that were queued."""
        self._asked_to_end = True
        self._process.put(message(b"finish"))
        records: list[dict[str, Any]] = []
        while batch := self.records(timeout_s):
            records += batch
        return records

    def abort(self) -> list[dict[str, Any]]:
        """End the launcher and the program that it runs; give the records not yet taken.

        The trial that is running leaves no record. Does nothing the second time.
        """
        heard()
        self._process.terminate()
        self._asked_to_end = True
        self._process.forget_unsent()
        records: list[dict[str, Any]] = []
        deadline_s = time.monotonic() + ENDING_S
        with suppress(LauncherDiedError):
            while True:
                batch = self.records(LOOK_INTERVAL_S)
                records += batch
                if not batch and self._process.has_ended:
                    break
                if time.monotonic() > deadline_s:
                    self._process.kill()
        return records

    def _take(self) -> list[dict[str, Any]]:
        """The records that can be read without waiting; notes a fault that is reported."""
        records = [json.loads(line) for line in self._process.receive()]
        if records and "fatal" in records[-1]:
            self._fatal = records.pop()["fatal"]
        return records

    def _end_if_stopped(self) -> None:
        """End a launcher that cannot work: the trial that runs would be timed wrongly anyway."""
        if not self._process.is_stopped:
            return
        self._process.kill()
        self._fatal = (
            "The launcher was stopped (SIGSTOP), by the program that it ran most likely, and was "
            "ended. All trials that had ended are kept; `steelyard resume` goes on after them."
        )

    def _explain_end(self) -> None:
        """Refuse to go on where the launcher has not ended as it was asked to."""
        if self._fatal is not None:
            raise LauncherDiedError(self._fatal)
        status = self._process.wait_status or 0
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            raise LauncherDiedError(
                f"The launcher was ended by {name}. All trials that had ended are kept; "
                "`steelyard resume` goes on after the last of them."
            )
        if not self._asked_to_end:
            raise LauncherDiedError("The launcher has ended before its time; nothing tells why.")
