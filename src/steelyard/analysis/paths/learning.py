"""What a run added to a map of call paths."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.analysis.paths.path_map import PathMap


@dataclass(frozen=True)
class Learning:
    """What a run added to a map.

    Parameters
    ----------
    map_path : str
    path_map : PathMap
        With the run.
    path_count, new_path_count : int
        Of the map, and those that it did not have before.
    function_count, thread_count, exit_status : int
        Functions of the program's file, threads of the run, and how the command ended.
    """

    map_path: str
    path_map: PathMap
    path_count: int
    new_path_count: int
    function_count: int
    thread_count: int
    exit_status: int
