"""The keys of the samples of a profile: functions of the program at heights of the stack."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.analysis.paths.path_map import PathMap
    from steelyard.analysis.paths.stack_alignment import Key
    from steelyard.app.profile.static_paths import Carried
    from steelyard.app.profile.unlearnt_samples import UnlearntKey
    from steelyard.profile.file.profile_file import RawProfile


@dataclass(frozen=True)
class KeyedSamples:
    """Samples with their keys and the functions on their stacks, of which parts are whole."""

    program: str
    whole: Mapping[int, int]
    keys: list[Key | str]
    chains: list[tuple[int, ...]]
    in_stubs: list[bool]


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
    from steelyard.profile.paths.aligned_stacks import with_alignments

    raw, _ = recorded_profile(path, None)
    recorded = raw.header["path_map"]
    seen = {*functions, *path_map.functions}
    found = keyed_samples(raw, str(recorded["program"]), str(recorded["build"]), seen)
    path_map = with_alignments(path_map, found.program)
    return with_marks(found, raw, KeyedPaths(path_map, found.whole)), dict(found.whole)


@dataclass(frozen=True)
class PlainKeys:
    """The keys of the samples of a profile, without what their threads carried.

    Parameters
    ----------
    program, build : str
    functions : dict of int to str
        Names by address.
    keys : list of (int, int) or str
        For each sample its function and height, or why it has no key.
    """

    program: str
    build: str
    functions: dict[int, str]
    keys: list[tuple[int, int] | str]


def plain_keys(path: str) -> PlainKeys:
    """The keys of the samples of a profile; no map is read.

    Raises
    ------
    UsageError, DataError
        As `read_paths`.
    """
    from steelyard.profile.executable import FunctionNames

    raw, _ = recorded_profile(path, None)
    recorded = raw.header["path_map"]
    program, build = str(recorded["program"]), str(recorded["build"])
    found = keyed_samples(raw, program, build, ())
    names = FunctionNames(found.program)
    keys = [key if isinstance(key, str) else key[:2] for key in found.keys]
    functions = {key[0] for key in keys if not isinstance(key, str)}
    return PlainKeys(program, build, {one: names.at(one) for one in functions}, keys)


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
    from steelyard.profile.paths.aligned_stacks import with_alignments

    found = keyed_samples(raw, path_map.program, path_map.build, path_map.functions)
    keyed = keyed or KeyedPaths(with_alignments(path_map, found.program), found.whole)
    return found.program, keyed, with_marks(found, raw, keyed)


def recorded_profile(path: str, map_path: str | None) -> tuple[RawProfile, str]:
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


def has_telling_walks(raw: RawProfile) -> bool:
    """Whether stacks were walked at ambiguous keys alone."""
    from steelyard.profile.paths.sample_keys import AMBIGUOUS

    return raw.header["path_map"].get("walked") == AMBIGUOUS


def with_marks(keyless: KeyedSamples, raw: RawProfile, keyed: KeyedPaths) -> list[Key | str]:
    """Keys with the marks of samples, which the map says for what their threads carried, and with
    where stacks begin as far as the map's heights depend on that.

    Within the code that marks a call, a thread carries its caller's value or already the next.
    """
    from steelyard.analysis.paths.path_marks import ANY_MARK

    keys = [
        key
        if isinstance(key, str)
        else key._replace(residue_bytes=key.residue_bytes % keyed.modulus_bytes)
        for key in keyless.keys
    ]
    if not keyed.path_map.marks:
        return keys
    found: list[Key | str] = []
    for key, carried in zip(keys, _carried(raw, keyless), strict=True):
        if isinstance(key, str):
            found.append(key)
        elif carried is None:
            found.append(key._replace(mark=ANY_MARK))
        else:
            found.append(key._replace(mark=keyed.mark(*key[:2], *carried)))
    return found


def _carried(raw: RawProfile, keyless: KeyedSamples) -> list[Carried | None]:
    """What the thread of each sample carried, and where its stack begins; None: not known."""
    from steelyard.profile.paths.mark_samples import UNKNOWN, carried_values
    from steelyard.profile.paths.sample_keys import stack_bases

    values = carried_values(raw)
    if values is None:
        return [None] * len(keyless.keys)
    columns = zip(values.tolist(), stack_bases(raw).tolist(), keyless.in_stubs, strict=True)
    return [
        None if value == UNKNOWN or is_in_stub else (value, start)
        for value, start, is_in_stub in columns
    ]


def unlearnt_keys(
    raw: RawProfile, keyed: KeyedPaths, found: KeyedSamples
) -> list[UnlearntKey | None]:
    """For each sample its key with what its thread carried; None: the key is in the map, or the
    sample has none."""
    has_marks = bool(keyed.path_map.marks)
    carried = _carried(raw, found) if has_marks else [None] * len(found.keys)
    return [
        None if isinstance(key, str) or keyed.candidates(*key) else (*key[:2], one)
        for key, one in zip(found.keys, carried, strict=True)
    ]


def keyed_samples(
    raw: RawProfile, program: str, build: str, functions: Collection[int]
) -> KeyedSamples:
    """The keys of samples; whole are their functions and those that are given. Keys have where
    stacks begin modulo the largest alignment that can be told."""
    from steelyard.analysis.paths.path_marks import NO_MARK
    from steelyard.analysis.paths.stack_alignment import LONGEST_BYTES, Key
    from steelyard.profile.paths.crash_key import whole_functions
    from steelyard.profile.paths.sample_chains import sample_chains, whole_chain
    from steelyard.profile.paths.sample_keys import (
        KEYED,
        LACKS,
        NO_FUNCTION,
        sample_keys,
        stack_bases,
    )

    found = sample_keys(raw, program, build)
    chains = sample_chains(raw, found, to_start=not has_telling_walks(raw))
    seen = {*functions, *found.functions.tolist(), *chain.from_iterable(chains)}
    whole = whole_functions(found.program, seen - {NO_FUNCTION})
    columns = zip(
        found.functions.tolist(),
        found.heights.tolist(),
        (stack_bases(raw) % LONGEST_BYTES).tolist(),
        found.lacks.tolist(),
        strict=True,
    )
    keys: list[Key | str] = [
        Key(whole[function], height, NO_MARK, residue) if lack == KEYED else LACKS[lack]
        for function, height, residue, lack in columns
    ]
    whole_chains = [whole_chain(each, whole) for each in chains]
    return KeyedSamples(found.program, whole, keys, whole_chains, found.in_stubs.tolist())
