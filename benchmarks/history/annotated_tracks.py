"""Tracks with the change points that people marked in them."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "change-points"


@dataclass(frozen=True)
class Annotated:
    """One track.

    Parameters
    ----------
    name : str
    values : array
    annotators : tuple of tuple of int
        For each annotator the indexes, from 0, at which a new level begins.
    """

    name: str
    values: NDArray[np.float64]
    annotators: tuple[tuple[int, ...], ...]


def annotated_tracks(data: Path = DATA) -> list[Annotated]:
    """The tracks of 'large 2022' in `data`, by name."""
    marked = json.loads((data / "annotations.json").read_text("utf-8"))
    values: dict[str, list[tuple[int, float]]] = {}
    with gzip.open(data / "series.csv.gz", "rt", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            values.setdefault(row["series"], []).append((int(row["index"]), float(row["mean"])))
    return [
        Annotated(
            name,
            np.array([value for _, value in sorted(values[name])]),
            tuple(tuple(sorted(marks)) for marks in marked[name]["annotators"].values()),
        )
        for name in sorted(marked)
    ]
