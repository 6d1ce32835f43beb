"""Executions whose classification was published, from files of either form."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_SEED = 1


@dataclass(frozen=True)
class Labelled:
    """A benchmark: its name, its published class, and for each execution the iterations and where
    its steady state was published to start (None: never)."""

    name: str
    published: str
    executions: tuple[Floats, ...]
    starts: tuple[int | None, ...]


def is_collection(folder: Path) -> bool:
    """Whether there is anything to read."""
    return (folder / "classification.json").is_file() or (
        folder / "data" / "classification"
    ).is_dir()


def labelled(
    folder: Path,
    wanted: Collection[str] = (),
    without: Collection[str] = (),
    half: int | None = None,
) -> Iterator[Labelled]:
    """The benchmarks of a folder: those `wanted`, or all, less those `without`.

    Parameters
    ----------
    folder : Path
        With `classification.json` and `series/*.csv.gz`, or a clone of the replication package of
        Traini et al. (github.com/SEALABQualityGroup/steady-state), with `data/timeseries/all` and
        `data/classification`.
    half : int or None
        1 or 2: only this half, of the names in an order drawn at random.
    """
    read = _tables if (folder / "classification.json").is_file() else _package
    names = sorted(benchmark_names(folder) - set(without))
    if half is not None:
        random.Random(_SEED).shuffle(names)
        middle = len(names) // 2
        names = names[:middle] if half == 1 else names[middle:]
    yield from read(folder, set(names), wanted)


def benchmark_names(folder: Path) -> set[str]:
    """The full names of the benchmarks of a folder."""
    if (folder / "classification.json").is_file():
        known = json.loads((folder / "classification.json").read_text("utf-8"))
        return {str(one["benchmark"]) for one in known}
    return {path.stem for path in (folder / "data" / "classification").glob("*.json")}


def _tables(folder: Path, names: set[str], wanted: Collection[str]) -> Iterator[Labelled]:
    for one in json.loads((folder / "classification.json").read_text("utf-8")):
        if one["benchmark"] not in names or (wanted and one["id"] not in wanted):
            continue
        columns = _columns(folder / "series" / f"{one['id']}.csv.gz")
        starts = tuple(_start(start) for start in one["steady_state_starts"])
        yield Labelled(one["id"], one["classification"], columns, starts)


def _package(folder: Path, names: set[str], wanted: Collection[str]) -> Iterator[Labelled]:
    for name in sorted(names):
        if wanted and name not in wanted:
            continue
        known = json.loads((folder / "data" / "classification" / f"{name}.json").read_text("utf-8"))
        series = json.loads((folder / "data" / "timeseries" / "all" / f"{name}.json").read_text())
        executions = tuple(np.array(one, dtype=np.float64) for one in series)
        starts = tuple(_start(start) for start in known["steady_state_starts"])
        yield Labelled(name, known["run"], executions, starts)


def _start(published: int) -> int | None:
    return None if published < 0 else published


def _columns(path: Path) -> tuple[Floats, ...]:
    with gzip.open(path, "rt", encoding="ascii") as file:
        rows = [line.strip().split(",") for line in file]
    try:
        float(rows[0][0])
    except ValueError:
        rows = rows[1:]
    return tuple(np.ascontiguousarray(one) for one in np.array(rows, dtype=np.float64).T)
