"""What the suite's programs under pyperf share: one process, one worker, values that are checked.

A value is an iteration of Steelyard's. pyperf's report goes to standard error, its JSON to the file
that Steelyard names. STEELYARD_ITERATION_COUNT goes before the program's own number of values.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence

import pyperf  # pyright: ignore[reportMissingImports]

# Names the file in which the worker leaves the answer; its standard output is pyperf's.
ANSWER_VARIABLE = "PYPERF_PROGRAM_ANSWER"


def benchmarked(
    name: str, work: Callable[[], str], program: Sequence[str], values: str, options: Sequence[str]
) -> str | None:
    """Repeat `work`, whose answer is to be the same each time.

    `program` is the file and its arguments; `options` are those that pyperf gives its worker. The
    answer of `work`; None in the worker, which is not to print it. Nothing runs that pyperf did not
    ask for: its worker's first run is its warm-up, and its main process runs none.
    """
    values = os.environ.get("STEELYARD_ITERATION_COUNT") or values
    runner = pyperf.Runner(program_args=(*program, values))
    if options:
        runner.parse_args(list(options))
        _work(name, work, runner)
        return None
    output = os.environ.get("STEELYARD_ITERATIONS")
    # One process, since Steelyard repeats that itself; the worker finds pyperf as this one does.
    own = ["--processes=1", f"--values={values}", "--warmups=1", "--loops=1"]
    own += [f"--inherit-environ=PYTHONPATH,{ANSWER_VARIABLE}"]
    runner.parse_args(own + ([f"--output={output}"] if output else []))
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as answer:
        os.environ[ANSWER_VARIABLE] = answer.name
        with contextlib.redirect_stdout(sys.stderr):
            runner.bench_func(name, work)
        return answer.read()


def _work(name: str, work: Callable[[], str], runner: pyperf.Runner) -> None:
    """Be pyperf's worker, and leave the answer for its main process."""
    first: str | None = None

    def checked() -> None:
        nonlocal first
        found = work()
        first = found if first is None else first
        if found != first:
            raise ValueError("an iteration differs from the first one")

    with contextlib.redirect_stdout(sys.stderr):
        runner.bench_func(name, checked)
    if first is not None:
        with open(os.environ[ANSWER_VARIABLE], "w", encoding="utf-8") as answer:
            answer.write(first)
