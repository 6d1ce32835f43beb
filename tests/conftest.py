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

# So is what Go has compiled.
os.environ.setdefault("GOCACHE", str(Path(__file__).parents[1] / "build" / "go-cache"))

# `make setup-dev` fetches it here, and a user of a test has no home of Maven's.
ASYNC_PROFILER = Path(__file__).parents[1] / "build" / "async-profiler"
if ASYNC_PROFILER.is_dir():
    os.environ.setdefault("ASYNC_PROFILER_HOME", str(ASYNC_PROFILER))


def live_in(home: Path, environment: pytest.MonkeyPatch) -> None:
    """Have stores, caches, journals and settings looked for in this folder."""
    for name in ("data", "state", "cache", "config"):
        environment.setenv(f"XDG_{name.upper()}_HOME", str(home / name))


@pytest.fixture(scope="session", autouse=True)
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """What is made for several tests is made before one of them has its home."""
    with pytest.MonkeyPatch.context() as environment:
        live_in(tmp_path_factory.mktemp("home"), environment)
        yield


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores, journals and locks of a test go into its own folder."""
    live_in(tmp_path, monkeypatch)
    monkeypatch.setenv("STEELYARD_LOCK", str(tmp_path / "lock"))
    monkeypatch.setenv("STEELYARD_CONFIG", "")
    for name in ("STEELYARD_STORE", "STEELYARD_SUITE_CACHE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `make coverage` leave alone what the test starts: it imports, and writes files."""
    for name in [name for name in os.environ if name.startswith("COVERAGE_PROCESS")]:
        monkeypatch.delenv(name)


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
