"""Read a profile whose samples are looked up in a map of call paths."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.app.profile.keyed_samples import (
    KeyedSamples,
    has_telling_walks,
    keyed_samples,
    recorded_profile,
    unlearnt_keys,
    with_marks,
)
from steelyard.app.profile.record_profile import read_answer
from steelyard.core.errors import UsageError
from steelyard.profile.paths.walked_beside import AUTO, KEYS, stacks_path

if TYPE_CHECKING:
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.analysis.paths.path_map import PathMap
    from steelyard.analysis.paths.sampled_paths import SampledPaths
    from steelyard.analysis.paths.self_learning import SelfLearning, WalkLooks
    from steelyard.analysis.paths.telling_walks import ToldPaths
    from steelyard.app.profile.unlearnt_samples import PathsByCode
    from steelyard.profile.file.profile_file import RawProfile


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
    most_named: int | None = None,
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
        Search the program's code for the paths of keys that were never learnt. Where it has all of
        them, they are the candidates.
    most_named : int or None
        Of an ambiguous key name so many candidates; None: all.

    Raises
    ------
    UsageError
        It was recorded without the stacks of threads.
    DataError
        A file is damaged, or the map is of another build.
    """
    from steelyard.analysis.paths.sampled_paths import (
        PathView,
        learnt_candidates,
        path_truth,
        sampled_paths,
    )

    raw, map_path = recorded_profile(path, map_path)
    if map_path == KEYS and not by_code:
        raise UsageError(
            f"{path} was recorded without a map (--paths keys).\nGive one with --map, or search "
            "the program's code with --static; `steelyard profile paths compare` needs neither.",
            field="--map",
        )
    learning = _self_learnt(path, raw) if map_path == AUTO else None
    answer = read_answer(path, confidence, apart)
    keyed, found = _looked_up(raw, map_path, learning)
    told = _told(raw, keyed, found) if has_telling_walks(raw) else None
    keys = found.keys if told is None else told.keys
    candidates = None if told is None else told.candidates
    code = _by_code(raw, keyed, found) if by_code else None
    if code is not None:
        candidates = code.beside(candidates or learnt_candidates(keyed, keys))
    view = PathView(confidence, most_named)
    paths = sampled_paths(answer, map_path, keyed, keys, view, candidates)
    if told is not None:
        paths = replace(paths, walks=told.walks)
    else:
        routes = () if code is None else code.routes_of_samples()
        truth = path_truth(keyed, keys, found.chains, routes)
        paths = replace(paths, truth=truth, learning=learning)
    return paths if code is None else replace(paths, allowed=code.listed)


def _by_code(raw: RawProfile, keyed: KeyedPaths, found: KeyedSamples) -> PathsByCode:
    from steelyard.app.profile.unlearnt_samples import paths_by_code

    return paths_by_code(found.program, keyed.path_map, unlearnt_keys(raw, keyed, found))


def _told(raw: RawProfile, keyed: KeyedPaths, found: KeyedSamples) -> ToldPaths:
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
) -> tuple[KeyedPaths, KeyedSamples]:
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.profile.paths.aligned_stacks import with_alignments
    from steelyard.profile.paths.map_file import read_map

    path_map = _nothing_learnt(raw) if map_path == KEYS else None
    if path_map is None:
        path_map = read_map(map_path) if learning is None else learning.path_map
    found = keyed_samples(raw, path_map.program, path_map.build, path_map.functions)
    keyed = KeyedPaths(with_alignments(path_map, found.program), found.whole)
    return keyed, replace(found, keys=with_marks(found, raw, keyed))


def _nothing_learnt(raw: RawProfile) -> PathMap:
    from steelyard.analysis.paths.path_map import PathMap

    recorded = raw.header["path_map"]
    return PathMap(str(recorded["program"]), str(recorded["build"]), 0, {}, {}, ())


def _self_learnt(path: str, raw: RawProfile) -> SelfLearning:
    """The map that a recording made of itself."""
    from steelyard.analysis.paths.path_map import PathMap
    from steelyard.analysis.paths.self_learning import self_learnt
    from steelyard.profile.executable import FunctionNames
    from steelyard.profile.paths.aligned_stacks import aligning_functions

    beside, _ = recorded_profile(stacks_path(path), None)
    recorded = raw.header["path_map"]
    program, build = str(recorded["program"]), str(recorded["build"])
    found = keyed_samples(beside, program, build, ())
    names = FunctionNames(found.program)
    functions = {each for functions in found.chains for each in functions}
    named = {function: names.at(function) for function in functions}
    empty = PathMap(program, build, 1, named, {}, ())
    # Heights are those of one stack where functions align it.
    keys = found.keys
    if aligning_functions(found.program, "profile"):
        empty = replace(empty, stack_residues=())
    else:
        keys = [one if isinstance(one, str) else one._replace(residue_bytes=0) for one in keys]
    learnt = self_learnt(empty, keys, found.chains)
    return replace(learnt, looks=_looks_of(beside.summary or {}))


def _looks_of(summary: Mapping[str, Any]) -> WalkLooks | None:
    """What the sampler that walked stacks says of its looks."""
    from steelyard.analysis.paths.self_learning import WalkLooks

    if "copied_bytes" not in summary:
        return None
    counts = (int(summary.get(name, 0)) for name in ("spared", "checked", "elsewhere"))
    return WalkLooks(int(summary["copied_bytes"]), summary.get("filtered"), *counts)


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
