"""Trials of programs that move, for the benchmarks of layout; kept in a file as they come."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

STEELYARD = Path(sys.executable).with_name("steelyard")
DRIVER = f"{STEELYARD} cc"

# Of one program: times and counts by the name of what gave them.
Found = dict[str, list[float]]


def compared_trials(*words: str) -> list[dict[str, Any]]:
    """The trials of a comparison, without warm-ups and in their order; all must have succeeded.

    Raises
    ------
    RuntimeError
        The comparison failed, or one of its trials.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = ("--store", f"{folder}/store")
        call(STEELYARD, "compare", "--wait", "--warmup", "1", *store, *words)
        shown = json.loads(call(STEELYARD, "show", "--trials", "--json", "-", *store))
    trials = [trial for trial in shown["trials"] if not trial["warmup"]]
    failed = sum(trial["status"] != "ok" for trial in trials)
    if failed:
        raise RuntimeError(f"{failed} of {len(trials)} trials failed")
    return sorted(trials, key=lambda trial: trial["position"])


def call(*words: str | Path) -> str:
    """What a command printed.

    Raises
    ------
    RuntimeError
        It failed; the message is what it said.
    """
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def measured(
    file: Path, programs: Iterable[str], measure: Callable[[str], Found]
) -> dict[str, Found]:
    """What `file` holds, with those of `programs` that it lacked; one that fails is named."""
    data: dict[str, Found] = json.loads(file.read_text()) if file.exists() else {}
    for program in programs:
        if program in data:
            continue
        try:
            data[program] = measure(program)
        except RuntimeError as error:
            print(f"{program}: {error}", file=sys.stderr)
            continue
        file.write_text(json.dumps(data))
        print(program, "measured", file=sys.stderr, flush=True)
    return dict(sorted(data.items()))


def told_options(
    what: str | None, data: str, arguments: Sequence[str] | None, **more: str | None
) -> argparse.Namespace:
    """What the command line asks for: the options that all of these benchmarks have, and `more`
    with their defaults."""
    parser = argparse.ArgumentParser(description=(what or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(data))
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--size", default="train")
    parser.add_argument("--metric", default="cpu_time")
    for name, default in more.items():
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("programs", nargs="*")
    return parser.parse_args(arguments)


def suite_name(program: str, flags: str, size: str) -> str:
    """The program of the suite, built to move."""
    return f"suite:{program}@cc={DRIVER},flags={flags},size={size}"


def primary_values(trials: Sequence[dict[str, Any]], metric: str) -> list[float]:
    """The value of each trial, in seconds."""
    return [trial["measurements"][metric][0] for trial in trials]
