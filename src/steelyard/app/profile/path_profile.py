"""Record a profile whose samples are looked up in a map of call paths, and read what it says."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from steelyard.app.profile.record_profile import read_answer, record_profile
from steelyard.core.errors import DataError, UsageError
from steelyard.profile.sampler import Recording

if TYPE_CHECKING:
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.analysis.paths.path_map import PathMap
    from steelyard.analysis.paths.sampled_paths import Key, SampledPaths, UnlearntKey
    from steelyard.analysis.paths.self_learning import SelfLearning
    from steelyard.profile.file.profile_file import RawProfile

# In the place of a map: the recording makes its own.
AUTO = "auto"


@dataclass(frozen=True)
class _Keyed:
    """Samples with their keys and the functions on their stacks, of which parts are whole."""

    program: str
    whole: Mapping[int, int]
    keys: list[Key | str]
    chains: list[tuple[int, ...]]


def record_paths(
    recording: Recording,
    map_path: str,
    say: Callable[[str], None],
    java: bool | None = None,
    library_frames: bool = False,
    program: str | None = None,
) -> dict[str, Any]:
    """Record samples with the registers that keys are made of, and give what the sampler says.

    Parameters
    ----------
    recording : Recording
    map_path : str
        The map that the samples are looked up in when they are read; `AUTO`: one of the stacks that
        are walked beside.
    say : callable
        Takes a note for the user.
    java : bool or None
        As `record_profile`.
    library_frames : bool
        Copy stacks, and walk the frames of libraries up to the program's last one.
    program : str or None
        The file that the command runs in the end; None: the one that it names.

    Raises
    ------
    DataError
        The map is damaged or empty, or of another build of the program.
    UsageError, MissingCapabilityError, SteelyardError
        As `record_profile`.
    """
    from steelyard.profile.paths.sample_keys import LIBRARIES
    from steelyard.profile.paths.stack_notes import noting_stacks
    from steelyard.profile.sampler import check_target

    check_target(recording)
    program = program or _program_of(recording)
    refuse_moving(program, recording.environment)
    known = _known_map(map_path, program)
    if library_frames:
        _check_is_program(program, known["program"])
        known["walked"] = LIBRARIES
        recording = replace(recording, stacks="dwarf", program=os.path.realpath(program))
    recording = replace(recording, path_map=known)
    with (
        _sampling(recording) as sampling,
        noting_stacks(sampling) as noting,
        _walking(noting, map_path == AUTO, say) as begun,
    ):
        return record_profile(noting, say, java, begun)


@contextmanager
def _sampling(recording: Recording) -> Iterator[Recording]:
    from steelyard.profile.paths.mark_samples import sampling_marks

    if "marks" not in recording.path_map:
        yield recording
        return
    with sampling_marks(recording) as found:
        yield found


@contextmanager
def _walking(
    recording: Recording, is_wanted: bool, say: Callable[[str], None]
) -> Iterator[Callable[[int], None]]:
    from steelyard.profile.paths.walked_beside import walked_beside

    if not is_wanted:
        yield lambda _: None
        return
    with walked_beside(recording, say) as begun:
        if recording.process is not None:
            begun(recording.process)
        yield begun


def _program_of(recording: Recording) -> str:
    from steelyard.profile.executable import executable_of

    if recording.process is None:
        return executable_of(recording.argv)
    return f"/proc/{recording.process}/exe"


def _check_is_program(path: str, name: str) -> None:
    """Refuse a command that names another program than that of the map: its file ends walks."""
    if os.path.basename(os.path.realpath(path)) != name:
        raise UsageError(
            f"--library-frames needs a command that names {name} itself, and not what starts it.",
            field="--library-frames",
        )


def _known_map(map_path: str, program: str) -> dict[str, str]:
    """What a profile says of its map.

    Another build of the program that the map is of is refused; what starts it may be anything.
    """
    from steelyard.profile.paths.learning_run import build_of
    from steelyard.profile.paths.mark_samples import CARRIED
    from steelyard.profile.paths.matching_map import matching_map

    name = os.path.basename(os.path.realpath(program))
    if map_path == AUTO:
        return {"path": AUTO, "program": name, "build": build_of(program)}
    path_map = matching_map(map_path, program)
    path = os.path.abspath(map_path)
    marks = {"marks": CARRIED} if path_map.marks else {}
    return {"path": path, "program": path_map.program, "build": path_map.build, **marks}


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
    by_code: bool = False,
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
    by_code : bool
        Search the program's code for the paths of keys that were never learnt.

    Raises
    ------
    UsageError
        It was recorded without the stacks of threads.
    DataError
        A file is damaged, or the map is of another build.
    """
    from steelyard.analysis.paths.sampled_paths import path_truth, sampled_paths, unlearnt_counts

    raw, map_path = _recorded(path, map_path)
    learning = _self_learnt(path, raw) if map_path == AUTO else None
    answer = read_answer(path, confidence, apart)
    keyed, found = _looked_up(raw, map_path, learning)
    paths = sampled_paths(answer, map_path, keyed, found.keys, confidence)
    paths = replace(paths, truth=path_truth(keyed, found.keys, found.chains), learning=learning)
    if not by_code:
        return paths
    from steelyard.app.profile.static_paths import unlearnt_paths

    counts = unlearnt_counts(keyed, found.keys)
    return replace(paths, allowed=unlearnt_paths(found.program, keyed.path_map, counts.items()))


