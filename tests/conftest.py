"""What holds for every test: it has a home and a terminal of its own, and never the user's."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import skips
from tests.said_at_once import SaidAtOnce, add_error_of_command

# The same examples each time, and no clock that decides: how long one takes is the machine's.
settings.load_profile("ci")

# Fonts are looked for once, and what was found is kept in the checkout, not in a home.
os.environ["MPLCONFIGDIR"] = str(Path(__file__).parents[1] / "build" / "matplotlib")

# `make setup-dev` fetches it here, and a user of a test has no home of Maven's.
ASYNC_PROFILER = Path(__file__).parents[1] / "build" / "async-profiler"
if ASYNC_PROFILER.is_dir():
    os.environ.setdefault("ASYNC_PROFILER_HOME", str(ASYNC_PROFILER))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores, journals and locks of a test go into its own folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("STEELYARD_LOCK", str(tmp_path / "lock"))
    monkeypatch.setenv("STEELYARD_CONFIG", "")
    for name in ("STEELYARD_STORE", "STEELYARD_SUITE_CACHE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def own_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a terminal can do is for a test to say, not for the one that it was started from."""
    monkeypatch.setenv("TERM", "xterm")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have failures named at once; workers write nothing themselves."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(SaidAtOnce(terminal))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a report of a command that failed say what it wrote."""
    report = yield
    add_error_of_command(report, call.excinfo.value if call.excinfo else None)
    return report


def skipped(config: pytest.Config) -> list[str] | None:
    """The reasons of all skips; None in a worker, which knows its own alone."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return None if reporter is None else skips.reasons(reporter.stats.get("skipped", ()))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run with needless skips, where they are refused."""
    found = skipped(session.config)
    refused = os.environ.get(skips.SETTING) == "refused"
    if found and refused and exitstatus == pytest.ExitCode.OK and skips.needless(found):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List what was skipped: first what should not have been, then what this machine lacks."""
    found = skipped(config)
    if not found or os.environ.get(skips.SETTING) != "refused":
        return
    needless = skips.needless(found)
    if needless:
        terminalreporter.section("skipped for no reason of this machine's: refused", red=True)
        for reason in dict.fromkeys(needless):
            terminalreporter.line(f"{needless.count(reason)} x {reason}")
    excused = [skips.excuse(reason) for reason in found if reason not in needless]
    if excused:
        terminalreporter.section("skipped for what this machine lacks")
        for what in dict.fromkeys(excused):
            terminalreporter.line(f"{excused.count(what)} x {what}")
