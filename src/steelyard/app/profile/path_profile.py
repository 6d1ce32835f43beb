"""Read a profile whose samples are looked up in a map of call paths."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from steelyard.app.profile.record_profile import read_answer
from steelyard.core.errors import UsageError
from steelyard.profile.paths.walked_beside import AUTO, stacks_path

if TYPE_CHECKING:
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.analysis.paths.path_map import PathMap
    from steelyard.analysis.paths.sampled_paths import Key, SampledPaths
    from steelyard.analysis.paths.self_learning import SelfLearning, WalkLooks
    from steelyard.analysis.paths.telling_walks import ToldPaths
    from steelyard.profile.file.profile_file import RawProfile


@dataclass(frozen=True)
class _Keyed:
    """Samples with their keys and the functions on their stacks, of which parts are whole."""

    program: str
    whole: Mapping[int, int]
    keys: list[Key | str]
    chains: list[tuple[int, ...]]
    in_stubs: list[bool]


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
    if _has_telling_walks(raw):
        told = _told(raw, keyed, found)
        paths = sampled_paths(answer, map_path, keyed, told.keys, confidence, told.candidates)
        paths = replace(paths, walks=told.walks)
    else:
        paths = sampled_paths(answer, map_path, keyed, found.keys, confidence)
        paths = replace(paths, truth=path_truth(keyed, found.keys, found.chains), learning=learning)
    if not by_code:
        return paths
    from steelyard.app.profile.static_paths import unlearnt_paths

    counts = unlearnt_counts(keyed, found.keys)
    return replace(paths, allowed=unlearnt_paths(found.program, keyed.path_map, counts.items()))


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
    return _with_marks(found, raw, KeyedPaths(path_map, found.whole)), dict(found.whole)


def live_keys(
    raw: RawProfile, path_map: PathMap, keyed: KeyedPaths | None
) -> tuple[str, KeyedPaths, list[Key | str]]:
    """The file of the program, its map by its keys, and the keys of samples of processes.

    Parameters
    ----------
    raw : RawProfile
    path_map : PathMap
    keyed : KeyedPaths or None
        What an earlier call gave; None: this is the first.

    Raises
    ------
    DataError
        The program that the map is of did not run.
    """
    from steelyard.analysis.paths.lookup import KeyedPaths

    found = _keyed(raw, path_map.program, path_map.build, path_map.functions)
    keyed = keyed or KeyedPaths(path_map, found.whole)
    return found.program, keyed, _with_marks(found, raw, keyed)


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
    keep_processes(raw)
    return raw, map_path or str(recorded["path"])


def keep_processes(raw: RawProfile) -> None:
    """Leave out looks that found another program."""
    is_program = raw.samples["process"] != 0
    if len(raw.frame_words):
        raw.frame_words = raw.frame_words[is_program]
    raw.samples = raw.samples[is_program]


def _has_telling_walks(raw: RawProfile) -> bool:
    from steelyard.profile.paths.sample_keys import AMBIGUOUS

    return raw.header["path_map"].get("walked") == AMBIGUOUS


def _told(raw: RawProfile, keyed: KeyedPaths, found: _Keyed) -> ToldPaths:
    """The paths of samples, by the stacks that were walked at ambiguous keys."""
    from steelyard.analysis.paths.telling_walks import told_paths

    lengths = raw.samples["chain_length"].tolist()
    told = told_paths(keyed, found.keys, found.chains, lengths)
    summary = raw.summary or {}
    walks = replace(
        told.walks,
        copied_bytes=summary.get("copied_bytes"),
        are_parted=bool(summary.get("parted")),
    )
    return replace(told, walks=walks)


def _looked_up(
    raw: RawProfile, map_path: str, learning: SelfLearning | None
) -> tuple[KeyedPaths, _Keyed]:
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.profile.paths.map_file import read_map

    path_map = read_map(map_path) if learning is None else learning.path_map
    found = _keyed(raw, path_map.program, path_map.build, path_map.functions)
    keyed = KeyedPaths(path_map, found.whole)
    return keyed, replace(found, keys=_with_marks(found, raw, keyed))


def _with_marks(keyless: _Keyed, raw: RawProfile, keyed: KeyedPaths) -> list[Key | str]:
    """Keys with the marks of samples, which the map says for what their threads carried.

    Within the code that marks a call, a thread carries its caller's value or already the next.
    """
    from steelyard.analysis.paths.path_marks import ANY_MARK
    from steelyard.profile.paths.mark_samples import UNKNOWN, carried_values
    from steelyard.profile.paths.sample_keys import stack_bases

    keys = keyless.keys
    if not keyed.path_map.marks:
        return keys
    values = carried_values(raw)
    carried = [UNKNOWN] * len(keys) if values is None else values.tolist()
    found: list[Key | str] = []
    columns = zip(keys, carried, stack_bases(raw).tolist(), keyless.in_stubs, strict=True)
    for key, value, start, is_in_stub in columns:
        if isinstance(key, str):
            found.append(key)
        elif value == UNKNOWN or is_in_stub:
            found.append((*key[:2], ANY_MARK))
        else:
            found.append((*key[:2], keyed.mark(*key[:2], value, start)))
    return found


def _self_learnt(path: str, raw: RawProfile) -> SelfLearning:
    """The map that a recording made of itself."""
    from steelyard.analysis.paths.path_map import PathMap
    from steelyard.analysis.paths.self_learning import self_learnt
    from steelyard.profile.executable import FunctionNames

    beside, _ = _recorded(stacks_path(path), None)
    recorded = raw.header["path_map"]
    program, build = str(recorded["program"]), str(recorded["build"])
    found = _keyed(beside, program, build, ())
    names = FunctionNames(found.program)
    functions = {each for functions in found.chains for each in functions}
    named = {function: names.at(function) for function in functions}
    learnt = self_learnt(PathMap(program, build, 1, named, {}, ()), found.keys, found.chains)
    return replace(learnt, looks=_looks_of(beside.summary or {}))


def _looks_of(summary: Mapping[str, Any]) -> WalkLooks | None:
    """What the sampler that walked stacks says of its looks."""
    from steelyard.analysis.paths.self_learning import WalkLooks

    if "copied_bytes" not in summary:
        return None
    counts = (int(summary.get(name, 0)) for name in ("spared", "checked", "elsewhere"))
    return WalkLooks(int(summary["copied_bytes"]), summary.get("filtered"), *counts)


def _keyed(raw: RawProfile, program: str, build: str, functions: Collection[int]) -> _Keyed:
    """The keys of samples; whole are their functions and those that are given."""
    from steelyard.analysis.paths.path_marks import NO_MARK
    from steelyard.profile.paths.crash_key import whole_functions
    from steelyard.profile.paths.sample_chains import sample_chains, whole_chain
    from steelyard.profile.paths.sample_keys import KEYED, LACKS, NO_FUNCTION, sample_keys

    found = sample_keys(raw, program, build)
    chains = sample_chains(raw, found, to_start=not _has_telling_walks(raw))
    seen = {*functions, *found.functions.tolist(), *chain.from_iterable(chains)}
    whole = whole_functions(found.program, seen - {NO_FUNCTION})
    columns = zip(
        found.functions.tolist(), found.heights.tolist(), found.lacks.tolist(), strict=True
    )
    keys: list[Key | str] = [
        (whole[function], height, NO_MARK) if lack == KEYED else LACKS[lack]
        for function, height, lack in columns
    ]
    whole_chains = [whole_chain(each, whole) for each in chains]
    return _Keyed(found.program, whole, keys, whole_chains, found.in_stubs.tolist())


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
