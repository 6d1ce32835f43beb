"""Kill a service, its workers and its database at random instants, and audit what it keeps.

    python -m benchmarks.service_kills --kills 1000 --seed 1
    python -m benchmarks.service_kills --kills 200 --slurm

6,300 short trials in blocks of 30 run on workers that are killed whole or in part, while the
server, the database, and with --slurm the controller and the nodes of a Slurm, are killed too; each
instant and what is killed are drawn from the seed. Once the database is away for a minute. Kills
that find nothing to kill do not count. In the end SQL that shares no code with the service asks
whether every planned place is there once, and whether levels are balanced. Exit status 1 where
anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.service_kills.kept_places import audited, progress
from benchmarks.service_kills.slurm_things import slurm_things
from benchmarks.service_kills.things import Command, PostgreSQL, Thing, ended, wait_for

BLOCK_TRIALS, VARIANTS = 30, 2
AWAY_S = 60.0
FILE = """\
[experiment]
name = "killed"
seed = 7
repeat = {{execution = {executions}}}

[[benchmark]]
name = "b"
command = ["sh", "-c", "echo >> {count}"]

[[factor]]
factor = "environment-size"
levels = [0, 64]

[hosts]
factors = {{worker = "100%"}}
replicates = {replicates}
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the experiment under kills, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=6300)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds between two kills")
    parser.add_argument("--limit", type=float, default=7200.0, help="seconds after which kills end")
    parser.add_argument("--slurm", action="store_true", help="with two nodes of a Slurm besides")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="kills-", dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        return _run(asked, Path(directory))


def _run(asked: argparse.Namespace, home: Path) -> int:
    draw = random.Random(asked.seed)
    (home / "pg").mkdir()
    database = PostgreSQL(home / "pg")
    environment = _environment(home)
    with contextlib.ExitStack() as stack:
        daemons, settings = (
            stack.enter_context(slurm_things(home, environment)) if asked.slurm else ((), ())
        )
        words = ("serve", "--port", "0", "--database", database.address)
        words += settings or ("--no-worker",)
        server = Command("server", words, home, environment)
        workers = [_worker(home, environment, number) for number in range(asked.workers)]
        stack.enter_context(ended(database, server, *workers))
        database.revive()
        server.revive()
        count = _submit(asked, home, environment, workers, len(daemons) - 1 if daemons else 0)
        things: list[Thing] = [server, database, *workers, *daemons]
        begun_s = time.monotonic()
        killed = _kill_until_done(asked, draw, database, things)
        took_s = time.monotonic() - begun_s
        return _tell(asked, home, database, killed, count, took_s)


def _environment(home: Path) -> dict[str, str]:
    own = {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "STEELYARD_LOCK": str(home / "lock"),
    }
    return {**os.environ, **own}


def _worker(home: Path, environment: dict[str, str], number: int) -> Command:
    """A worker, as on a host of its own: with a lock of its own, and results in a directory."""
    own = {**environment, "STEELYARD_LOCK": str(home / f"lock-{number}")}
    # Nodes of a Slurm are called w1 and so on.
    name = f"host{number}"
    words = ("worker", "--name", name, "--directory", str(home / name))
    return Command(name, words, home, own, partly=True)


def _submit(
    asked: argparse.Namespace,
    home: Path,
    environment: dict[str, str],
    workers: Sequence[Command],
    nodes: int,
) -> int:
    """Send the experiment when all workers are there; how many trials that are."""
    hosts = len(workers) + nodes
    replicates = max(1, round(asked.trials / BLOCK_TRIALS / hosts))
    executions = BLOCK_TRIALS // VARIANTS
    text = FILE.format(executions=executions, count=home / "count", replicates=replicates)
    (home / "e.toml").write_text(text)
    for worker in workers:
        worker.revive()
    told: dict[str, Any] = {}

    def is_sent() -> bool:
        for worker in workers:
            worker.revive()
        for words in (("--dry-run",), ()):
            argv = [sys.executable, "-m", "steelyard.cli.main", "submit", "e.toml", "--json", "-"]
            done = subprocess.run(
                [*argv, *words], cwd=home, env=environment, capture_output=True, check=False
            )
            if done.returncode != 0:
                return False
            told.update(json.loads(done.stdout))
            if len(told["workers"]) < hosts:
                return False
        return True

    wait_for(is_sent, "all workers are there", 900.0)
    return int(told["trials"])


def _kill_until_done(
    asked: argparse.Namespace, draw: random.Random, database: PostgreSQL, things: Sequence[Thing]
) -> Counter[str]:
    """Kill one thing after the other until all parts have ended."""
    killed: Counter[str] = Counter()
    last_s = time.monotonic() + asked.limit
    while not _is_done(database.address):
        total = sum(killed.values())
        time.sleep(draw.expovariate(1 / asked.pause) if total < asked.kills else 1.0)
        if total == asked.kills // 2 and not killed["database away"]:
            killed["database away"] += 1
            database.stop_for(AWAY_S)
        elif total < asked.kills and time.monotonic() < last_s:
            thing = draw.choice(things)
            killed[thing.name] += thing.kill(draw)
            time.sleep(draw.uniform(0.0, 0.5))
        for thing in things:
            thing.revive()
        if total % 25 == 24:
            print(f"{total} kills, {progress(database.address)} parts", file=sys.stderr, flush=True)
    return killed


def _is_done(address: str) -> bool:
    found = progress(address)
    return found is not None and found[0] == found[1] > 0


def _tell(
    asked: argparse.Namespace,
    home: Path,
    database: PostgreSQL,
    killed: Counter[str],
    count: int,
    took_s: float,
) -> int:
    database.revive()
    found = audited(database.address, count, VARIANTS)
    ran = (home / "count").stat().st_size
    kinds = ", ".join(f"{name} {number}" for name, number in sorted(killed.items()))
    print(f"seed {asked.seed}: {sum(killed.values())} kills in {took_s:.0f} s: {kinds}")
    print(f"{count} places, {ran} executions; attempts {found.attempts}; by {found.by_worker}")
    for question, wrong in found.wrong.items():
        print(f"{wrong:6}  {question}")
    return 0 if found.passed else 1


if __name__ == "__main__":
    sys.exit(main())
