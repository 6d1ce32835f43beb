"""Writes the iterations of a program for ``steelyard measure --iterations json-lines``.

Needs the standard library only: copy it beside your program. Where ``STEELYARD_ITERATIONS`` is
not set, as when the program is run by itself, nothing is written.

    from steelyard_iterations import iteration, iteration_count

    for _ in range(iteration_count(100)):
        with iteration():
            work()
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "STEELYARD_ITERATIONS"
COUNT_VARIABLE = "STEELYARD_ITERATION_COUNT"


def iteration_count(otherwise: int) -> int:
    """How many iterations are wanted, with those of the warm-up; `otherwise` where nobody says."""
    return int(os.environ.get(COUNT_VARIABLE) or otherwise)


def write_value(
    value: float, metric: str = "iteration_time", unit: str = "s", **about: object
) -> None:
    """Write one value of a metric.

    Parameters
    ----------
    value : float
        In `unit`.
    metric, unit : str
        What it is; by default the time of an iteration, in seconds.
    **about
        ``warmup`` (True for iterations that belong to the warm-up, which come first),
        ``benchmark`` (its name, where a program has several) and ``direction`` (``"higher"``
        where more is better).
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return
    line = json.dumps({"metric": metric, "unit": unit, "value": float(value), **about})
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")


@contextmanager
def iteration(**about: object) -> Iterator[None]:
    """Time what is inside as one iteration; `about` as for `write_value`.

    One that raises is not written.
    """
    start_s = time.perf_counter()
    yield
    write_value(time.perf_counter() - start_s, **about)  # type: ignore[arg-type]
