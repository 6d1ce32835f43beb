"""Running real programs through the launcher, for tests of it."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steelyard.core.errors import MissingCapabilityError
from steelyard.core.experiment_spec import LaunchSpec, MetricSpec, Variant
from steelyard.measure.counters import counters_for
from steelyard.measure.launcher import Launcher
from steelyard.measure.launcher_process import launcher_path
from tests.patience import PATIENCE_S

# A program may not have come far when its time is over: on a busy machine it is given longer.
TIME_LIMITS_S = (0.05, 0.5, 5.0, 50.0, 200.0)
WALL_TIME = MetricSpec("wall_time", "s")


def sh(script: str, **launch: Any) -> Variant:
    """A variant that runs a script of the shell."""
    return Variant("sh", LaunchSpec(("/bin/sh", "-c", script), **launch))


def command(*argv: str, **launch: Any) -> Variant:
    """A variant that runs a program."""
    return Variant(argv[0], LaunchSpec(argv, **launch))


@contextmanager
def launcher(
    directory: Path,
    variants: Sequence[Variant],
    metrics: Sequence[MetricSpec] = (WALL_TIME,),
    **options: Any,
) -> Iterator[Launcher]:
    """A launcher with its journal and its work in `directory`."""
    try:
        launcher_path()
    except MissingCapabilityError as error:
        pytest.skip(f"the launcher is not built: {error.message}")
    journal = directory / "journal"
    journal.touch()
    with Launcher(
        str(journal), str(directory), variants, counters_for(metrics), **options
    ) as running:
        yield running


def run(
    directory: Path,
    *variants: Variant,
    metrics: Sequence[MetricSpec] = (WALL_TIME,),
    **options: Any,
) -> list[dict[str, Any]]:
    """The records of one trial of each variant."""
    with launcher(directory, variants, metrics, **options) as running:
        for index in range(len(variants)):
            running.queue(index, 0, index)
        return running.finish(PATIENCE_S)


def timed_out(directory: Path, script: str, *, ready: Path) -> dict[str, Any]:
    """The record of a script that was ended by its time, and had made the file `ready`."""
    for timeout_s in TIME_LIMITS_S:
        (directory / "journal").unlink(missing_ok=True)
        (record,) = run(directory, sh(script, timeout_s=timeout_s))
        if ready.exists():
            return record
    raise AssertionError(f"{ready} was not made within {TIME_LIMITS_S[-1]} s")


def fifo(path: Path) -> Path:
    """A named pipe, at which a test and a program can meet."""
    os.mkfifo(path)
    return path


def read_pid(path: Path) -> int:
    """The process that announces itself at a named pipe; waits for it."""
    return int(path.read_text())


def ends(pid: int) -> bool:
    """Whether a process ends within the patience of a test."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(PATIENCE_S * 1e3))
    finally:
        os.close(handle)