def unlearnt_keys(path: str) -> tuple[UnlearntKey, ...]:
    """The keys of a profile that its map does not have, those with most samples first.

    Raises
    ------
    UsageError, DataError
        As `read_paths`.
    """
    from steelyard.analysis.paths.sampled_paths import unlearnt
    from steelyard.profile.executable import FunctionNames

    raw, map_path = _recorded(path, None)
    keyed, found = _looked_up(raw, map_path, None)
    return unlearnt(keyed, found.keys, FunctionNames(found.program).at)


def profile_keys(
    path: str, path_map: PathMap, functions: Collection[int]
) -> tuple[list[Key | str], dict[int, int]]:
    """The keys of the samples of a profile, and which functions are parts of which.

    Parameters
    ----------
    path : str
        A profile that was recorded with a map.
    path_map : PathMap
        Whose marks samples may have.
    functions : collection of int
        What else may be a part.

    Raises
    ------
    UsageError, DataError
        As `read_paths`.
    """
    from steelyard.analysis.paths.lookup import KeyedPaths

    raw, _ = _recorded(path, None)
    recorded = raw.header["path_map"]
    seen = {*functions, *path_map.functions}
    found = _keyed(raw, str(recorded["program"]), str(recorded["build"]), seen)
    return _with_marks(found.keys, raw, KeyedPaths(path_map, found.whole)), dict(found.whole)


def _recorded(path: str, map_path: str | None) -> tuple[RawProfile, str]:
    """A profile with the samples of processes alone, and the map that it is read by."""
    from steelyard.profile.file.profile_file import read_profile

    raw = read_profile(path)
    recorded = raw.header.get("path_map")
    if recorded is None:
        raise UsageError(
            f"{path} was recorded without --paths: where stacks begin is not in it.",
            field="profile",
        )
    is_program = raw.samples["process"] != 0
    if len(raw.frame_words):
        raw.frame_words = raw.frame_words[is_program]
    raw.samples = raw.samples[is_program]
    return raw, map_path or str(recorded["path"])


def _looked_up(
    raw: RawProfile, map_path: str, learning: SelfLearning | None
) -> tuple[KeyedPaths, _Keyed]:
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.profile.paths.map_file import read_map

    path_map = read_map(map_path) if learning is None else learning.path_map
    found = _keyed(raw, path_map.program, path_map.build, path_map.functions)
    keyed = KeyedPaths(path_map, found.whole)
    return keyed, replace(found, keys=_with_marks(found.keys, raw, keyed))


def _with_marks(keys: list[Key | str], raw: RawProfile, keyed: KeyedPaths) -> list[Key | str]:
    """Keys with the marks of samples, which the map says for what their threads carried."""
    from steelyard.analysis.paths.path_marks import ANY_MARK
    from steelyard.profile.paths.mark_samples import UNKNOWN, carried_values
    from steelyard.profile.paths.sample_keys import stack_bases

    if not keyed.path_map.marks:
        return keys
    values = carried_values(raw)
    carried = [UNKNOWN] * len(keys) if values is None else values.tolist()
    found: list[Key | str] = []
    for key, value, start in zip(keys, carried, stack_bases(raw).tolist(), strict=True):
        if isinstance(key, str):
            found.append(key)
        elif value == UNKNOWN:
            found.append((*key[:2], ANY_MARK))
        else:
            found.append((*key[:2], keyed.mark(*key[:2], value, start)))
    return found


def _self_learnt(path: str, raw: RawProfile) -> SelfLearning:
    """The map that a recording made of itself."""
    from steelyard.analysis.paths.path_map import PathMap
    from steelyard.analysis.paths.self_learning import self_learnt
    from steelyard.profile.executable import FunctionNames
    from steelyard.profile.paths.walked_beside import stacks_path

    beside, _ = _recorded(stacks_path(path), None)
    recorded = raw.header["path_map"]
    program, build = str(recorded["program"]), str(recorded["build"])
    found = _keyed(beside, program, build, ())
    names = FunctionNames(found.program)
    functions = {each for functions in found.chains for each in functions}
    named = {function: names.at(function) for function in functions}
    return self_learnt(PathMap(program, build, 1, named, {}, ()), found.keys, found.chains)


def _keyed(raw: RawProfile, program: str, build: str, functions: Collection[int]) -> _Keyed:
    """The keys of samples; whole are their functions and those that are given."""
    from steelyard.analysis.paths.path_marks import NO_MARK
    from steelyard.profile.paths.crash_key import whole_functions
    from steelyard.profile.paths.sample_chains import sample_chains, whole_chain
    from steelyard.profile.paths.sample_keys import KEYED, LACKS, NO_FUNCTION, sample_keys

    found = sample_keys(raw, program, build)
    chains = sample_chains(raw, found)
    seen = {*functions, *found.functions.tolist(), *chain.from_iterable(chains)}
    whole = whole_functions(found.program, seen - {NO_FUNCTION})
    columns = zip(
        found.functions.tolist(), found.heights.tolist(), found.lacks.tolist(), strict=True
    )
    keys: list[Key | str] = [
        (whole[function], height, NO_MARK) if lack == KEYED else LACKS[lack]
        for function, height, lack in columns
    ]
    return _Keyed(found.program, whole, keys, [whole_chain(each, whole) for each in chains])


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
