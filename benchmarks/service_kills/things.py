"""What a service stands on, each as a thing that can be killed and comes back."""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, cast

from tests.postgresql import programs

_QUIET: dict[str, Any] = {
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.DEVNULL,
    "stderr": subprocess.DEVNULL,
}
_READY_S = 60.0


class Thing(Protocol):
    """Something that is killed; `name` is what the table calls it."""

    name: str

    def kill(self, draw: random.Random) -> bool:
        """Kill it, or a part of it; whether something was killed."""
        ...

    def revive(self) -> None:
        """Let it run again, if it does not."""
        ...


def below(number: int) -> list[int]:
    """All processes that a process has started, and those that these have."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
    found, new = set[int](), {number}
    while new:
        new = {own for own, parent in parents.items() if parent in new} - found
        found |= new
    return sorted(found)


def _started(argv: list[str], **changes: Any) -> subprocess.Popen[bytes]:
    """A process that says nothing, but where `changes` has it otherwise."""
    return cast("subprocess.Popen[bytes]", subprocess.Popen(argv, **{**_QUIET, **changes}))


def kill_all(numbers: list[int]) -> None:
    """End processes now."""
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


class Command:
    """A command of Steelyard that is started anew whenever it has ended, as an init system does.

    Parameters
    ----------
    name : str
    words : tuple of str
    home : Path
        Where it runs, and what it writes to standard error is kept.
    environment : mapping
    partly : bool
        Kill one process of it at random, rather than the one that was started.
    """

    def __init__(
        self,
        name: str,
        words: tuple[str, ...],
        home: Path,
        environment: dict[str, str],
        *,
        partly: bool = False,
    ) -> None:
        self.name = name
        self._argv = [sys.executable, "-m", "steelyard.cli.main", *words]
        self._home = home
        self._environment = environment
        self._partly = partly
        self._process: subprocess.Popen[bytes] | None = None

    def kill(self, draw: random.Random) -> bool:
        """Kill it, or one of what it has started."""
        process = self._process
        if process is None or process.poll() is not None:
            return False
        numbers = [process.pid]
        if self._partly:
            choice = draw.random()
            under = below(process.pid)
            if choice < 0.3:
                numbers += under
            elif choice < 0.6 and under:
                numbers = [draw.choice(under)]
        kill_all(numbers)
        return True

    def revive(self) -> None:
        """Start it where it does not run."""
        if self._process is not None and self._process.poll() is None:
            return
        with open(self._home / f"{self.name}.err", "ab") as said:
            place: dict[str, Any] = {"cwd": self._home, "env": self._environment}
            self._process = _started(self._argv, **place, stderr=said)

    def end(self) -> None:
        """End it with all that it has started."""
        if self._process is not None:
            kill_all([*below(self._process.pid), self._process.pid])
            self._process.wait()


class PostgreSQL:
    """A cluster in a directory, reached by a socket there; what is committed is on its disk."""

    name = "database"

    def __init__(self, directory: Path) -> None:
        found = programs()
        assert found is not None
        self._programs, self._directory = found, directory
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user is not None:
            owner = pwd.getpwnam(self._user)
            os.chown(directory, owner.pw_uid, owner.pw_gid)
        initdb = [f"{found}/initdb", "-D", f"{directory}/data", "-U", "tester", "-A", "trust"]
        encoding = ["-E", "UTF8", "--locale", "C.UTF-8"]
        subprocess.run([*initdb, *encoding], user=self._user, cwd="/", check=True, **_QUIET)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """What `--database` takes."""
        return f"postgresql://tester@/postgres?host={self._directory}"

    def kill(self, draw: random.Random) -> bool:
        """Kill all of it at once, or one process of it, after which it starts anew by itself."""
        process = self._process
        if process is None or process.poll() is not None:
            return False
        under = below(process.pid)
        if draw.random() < 0.5 and under:
            kill_all([draw.choice(under)])
        else:
            kill_all([process.pid, *under])
            process.wait()
        return True

    def revive(self) -> None:
        """Start it where it does not run, and wait until it answers."""
        if self._process is None or self._process.poll() is not None:
            argv = [f"{self._programs}/postgres", "-D", f"{self._directory}/data"]
            argv += ["-c", "listen_addresses=", "-k", str(self._directory)]
            self._process = _started(argv, user=self._user, cwd="/")
        wait_for(self._answers, "the database answers")

    def stop_for(self, seconds: float) -> None:
        """Let it be away for some time."""
        if self._process is not None:
            kill_all([self._process.pid, *below(self._process.pid)])
            self._process.wait()
        time.sleep(seconds)
        self.revive()

    def end(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_READY_S)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.address, connect_timeout=5).close()
        except psycopg.OperationalError:
            if self._process is not None and self._process.poll() is not None:
                # What was killed leaves shared memory until its last process is gone.
                self._process = None
                self.revive()
            return False
        return True


def wait_for(holds: Callable[[], bool], what: str, limit_s: float = _READY_S) -> None:
    """Wait until something holds."""
    deadline_s = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"it did not come: {what}")
        time.sleep(0.1)


@contextlib.contextmanager
def ended(*things: Command | PostgreSQL) -> Iterator[None]:
    """End things, the first last."""
    try:
        yield
    finally:
        for thing in reversed(things):
            thing.end()
