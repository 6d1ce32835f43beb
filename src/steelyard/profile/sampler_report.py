"""What the sampler reports while it runs, and the program that outlives it."""

from __future__ import annotations

import json
import math
import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_PROGRAM, _ERROR, _FAILED = "program ", "error: ", "failed: "
_POLL_S = 0.25


class Program:
    """A program that another process has started, held so that its number means no other one.

    Parameters
    ----------
    process : int
    """

    def __init__(self, process: int) -> None:
        self.process = process
        self._file: int | None = None
        # Gone already, or a kernel before 5.3.
        with suppress(OSError):
            self._file = os.pidfd_open(process)

    def tell(self, number: int) -> None:
        """Send it a signal, if it is still there."""
        if self._file is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(self._file, number)

    def has_ended(self, within_s: float = 0.0) -> bool:
        """Whether it has ended, or does so soon."""
        if self._file is None:
            return True
        poll = select.poll()
        poll.register(self._file, select.POLLIN)
        return bool(poll.poll(within_s * 1e3))

    def close(self) -> None:
        """Let go of it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


@dataclass
class SamplerReport:
    """What a sampler has reported.

    Parameters
    ----------
    program : Program or None
        The one that it started.
    error : str or None
        Why nothing was recorded.
    failure : str or None
        Why the recording ended before the program.
    summary : dict or None
        What it says of itself; None where it did not come to its end.
    begun : callable
        Takes the process of the program, once that has begun.
    """

    program: Program | None = None
    error: str | None = None
    failure: str | None = None
    summary: dict[str, Any] | None = None
    begun: Callable[[int], None] = lambda _: None
    asked_to_end: list[int] = field(default_factory=list[int])

    def take(self, lines: Iterable[str], say: Callable[[str], None]) -> None:
        """Read the report to its end; a failure is told at once, since the program goes on."""
        for line in lines:
            if line.startswith(_PROGRAM):
                self.program = Program(int(line.removeprefix(_PROGRAM)))
                self.begun(self.program.process)
            elif line.startswith(_ERROR):
                self.error = line.removeprefix(_ERROR).strip()
            elif line.startswith(_FAILED):
                self.failure = line.removeprefix(_FAILED).strip()
                say(f"{self.failure} The program goes on without being watched.")
            elif line.startswith("{") and line.endswith("}\n"):
                self.summary = json.loads(line)
            elif self.error is not None:
                self.error += f"\n{line.strip()}"

    def hand_on(self, number: int) -> None:
        """Hand a signal on to the program of a sampler that is gone."""
        self.asked_to_end.append(number)
        if number != signal.SIGINT and self.program is not None:
            self.program.tell(number)

    def outlive(self, patience_s: float | None) -> str:
        """Wait for the program of a sampler that is gone.

        Parameters
        ----------
        patience_s : float or None
            At most so long; None: until it ends, or a signal says that it is enough.

        Returns
        -------
        str
            How it ended, for a person.
        """
        if self.program is None:
            return ""
        self.asked_to_end.clear()
        limit_s = math.inf if patience_s is None else time.monotonic() + patience_s
        while not self.program.has_ended(_POLL_S) and time.monotonic() < limit_s:
            if self.asked_to_end:
                # It has a moment to end by the signal.
                self.program.has_ended(_POLL_S)
                break
        if self.program.has_ended():
            return "The program has ended since, its status is not known."
        return f"The program goes on as process {self.program.process}."

    def close(self) -> None:
        """Let go of the program."""
        if self.program is not None:
            self.program.close()

    def ending(self) -> str:
        """How the program ended, by a sampler that waited for it; for a person."""
        if self.program is None:
            return ""
        summary = self.summary or {}
        if "exit_code" in summary:
            return f"The program ended with status {summary['exit_code']}."
        if "signal" in summary:
            return f"The program ended by signal {summary['signal']}."
        return f"The program goes on as process {self.program.process}."
