"""Make frames of a program larger, so that heights tell its call paths apart."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from steelyard.analysis.paths.path_map import check_build
from steelyard.analysis.paths.resizing import Resizing, ResizingRules, resized
from steelyard.app.profile.path_maps import check_program
from steelyard.core.errors import DataError
from steelyard.profile.paths.frame_sizes import ProgramFrames, read_frames, write_resized
from steelyard.profile.paths.learning_run import build_of
from steelyard.profile.paths.map_file import read_map, write_map


@dataclass(frozen=True)
class ResizingRequest:
    """What is asked for.

    Parameters
    ----------
    map_path : str
    seed : int
    wraps_calls, marks_calls : bool
    budget_ratio, goal : float
        As `analysis.paths.resizing.ResizingRules` has them.
    program, output : str, optional
        A program, of whose frames some can grow, and where it is written with larger ones; its map
        is written beside it.
    """

    map_path: str
    seed: int
    wraps_calls: bool
    marks_calls: bool
    budget_ratio: float
    goal: float
    program: str | None = None
    output: str | None = None


def resize_paths(request: ResizingRequest) -> Resizing:
    """Search sizes of frames that tell the paths of a map apart, and make a program have them.

    Raises
    ------
    DataError
        The map is damaged or empty, or of another build.
    UsageError
        The program cannot be read.
    """
    path_map = read_map(request.map_path)
    if not path_map.nodes:
        raise DataError(f"The map {request.map_path} has no paths.", field="map")
    program, frames = request.program, None
    if program is not None:
        check_program(program)
        check_build(path_map, build_of(program), os.path.basename(program))
        frames = read_frames(program)
    rules = ResizingRules(
        request.seed,
        frames=None if frames is None else frames.most_bytes(),
        wraps_calls=request.wraps_calls,
        budget_ratio=request.budget_ratio,
        goal=request.goal,
        marks_calls=request.marks_calls,
    )
    found = resized(path_map, rules)
    if frames is None:
        return found
    found = replace(found, rigid=_rigid(found, frames))
    if program is not None and request.output is not None:
        write_resized(frames, found.frame_bytes, program, request.output)
        resized_map = replace(
            found.path_map,
            program=os.path.basename(request.output),
            build=build_of(request.output),
        )
        write_map(resized_map, map_of_output(request.output))
    return found


def map_of_output(output: str) -> str:
    """Where the map of a program with larger frames is written."""
    return f"{output}.paths"


def _rigid(found: Resizing, frames: ProgramFrames) -> dict[str, str]:
    return {
        name: frames.reasons[function]
        for function, name in found.path_map.functions.items()
        if function in frames.reasons
    }
