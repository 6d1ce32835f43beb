"""Clones of functions at random, for programs that are to do what they did."""

from __future__ import annotations

import random
from pathlib import Path

from steelyard.analysis.paths.clones import Clone, Clones, clonable_calls, with_clones
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.resizing import calls_learnt, with_sizes
from steelyard.profile.paths.added_code import GrowingProgram
from steelyard.profile.paths.clonable_functions import ClonableFunctions, read_clonable
from steelyard.profile.paths.cloned_program import ProgramClones
from steelyard.profile.paths.frame_sizes import read_frames, with_larger_frames, write_program
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers


def drawn_clones(path_map: PathMap, able: ClonableFunctions, address: int, seed: int, program: str):
    """Half of the calls that can go to clones do, in clones too."""
    draw = random.Random(seed)
    calls = read_calls(program)
    allowed, refused = clonable_calls(calls, calls_learnt(path_map), able.reasons)
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
    return Clones(tuple(clones), targets), refused, calls


def cloned_at_random(program: str, path_map: PathMap, seed: int, grows: bool = False):
    """Write the program with clones; the map that is predicted, and the clones."""
    frames, able = read_frames(program), read_clonable(program)
    place = GrowingProgram(frames.data).code_place()
    clones, _, calls = drawn_clones(path_map, able, place[0], seed, program)
    written = ProgramClones(frames, clones, able.functions, place)
    draw = random.Random(seed + 1)
    most = written.most_bytes() if grows else {}
    sizes = {at: 16 * draw.randint(0, min(room // 16, 6)) for at, room in sorted(most.items())}
    own = {at: size for at, size in sizes.items() if at not in clones.originals}
    data = with_larger_frames(frames, own)
    added = written.added(program, sizes)
    changed = with_wrappers(bytes(data), written.calls(calls), {}, path_map.functions, None, added)
    write_program(changed, program, f"{program}-cloned")
    assert Path(f"{program}-cloned").stat().st_size > Path(program).stat().st_size
    return with_sizes(with_clones(path_map, clones), sizes, {}), clones
