"""What the code of a program says of its call paths, with names."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.analysis.paths.lookup import Candidate
from steelyard.analysis.paths.static_truth import StaticTruth


@dataclass(frozen=True)
class AllowedPaths:
    """The paths that code allows for a key.

    Parameters
    ----------
    paths : tuple of tuple of str
        Functions, outermost first; the best paths first.
    unlearnt : tuple of int
        For each path the steps that were never learnt; empty where nothing was learnt.
    are_all : bool
        Whether there are no others.
    is_too_high : bool
        The stack is higher than what can be searched.
    """

    paths: tuple[tuple[str, ...], ...]
    unlearnt: tuple[int, ...]
    are_all: bool
    is_too_high: bool = False


@dataclass(frozen=True)
class KeyAnswer:
    """The paths of a key.

    Parameters
    ----------
    function : str
    height_bytes : int
    learnt : tuple of Candidate
        Of a learnt map, the most frequent first.
    allowed : AllowedPaths or None
        Where there are no learnt ones, and there is a program.
    """

    function: str
    height_bytes: int
    learnt: tuple[Candidate, ...]
    allowed: AllowedPaths | None


@dataclass(frozen=True)
class UnlearntPaths:
    """Samples of a key that was never learnt, with the paths that code allows."""

    function: str
    height_bytes: int
    sample_count: int
    allowed: AllowedPaths


@dataclass(frozen=True)
class CodeFacts:
    """What was read from a program's code.

    Parameters
    ----------
    function_count, call_count : int
        Functions, and different calls of one by another.
    pointer_call_count, taken_count : int
        Calls of whatever address is held somewhere, and functions whose address may be.
    library_call_count : int
        Calls of functions of libraries.
    reached_count, behind_varying_count : int
        Functions that calls lead to from where stacks begin; and those that are reached by calls
        alone whose caller has a frame that varies.
    varying : dict of str to str
        Functions whose frame varies, and why.
    """

    function_count: int
    call_count: int
    pointer_call_count: int
    taken_count: int
    library_call_count: int
    reached_count: int
    behind_varying_count: int
    varying: dict[str, str]


@dataclass(frozen=True)
class PathsOfMap:
    """What a map, a program's code, or both say.

    Parameters
    ----------
    program, build : str
    learnt_path_count : int or None
        None: there is no learnt map.
    code : CodeFacts or None
        None: there is no program.
    truth : StaticTruth or None
        How many learnt paths the code allows.
    keys : tuple of KeyAnswer
    has_call_sites : bool
        Learnt paths differ by their call sites, too.
    """

    program: str
    build: str
    learnt_path_count: int | None
    code: CodeFacts | None
    truth: StaticTruth | None
    keys: tuple[KeyAnswer, ...]
    has_call_sites: bool = False
