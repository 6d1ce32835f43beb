"""`kill -9` of Steelyard at random instants of an experiment with builds, and its resuming.

What must hold after each: trials that had ended are kept, nothing of a build runs on, `resume`
fills the plan without a gap, and no directory of a build is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

KILLS = int(os.environ.get("STEELYARD_KILLS", "20"))
BUILDS, EXECUTIONS = 4, 3
EXPERIMENT_S = 1.6


class Victim:
    """Builds that take their time, of a program that notes on a file that it has ended."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log = home / "ended"
        self.build = home / "build.sh"
        self.build.write_text(
            "#!/bin/sh\n"
            f"echo $$ >> {home}/builders\n"
            "sleep 0.15\n"
            f"printf '#!/bin/sh\\nsleep 0.01\\necho . >>{self.log}\\n' > prog\n"
            "chmod +x prog\n"
        )
        self.build.chmod(0o755)
        self.environment = {
            **os.environ,
            "XDG_DATA_HOME": str(home / "data"),
            "STEELYARD_LOCK": str(home / "lock"),
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "steelyard.cli.main", *arguments]

    def start(self) -> subprocess.Popen[bytes]:
        counts = ("--repeat", f"build={BUILDS}", "--repeat", f"execution={EXECUTIONS}")
        programs = ("{build}/prog", "{build}/prog again")
        return subprocess.Popen(
            self.command("compare", "--build", str(self.build), *counts, *programs),
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )

    def asks(self, *arguments: str) -> dict:
        done = subprocess.run(
            self.command(*arguments, "--json", "-"),
            env=self.environment,
            stdout=subprocess.PIPE,
            timeout=120,
            check=True,
        )
        return json.loads(done.stdout)

    def trials(self) -> list[dict]:
        return self.asks("show", "latest", "--trials")["trials"]

    def builders_left(self) -> list[int]:
        """Builds that are still running."""
        path = self.home / "builders"
        pids = [int(line) for line in path.read_text().split()] if path.exists() else []
        return [pid for pid in pids if self._is_builder(pid)]

    def _is_builder(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            return str(self.build).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
        return False


@pytest.mark.parametrize("instant", range(KILLS))
def test_a_killed_experiment_with_builds_is_resumed_without_a_gap(tmp_path, instant):
    draw = random.Random(instant)
    victim = Victim(tmp_path)
    process = victim.start()
    time.sleep(draw.uniform(0, EXPERIMENT_S))
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    deadline_s = time.monotonic() + 10
    while victim.builders_left():
        assert time.monotonic() < deadline_s, "a build outlives Steelyard"
        time.sleep(0.01)
    time.sleep(0.05)  # The launcher ends what it runs.
    ended = victim.log.read_text().count(".") if victim.log.exists() else 0

    if not victim.asks("list")["experiments"]:
        assert ended == 0
        return
    assert ended - 1 <= len(victim.trials()) <= ended
    victim.asks("resume", "latest")
    trials = victim.trials()
    assert [trial["position"] for trial in trials] == list(range(2 * BUILDS * EXECUTIONS))
    assert {trial["status"] for trial in trials} == {"ok"}
    assert sorted({trial["build"] for trial in trials}) == list(range(BUILDS))
    assert all(trial["details"]["costs_s"]["build"] > 0 for trial in trials)
    assert not list(tmp_path.rglob("*.work"))
