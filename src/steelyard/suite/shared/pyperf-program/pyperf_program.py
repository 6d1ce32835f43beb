"""What the suite's programs under pyperf share: one process, one worker, values that are checked.

A value is an iteration of Steelyard's. pyperf's report goes to standard error, its JSON to the file
that Steelyard names. STEELYARD_ITERATION_COUNT goes before the program's own number of values.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence

import pyperf  # pyright: ignore[reportMissingImports]


def benchmarked(
    name: str, work: Callable[[], str], program: Sequence[str], values: str, options: Sequence[str]
) -> str | None:
    """Repeat `work`, whose answer is to be the same each time.

    `program` is the file and its arguments; `options` are those that pyperf gives its worker. The
    answer of `work`; None in the worker, which is not to print it.
    """
    # In the worker the first one is pyperf's warm-up: it runs nothing that pyperf did not ask for.
    first = None if options else work()

    def checked() -> None:
        nonlocal first
        found = work()
        first = found if first is None else first
        if found != first:
            raise ValueError("an iteration differs from the first one")

    values = os.environ.get("STEELYARD_ITERATION_COUNT") or values
    runner = pyperf.Runner(program_args=(*program, values))
    output = os.environ.get("STEELYARD_ITERATIONS")
    # One process, since Steelyard repeats that itself; the worker finds pyperf as this one does.
    own = ["--processes=1", f"--values={values}", "--warmups=1", "--loops=1"]
    own += ["--inherit-environ=PYTHONPATH", *([f"--output={output}"] if output else [])]
    runner.parse_args(list(options) or own)
    with contextlib.redirect_stdout(sys.stderr):
        runner.bench_func(name, checked)
    return None if options else first
