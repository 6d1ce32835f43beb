"""Clones of functions at random, for programs that are to do what they did."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

from steelyard.analysis.paths.clones import Clone, Clones, clonable_calls, with_clones
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.resizing import calls_learnt, with_sizes
from steelyard.analysis.paths.wrappable_calls import ProgramCalls, wrappable_calls
from steelyard.profile.paths.added_code import GrowingProgram
from steelyard.profile.paths.clonable_functions import ClonableFunctions, read_clonable
from steelyard.profile.paths.cloned_program import ProgramClones
from steelyard.profile.paths.frame_sizes import read_frames, with_larger_frames, write_program
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers

_BY_ADDRESS = re.compile(r"f\d+|in_thread|compare|handler|in_coroutine")


def logged_calls(program: str, path_map: PathMap) -> ProgramCalls:
    """The calls of a generated program. Code gives the logger the address of each function, which
    calls none; by their addresses only those of the table and of libraries are called."""
    calls = read_calls(program)
    names = {at: name.partition("(")[0] for at, name in path_map.functions.items()}
    functions = {
        at: replace(one, is_named=one.is_named and bool(_BY_ADDRESS.fullmatch(names.get(at, "f0"))))
        for at, one in calls.functions.items()
    }
    return replace(calls, functions=functions)


def drawn_clones(
    path_map: PathMap, able: ClonableFunctions, address: int, seed: int, calls: ProgramCalls
) -> Clones:
    """Half of the calls that can go to clones do, in clones too."""
    draw = random.Random(seed)
    allowed, _ = clonable_calls(calls, calls_learnt(path_map), able.reasons)
    clones: list[Clone] = []
    targets: dict[tuple[int, int], int] = {}
    callers = {caller: caller for caller, _ in allowed}
    for _ in range(2):
        for caller, original in list(callers.items()):
            for callee in sorted(to for one, to in allowed if one == original):
                if (caller, callee) in targets or draw.random() < 0.5:
                    continue
                clones.append(Clone(address, callee))
                targets[caller, callee] = address
                callers[address] = callee
                address += able.functions[callee].byte_count
    return Clones(tuple(clones), targets)


def cloned_at_random(
    program: str,
    path_map: PathMap,
    seed: int,
    grows: bool = False,
    wraps: bool = False,
    calls: ProgramCalls | None = None,
) -> tuple[PathMap, Clones]:
    """Write the program with clones; the map that is predicted, and the clones."""
    frames, able = read_frames(program), read_clonable(program)
    place = GrowingProgram(frames.data).code_place()
    calls = read_calls(program) if calls is None else calls
    clones = drawn_clones(path_map, able, place[0], seed, calls)
    written = ProgramClones(frames, clones, able.functions, place)
    draw = random.Random(seed + 1)
    most = written.most_bytes() if grows else {}
    sizes = {at: 16 * draw.randint(0, min(room // 16, 6)) for at, room in sorted(most.items())}
    own = {at: size for at, size in sizes.items() if at not in clones.originals}
    data = with_larger_frames(frames, own)
    added = written.added(program, sizes)
    cloned, calls = with_clones(path_map, clones), written.calls(calls)
    found = sorted(wrappable_calls(calls, calls_learnt(cloned))[0]) if wraps else []
    around = {call: 16 * draw.randint(1, 4) for call in found}
    changed = with_wrappers(bytes(data), calls, around, cloned.functions, None, added)
    write_program(changed, program, f"{program}-cloned")
    assert Path(f"{program}-cloned").stat().st_size > Path(program).stat().st_size
    assert not wraps or any(caller in clones.originals for caller, _ in around)
    return with_sizes(cloned, sizes, around), clones
