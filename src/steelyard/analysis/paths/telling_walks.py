"""Samples at ambiguous keys whose stacks were walked just as far as tells their paths.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.5.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis.paths.lookup import Candidate, KeyedPaths
from steelyard.analysis.paths.stack_alignment import Key

Chain = tuple[int, ...]
OTHER_STACK = "its stack shows none of the learnt paths of its key"


@dataclass(frozen=True)
class TellingWalks:
    """How many stacks were walked, and what that told.

    Parameters
    ----------
    walk_count, frame_count : int
        Stacks, and frames of them with those of the samples themselves.
    told_count, foreign_count : int
        Of the stacks those that left one path, and those that left none.
    copied_bytes : int or None
        Of stacks, by the kernel's records of samples; None: the recording does not tell.
    are_parted : bool
        Stacks were copied at ambiguous keys alone; otherwise the kernel could not be asked to tell
        those apart, and each was copied.
    """

    walk_count: int
    frame_count: int
    told_count: int
    foreign_count: int
    copied_bytes: int | None = None
    are_parted: bool = False


@dataclass(frozen=True)
class ToldPaths:
    """For each sample its candidates and its key, or why it has none; and the walks.

    Parameters
    ----------
    candidates : list of tuple of Candidate
    keys : list
    walks : TellingWalks
    """

    candidates: list[tuple[Candidate, ...]]
    keys: list[Key | str]
    walks: TellingWalks


def told_paths(
    keyed: KeyedPaths,
    keys: Sequence[Key | str],
    chains: Sequence[Chain],
    frame_counts: Sequence[int],
) -> ToldPaths:
    """Look keys up, and leave of several paths those that the stack shows.

    Parameters
    ----------
    keyed : KeyedPaths
    keys : sequence
        For each sample its key, or why it has none.
    chains : sequence of tuple of int
        The functions that were walked, outermost first, with that of the sample; empty where no
        stack was.
    frame_counts : sequence of int
        Frames that were walked, those of libraries too.
    """
    candidates: list[tuple[Candidate, ...]] = []
    found_keys: list[Key | str] = []
    walks = frames = told = foreign = 0
    known: dict[tuple[Key, Chain], tuple[Candidate, ...]] = {}
    for key, chain, frame_count in zip(keys, chains, frame_counts, strict=True):
        found = () if isinstance(key, str) else keyed.candidates(*key)
        kept = key
        if not isinstance(key, str) and chain and len(found) > 1:
            if (key, chain) not in known:
                known[key, chain] = keyed.told(*key, chain)
            found = known[key, chain]
            walks, frames = walks + 1, frames + frame_count
            told += len(found) == 1
            foreign += not found
            kept = key if found else OTHER_STACK
        candidates.append(found)
        found_keys.append(kept)
    return ToldPaths(candidates, found_keys, TellingWalks(walks, frames, told, foreign))
