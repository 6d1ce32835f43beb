"""What the recorder within a program leaves: its plan and the trees of its threads.

The layouts are those of native/paths/src/plan.hpp and path_tree.hpp.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.analysis.paths.path_map import PathNode
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError

_PLAN_HEAD = np.dtype([("magic", "<u8"), ("file", "<u8", 4), ("functions", "<u8")])
_PLAN_HEAD_BYTES = 64
_PLANNED = np.dtype(
    {
        "names": ["start", "owner", "unwatched"],
        "formats": ["<u8", "<u4", "<u4"],
        "offsets": [0, 24, 28],
        "itemsize": 144,
    }
)
_TREE_HEAD = np.dtype(
    [("magic", "<u8"), ("process", "<u4"), ("thread", "<u4")]
    + [(name, "<u8") for name in ("nodes", "lost", "guessed", "start", "changes")]
)
_NODE = np.dtype(
    [("parent", "<u4"), ("function", "<u4"), ("height", "<u8"), ("calls", "<u8"), ("site", "<u8")]
)
_PLAN_MAGIC, _TREE_MAGIC = 0x31686E6C70797473, 0x3365657274797473
_PART, _START = 1, 5
_REASONS = {2: "too short", 3: "jumps into its first bytes", 4: "its first bytes cannot be moved"}


@dataclass(frozen=True)
class PlannedFunctions:
    """The functions of a plan, by number.

    Parameters
    ----------
    starts : array of uint64
        Addresses in the program's file.
    unwatched : dict of int to str
        Addresses of functions whose entries cannot be watched, and why.
    """

    starts: npt.NDArray[np.uint64]
    unwatched: dict[int, str]


@dataclass(frozen=True)
class PathTree:
    """The tree of one thread.

    Parameters
    ----------
    nodes : tuple of PathNode
    lost_count, guessed_count : int
        Entries that were not noted, and entries of which some callers were not found.
    stack_start : int or None
        Where the stack begins. None: at several places, for which alignments are not the same.
    """

    nodes: tuple[PathNode, ...]
    lost_count: int
    guessed_count: int
    stack_start: int | None = 0


def read_plan(path: str) -> PlannedFunctions:
    """The functions of a plan.

    Raises
    ------
    DataError
        It is none.
    """
    data = _bytes_of(path)
    head = np.frombuffer(data, _PLAN_HEAD, 1)[0] if len(data) >= _PLAN_HEAD.itemsize else None
    if head is None or int(head["magic"]) != _PLAN_MAGIC:
        raise DataError(f"{path} is no plan of a recorder of paths.", field="plan")
    count = int(head["functions"])
    if len(data) < _PLAN_HEAD_BYTES + count * _PLANNED.itemsize:
        raise DataError(f"The plan {path} is cut short.", field="plan")
    planned = np.frombuffer(data, _PLANNED, count, _PLAN_HEAD_BYTES)
    unwatched = {
        int(entry["start"]): _REASONS[int(entry["unwatched"])]
        for entry in planned
        if int(entry["unwatched"]) in _REASONS
    }
    return PlannedFunctions(planned["start"].astype(np.uint64), unwatched)


def read_trees(folder: str, functions: PlannedFunctions) -> list[PathTree]:
    """The trees of all threads that entered a function of the program.

    Raises
    ------
    DataError
        One is damaged.
    """
    names = sorted(name for name in os.listdir(folder) if "-" in name)
    return [_read_tree(os.path.join(folder, name), functions) for name in names]


def _read_tree(path: str, functions: PlannedFunctions) -> PathTree:
    data = _bytes_of(path)
    # Of a thread that ended as it made its file.
    if not any(data[: _TREE_HEAD.itemsize]):
        return PathTree((), 0, 0)
    head = np.frombuffer(data, _TREE_HEAD, 1)[0] if len(data) >= _TREE_HEAD.itemsize else None
    count = 0 if head is None else int(head["nodes"])
    whole = len(data) >= _TREE_HEAD.itemsize + count * _NODE.itemsize
    if head is None or int(head["magic"]) != _TREE_MAGIC or not whole or count < 1:
        raise DataError(f"The tree of paths {path} is damaged.", field="tree")
    rows = np.frombuffer(data, _NODE, count, _TREE_HEAD.itemsize)[1:]
    orders = np.arange(1, count)
    if (rows["parent"] >= orders).any() or (rows["function"] >= len(functions.starts)).any():
        raise DataError(f"The tree of paths {path} is damaged.", field="tree")
    # The root, number 0, is nobody's function.
    parents = rows["parent"].astype(np.int64) - 1
    starts = functions.starts[rows["function"]]
    columns = (parents, starts, rows["height"].astype(np.int64), rows["calls"], rows["site"])
    lists = (column.tolist() for column in columns)
    nodes = tuple(map(PathNode._make, zip(*lists, strict=True)))
    start = None if int(head["changes"]) else int(head["start"])
    return PathTree(nodes, int(head["lost"]), int(head["guessed"]), start)


def _bytes_of(path: str) -> bytes:
    with open(path, "rb", opener=regular_opener) as file:
        return file.read()
