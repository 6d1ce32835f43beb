"""Record a profile whose samples are looked up in a map of call paths, and read what it says."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from steelyard.app.profile.record_profile import read_answer, record_profile
from steelyard.core.errors import DataError, UsageError
from steelyard.profile.sampler import Recording

if TYPE_CHECKING:
    from steelyard.analysis.paths.path_map import PathMap
    from steelyard.analysis.paths.sampled_paths import SampledPaths

_LACKS = {
    1: "in code that is not the program's",
    2: "where its thread's stack begins is not known",
    3: "no table says where its frame begins",
}


def record_paths(
    recording: Recording, map_path: str, say: Callable[[str], None], java: bool | None = None
) -> dict[str, Any]:
    """Record samples with the registers that keys are made of, and give what the sampler says.

    Parameters
    ----------
    recording : Recording
    map_path : str
        The map that the samples are looked up in when they are read.
    say : callable
        Takes a note for the user.
    java : bool or None
        As `record_profile`.

    Raises
    ------
    DataError
        The map is damaged or empty, or of another build of the program.
    UsageError, MissingCapabilityError, SteelyardError
        As `record_profile`.
    """
    from steelyard.profile.paths.map_file import read_map
    from steelyard.profile.paths.stack_notes import noting_stacks
    from steelyard.profile.sampler import check_target

    check_target(recording)
    path_map = read_map(map_path, "--paths")
    if not path_map.nodes:
        raise DataError(f"The map {map_path} has no paths.", field="--paths")
    _check_target_build(recording, path_map)
    known = {
        "path": os.path.abspath(map_path),
        "program": path_map.program,
        "build": path_map.build,
    }
    with noting_stacks(replace(recording, path_map=known)) as noting:
        return record_profile(noting, say, java)


def _check_target_build(recording: Recording, path_map: PathMap) -> None:
    """Refuse another build of the program that the map is of; what starts it may be anything."""
    from steelyard.analysis.paths.path_map import check_build
    from steelyard.profile.executable import executable_of
    from steelyard.profile.paths.learning_run import build_of

    if recording.process is None:
        program = executable_of(recording.argv)
    else:
        program = f"/proc/{recording.process}/exe"
    refuse_moving(program, recording.environment)
    name = os.path.basename(os.path.realpath(program))
    with suppress(OSError):
        if name == path_map.program:
            check_build(path_map, build_of(program), name)


def refuse_moving(program: str, environment: Mapping[str, str]) -> None:
    """Refuse a program that moves its functions while it runs.

    Raises
    ------
    UsageError
        It does, and its environment does not keep it from that.
    """
    from steelyard.layout.audit import is_moving_build

    layout = environment.get("STEELYARD_LAYOUT", os.environ.get("STEELYARD_LAYOUT"))
    with suppress(DataError):
        if layout != "none" and is_moving_build(program):
            raise UsageError(
                f"{program} moves its functions while it runs, so its keys mean no paths.\n"
                "Give it a layout that stays: STEELYARD_LAYOUT=none.",
                field="command",
            )


def is_path_profile(path: str) -> bool:
    """Whether a profile was recorded with a map of call paths.

    Raises
    ------
    DataError
        It cannot be read, or is no profile.
    """
    from steelyard.profile.file.profile_file import read_header

    return read_header(path).get("path_map") is not None


def read_paths(
    path: str,
    confidence: float = 0.95,
    map_path: str | None = None,
    apart: Collection[str] = (),
) -> SampledPaths:
    """Read a profile, and look the key of each sample up.

    Parameters
    ----------
    path : str
    confidence : float
        Of the intervals of shares.
    map_path : str or None
        None: the map that it was recorded with.
    apart : collection of str
        As `read_answer`.

    Raises
    ------
    UsageError
        It was recorded without the stacks of threads.
    DataError
        A file is damaged, or the map is of another build.
    """
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.analysis.paths.sampled_paths import path_truth, sampled_paths
    from steelyard.profile.file.profile_file import read_profile
    from steelyard.profile.paths.crash_key import whole_functions
    from steelyard.profile.paths.map_file import read_map
    from steelyard.profile.paths.sample_chains import sample_chains, whole_chain
    from steelyard.profile.paths.sample_keys import KEYED, NO_FUNCTION, sample_keys

    raw = read_profile(path)
    recorded = raw.header.get("path_map")
    if recorded is None:
        raise UsageError(
            f"{path} was recorded without --paths: where stacks begin is not in it.",
            field="profile",
        )
    map_path = map_path or str(recorded["path"])
    path_map = read_map(map_path)
    answer = read_answer(path, confidence, apart)
    raw.samples = raw.samples[raw.samples["process"] != 0]
    keys = sample_keys(raw, path_map.program, path_map.build)
    chains = sample_chains(raw, keys)
    seen = {*path_map.functions, *keys.functions.tolist(), *chain.from_iterable(chains)}
    whole = whole_functions(keys.program, seen - {NO_FUNCTION})
    columns = zip(keys.functions.tolist(), keys.heights.tolist(), keys.lacks.tolist(), strict=True)
    found = [
        (whole[function], height) if lack == KEYED else _LACKS[lack]
        for function, height, lack in columns
    ]
    keyed = KeyedPaths(path_map, whole)
    paths = sampled_paths(answer, map_path, keyed, found, confidence)
    truth = path_truth(keyed, found, [whole_chain(each, whole) for each in chains])
    return replace(paths, truth=truth)


def exported_paths(paths: SampledPaths, format_name: str) -> bytes:
    """A profile with the stacks of paths, for another tool's viewer; frames below them say which
    samples may have come by several, and which have none.

    Raises
    ------
    UnknownNameError
        There is no such format.
    """
    from steelyard.analysis.paths.sampled_paths import marked
    from steelyard.analysis.profiles.profile_samples import function_shares
    from steelyard.app.profile.record_profile import exported_profile

    samples = marked(paths)
    answer = replace(paths.answer, samples=samples, functions=function_shares(samples))
    return exported_profile(answer, format_name)
