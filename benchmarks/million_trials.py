"""How long do list, show and report take where an experiment has a million trials?

A store of version 2, in which each trial and metric was a row, holds a comparison of two programs
in 500,000 blocks, with the metrics that every measurement has. Its first use migrates it; then each
command runs in a process of its own.

    .venv/bin/python -m benchmarks.million_trials
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from struct import pack

BLOCKS = 500_000
LIMITS_S = {"list": 0.3, "show": 3.0, "report": 3.0, "page": 3.0}
LIMIT_MB = 500
MIGRATION_LIMIT_S = 60.0
LIMIT_BYTES = 150
COMMANDS = {
    "list": ["list"],
    "show": ["show"],
    "report": ["report", "--format", "text"],
    "page": ["report", "--output", os.devnull],
}


def empty_store_of_version_2(path: str) -> sqlite3.Connection:
    """A store as version 2 made it."""
    from alembic import command
    from alembic.config import Config

    from steelyard.store import migrations
    from steelyard.store.connection import open_engine
    from steelyard.store.store_location import APPLICATION_ID

    config = Config()
    config.set_main_option("script_location", os.path.dirname(migrations.__file__))
    config.set_main_option("path_separator", "os")
    engine = open_engine(path).execution_options(writing=True)
    with engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    raw.execute("PRAGMA user_version = 2")
    return raw


def specification(blocks: int) -> str:
    """A comparison of two programs by the metrics that every measurement has."""
    from steelyard.app.request.experiment_request import DEFAULT_METRICS
    from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
    from steelyard.core.identifier import new_identifier
    from steelyard.core.json_codec import to_json
    from steelyard.core.stopping_spec import StoppingSpec
    from steelyard.measure.metrics import METRICS

    metrics = tuple(MetricSpec(name, METRICS.get(name).unit) for name in DEFAULT_METRICS)
    spec = ExperimentSpec(
        identifier=new_identifier(1_700_000_000_000),
        kind="comparison",
        variants=tuple(Variant(name, LaunchSpec((name,))) for name in ("old", "new")),
        metrics=metrics,
        seed=1,
        stopping=StoppingSpec(runs=blocks),
    )
    return json.dumps(to_json(spec))


def trials_of(blocks: int, metrics: list[str]) -> Iterator[tuple[tuple, list[tuple]]]:
    """The row of each trial, and those of its measurements."""
    generator = random.Random(20261123)
    realised, details = "{}", '{"exit_code":0}'
    for position in range(2 * blocks):
        block, variant = divmod(position, 2)
        started_s = 1.7e9 + 0.1 * position
        row = (
            *(position + 1, 1, position, block, variant, 0, 0, "ok", None),
            *(started_s, 0.1, realised, details, "[]"),
        )
        value = generator.lognormvariate(-2.3 + 0.01 * variant, 0.05)
        values = {
            name: value if name.endswith("time") else float(int(1e4 * value)) for name in metrics
        }
        yield row, [(position + 1, name, pack("<d", found)) for name, found in values.items()]


def make_store(path: str, blocks: int) -> None:
    """The store of version 2."""
    connection = empty_store_of_version_2(path)
    spec = specification(blocks)
    metrics = [metric["name"] for metric in json.loads(spec)["metrics"]]
    identifier = json.loads(spec)["identifier"]
    connection.execute("PRAGMA synchronous = OFF")
    with connection:
        connection.execute(
            "INSERT INTO experiments VALUES (1, ?, 'comparison', 1.7e9, 'runs', ?)",
            (identifier, spec),
        )
        connection.execute("INSERT INTO sessions VALUES (1, 0, '{}')")
        for row, measured in trials_of(blocks, metrics):
            connection.execute(f"INSERT INTO trials VALUES ({', '.join('?' * 14)})", row)
            connection.executemany("INSERT INTO measurements VALUES (?, ?, ?)", measured)
    connection.close()


def run_s(store: str, arguments: list[str]) -> tuple[float, float, float]:
    """Wall time, processor time in seconds and the greatest memory in MB of one command."""
    started_s = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard.cli.main", *arguments, "--store", store],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    ended_s = time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return ended_s - started_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


def main() -> None:
    """Measure, print, and fail where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=BLOCKS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--directory", help="where the store is made, and kept")
    options = parser.parse_args()
    holds = True
    with tempfile.TemporaryDirectory(prefix="steelyard-million-", dir=options.directory) as made:
        store = os.path.join(made, "store.sqlite")
        make_store(store, options.blocks)
        trials = 2 * options.blocks
        before_bytes = Path(store).stat().st_size
        wall_s, cpu_s, peak_mb = run_s(store, ["list"])
        after_bytes = Path(store).stat().st_size
        holds &= wall_s < MIGRATION_LIMIT_S and after_bytes / trials < LIMIT_BYTES
        print(f"{trials:,} trials, {before_bytes / trials:.0f} bytes a trial in version 2")
        print(f"now {after_bytes / trials:.0f} bytes a trial")
        print(f"migration and list: {wall_s:.1f} s, {cpu_s:.1f} s of processor, {peak_mb:.0f} MB")
        for name, arguments in COMMANDS.items():
            runs = [run_s(store, arguments) for _ in range(options.runs)]
            wall_s, cpu_s, peak_mb = (
                statistics.median(column) for column in zip(*runs, strict=True)
            )
            holds &= wall_s < LIMITS_S[name] and peak_mb < LIMIT_MB
            print(f"{name}: {wall_s:.2f} s, {cpu_s:.2f} s of processor, {peak_mb:.0f} MB")
    print("holds" if holds else "DOES NOT HOLD")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
