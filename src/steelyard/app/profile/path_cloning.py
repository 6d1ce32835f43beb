"""Choose functions of a program to clone, beside frames that grow."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steelyard.analysis.paths.clones import clonable_calls, with_clones
from steelyard.analysis.paths.cloning_outcome import CloningOutcome
from steelyard.analysis.paths.cloning_search import CloningRules, chosen_clones
from steelyard.analysis.paths.path_check import judged
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.resizing import ResizingRules, calls_learnt, resized
from steelyard.analysis.paths.wrappable_calls import ProgramCalls
from steelyard.profile.paths.added_code import GrowingProgram
from steelyard.profile.paths.clonable_functions import read_clonable
from steelyard.profile.paths.cloned_program import ProgramClones
from steelyard.profile.paths.frame_sizes import ProgramFrames


@dataclass(frozen=True)
class ClonedProgram:
    """A program with clones, which is not written yet.

    Parameters
    ----------
    outcome : CloningOutcome
    path_map : PathMap
        Without larger frames.
    clones : ProgramClones
    calls : ProgramCalls
    """

    outcome: CloningOutcome
    path_map: PathMap
    clones: ProgramClones
    calls: ProgramCalls


def cloned(
    path: str,
    path_map: PathMap,
    frames: ProgramFrames,
    calls: ProgramCalls,
    rules: ResizingRules,
    most_ratio: float,
) -> ClonedProgram:
    """Choose clones for what larger frames do not tell apart.

    Parameters
    ----------
    path : str
        The program.
    path_map : PathMap
    frames : ProgramFrames
    calls : ProgramCalls
    rules : ResizingRules
        For the sizes that are searched first.
    most_ratio : float
        Code of clones beside that of the program, at most.

    Raises
    ------
    DataError
        The program cannot be given more code.
    """
    place = GrowingProgram(frames.data).code_place()
    clonable = read_clonable(path)
    sized = resized(path_map, replace(rules, wraps_calls=False, marks_calls=False))
    able, refused = clonable_calls(calls, calls_learnt(path_map), clonable.reasons)
    choice = chosen_clones(
        sized.path_map,
        CloningRules(
            calls=able,
            sizes=clonable.sizes(),
            most_bytes=int(most_ratio * clonable.text_bytes),
            address=place[0],
            limit_bytes=int(sized.before_bytes * rules.budget_ratio),
            frame_bytes=sized.frame_bytes,
            most_frame_bytes=rules.frames or {},
            goal=rules.goal,
        ),
    )
    clones = ProgramClones(frames, choice.clones, clonable.functions, place)
    names = path_map.functions
    outcome = CloningOutcome(
        choice=choice,
        text_bytes=clonable.text_bytes,
        sizes={one.address: clonable.sizes()[one.original] for one in choice.clones.clones},
        before=judged(path_map).offline,
        sized=sized.after,
        uncloned={(names[one], names[other]): why for (one, other), why in refused.items()},
    )
    return ClonedProgram(outcome, with_clones(path_map, choice.clones), clones, clones.calls(calls))
