"""What a run of tests says before its end: which failed, and which do not come to an end.

A run that is stopped from outside prints no summary. Its log has the names by then.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass, field

import pytest

COMMAND_SECTION = "what the failed command wrote on standard error"

# Longer than any test takes on a machine with nothing else to do.
LONG_S = 120.0


# Of a line and of what a command wrote on standard error, to either side of what is left out.
_SHOWN_CHARACTERS = 300


def shortened(text: str) -> str:
    """A text in one line, without its middle where it is long: its end may say why."""
    line = " ".join(text.split())
    left_out = len(line) > 2 * _SHOWN_CHARACTERS
    return f"{line[:_SHOWN_CHARACTERS]} ... {line[-_SHOWN_CHARACTERS:]}" if left_out else line


def crash(report: pytest.TestReport) -> str:
    """Where a test failed and by what, in one line of at most 605 characters."""
    found = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if found is None else f"{found.path}:{found.lineno}: {found.message}"
    lines = text.strip().splitlines()
    return shortened(lines[0 if found else -1]) if lines else ""


def add_error_of_command(report: pytest.TestReport, error: BaseException | None) -> None:
    """Keep what a command that failed wrote on standard error, which its exception does not say."""
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        text = error.stderr
        text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
        report.sections.append((COMMAND_SECTION, text))


@dataclass(eq=False)
class SaidAtOnce:
    """Writes a line for each test that fails, and for each that has run for long.

    Parameters
    ----------
    terminal : pytest.TerminalReporter
        Writes the lines; with several workers there is one in the process above them.
    long_s : float
        A test that runs for this long is named, in seconds.
    """

    terminal: pytest.TerminalReporter
    long_s: float = LONG_S
    _since: dict[str, float] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember since when it runs."""
        self._since[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Forget it."""
        self._since.pop(nodeid, None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name a test that failed."""
        if report.failed:
            self._line(f"FAILED {report.nodeid} ({report.when}): {crash(report)}")
            for name, text in report.sections:
                if name == COMMAND_SECTION:
                    self._line(f"{name}: {shortened(text)}")

    def __post_init__(self) -> None:
        """Look at what runs from now on."""
        # A test's own output is kept back while it runs, and what a thread writes then with it.
        self._output = open(os.dup(1), "w", encoding="utf-8")  # noqa: SIM115
        threading.Thread(target=self._look, name="said-at-once", daemon=True).start()

    def pytest_sessionfinish(self) -> None:
        """Look no more."""
        self._over.set()

    def _look(self) -> None:
        named: set[str] = set()
        while not self._over.wait(self.long_s / 4):
            for test, since in list(self._since.items()):
                ran_s = time.monotonic() - since
                if ran_s >= self.long_s and test not in named:
                    named.add(test)
                    self._line(f"still running after {ran_s:.0f} s: {test}")

    def _line(self, text: str) -> None:
        self.terminal.flush()
        self._output.write(f"\n{text}\n")
        self._output.flush()
