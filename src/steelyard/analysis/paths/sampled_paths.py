"""Samples with the call paths that their keys may mean, and how much of the time each path took.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, sections 5.2 and 5.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from steelyard.analysis.paths.lookup import Candidate, KeyedPaths
from steelyard.analysis.paths.named_candidates import ALL, Named, named
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.path_marks import FOREIGN_MARK
from steelyard.analysis.paths.path_shares import PathShare, path_shares
from steelyard.analysis.paths.path_stacks import with_stacks
from steelyard.analysis.paths.self_learning import SelfLearning
from steelyard.analysis.paths.stack_alignment import Key
from steelyard.analysis.paths.static_map import UnlearntPaths
from steelyard.analysis.paths.telling_walks import TellingWalks
from steelyard.analysis.profiles.profile_samples import Frame, ProfileSamples

if TYPE_CHECKING:
    from steelyard.analysis.profiles.profile_answer import ProfileAnswer

NOT_LEARNT = "key never learnt"
OTHER_MARK = "its thread carries what no learnt path of the key has"
AMBIGUOUS, MISSING = "[ambiguous]", "[missing]"


@dataclass(frozen=True)
class MissingShare:
    """Samples of a function without a path."""

    function: str
    reason: str
    sample_count: int


@dataclass(frozen=True)
class PathTruth:
    """How many samples with candidates had their stack walked to its end, and in how many that had
    a path that is none of them."""

    sample_count: int
    wrong_count: int


@dataclass(frozen=True)
class SampledPaths:
    """What a profile says of the call paths of a program.

    Parameters
    ----------
    answer : ProfileAnswer
        Of the same samples without paths.
    map_path : str
    path_map : PathMap
    paths : tuple of PathShare
        Those with most samples first.
    missing : tuple of MissingShare
        Those with most samples first.
    counts : mapping of str to int
        Samples that are ``resolved``, ``ambiguous``, ``missing``.
    most_named : int or None
        Of an ambiguous key so many candidates are named; None: all.
    by_code : mapping of str to int
        Of the samples that are ``resolved`` and ``ambiguous`` those whose key was never learnt, and
        of which the code of the program has all paths.
    key_count : int
        Different keys.
    stacks : ProfileSamples
        The samples with the stack of each: of an ambiguous one a candidate, by its learnt share.
    are_ambiguous, are_missing : arrays of bool
        For each sample.
    truth : PathTruth or None
        None: no stacks were walked.
    learning : SelfLearning or None
        How the recording made its own map; None: it had one.
    walks : TellingWalks or None
        Of stacks at ambiguous keys; None: none was asked for.
    allowed : tuple of UnlearntPaths or None
        Paths that the program's code allows for keys that were never learnt; None: not searched.
    """

    answer: ProfileAnswer
    map_path: str
    path_map: PathMap
    paths: tuple[PathShare, ...]
    missing: tuple[MissingShare, ...]
    counts: Mapping[str, int]
    key_count: int
    stacks: ProfileSamples
    are_ambiguous: npt.NDArray[np.bool_]
    are_missing: npt.NDArray[np.bool_]
    truth: PathTruth | None = None
    learning: SelfLearning | None = None
    allowed: tuple[UnlearntPaths, ...] | None = None
    walks: TellingWalks | None = None
    most_named: int | None = ALL
    by_code: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class PathView:
    """What is shown of samples.

    Parameters
    ----------
    confidence : float
        Of the intervals of shares.
    most_named : int or None
        Of an ambiguous key name so many candidates, those with most learnt calls; None: all.
    """

    confidence: float = 0.95
    most_named: int | None = ALL


_DEFAULT_VIEW = PathView()


def path_truth(
    keyed: KeyedPaths,
    keys: Sequence[Key | str],
    chains: Sequence[tuple[int, ...]],
    by_code: Sequence[frozenset[tuple[int, ...]]] = (),
) -> PathTruth | None:
    """Compare the paths of keys with the stacks of the same samples.

    Parameters
    ----------
    keyed : KeyedPaths
    keys : sequence
        For each sample its key, or why it has none.
    chains : sequence of tuple of int
        Whole functions on the stack, outermost first; empty where it was not walked to its end.
    by_code : sequence of frozenset, optional
        For each sample the paths that the code has for it, if its key was never learnt.
    """
    routes: dict[Key, frozenset[tuple[int, ...]]] = {}
    count = wrong = 0
    for at, (key, chain) in enumerate(zip(keys, chains, strict=True)):
        if isinstance(key, str) or not chain:
            continue
        if key not in routes:
            routes[key] = keyed.routes(*key)
        found = routes[key] or (by_code[at] if by_code else ())
        if not found:
            continue
        count += 1
        wrong += chain not in found
    return PathTruth(count, wrong) if any(chains) else None


def learnt_candidates(keyed: KeyedPaths, keys: Sequence[Key | str]) -> list[tuple[Candidate, ...]]:
    """The paths of each sample by the map alone."""
    return [() if isinstance(key, str) else keyed.candidates(*key) for key in keys]


def sampled_paths(
    answer: ProfileAnswer,
    map_path: str,
    keyed: KeyedPaths,
    keys: Sequence[Key | str],
    view: PathView = _DEFAULT_VIEW,
    candidates: Sequence[tuple[Candidate, ...]] | None = None,
) -> SampledPaths:
    """Look each key up, and weigh paths by their samples.

    Parameters
    ----------
    answer : ProfileAnswer
        Of the samples.
    map_path : str
    keyed : KeyedPaths
        The map, by its keys.
    keys : sequence
        For each sample its key, or why it has none.
    view : PathView
    candidates : sequence of tuple of Candidate or None
        For each sample, where more than its key tells them.
    """
    found = learnt_candidates(keyed, keys) if candidates is None else list(candidates)
    are_missing = np.array([not one for one in found], bool)
    are_ambiguous = np.array([len(one) > 1 for one in found], bool)
    counts = {
        "resolved": int((~are_missing & ~are_ambiguous).sum()),
        "ambiguous": int(are_ambiguous.sum()),
        "missing": int(are_missing.sum()),
    }
    by_code = [len(one) for one in found if one and not one[0].is_learnt]
    shown = _named_each(found, view.most_named)
    return SampledPaths(
        answer,
        map_path,
        keyed.path_map,
        path_shares(answer, shown, view.confidence),
        _missing_shares(answer.samples, keys, are_missing, keyed),
        counts,
        len({key[:3] for key in keys if not isinstance(key, str)}),
        with_stacks(answer.samples, shown, keyed.path_map.program),
        are_ambiguous,
        are_missing,
        most_named=view.most_named,
        by_code={
            "resolved": by_code.count(1),
            "ambiguous": len(by_code) - by_code.count(1),
        },
    )


def _named_each(found: Sequence[tuple[Candidate, ...]], most: int | None) -> list[Named]:
    known: dict[tuple[Candidate, ...], Named] = {}
    for candidates in found:
        if candidates not in known:
            known[candidates] = named(candidates, most)
    return [known[candidates] for candidates in found]


def marked(paths: SampledPaths) -> ProfileSamples:
    """The samples for viewers that know no ambiguity: below each stack that is not resolved stands
    a frame that says so.
    """
    samples = paths.stacks
    number = len(samples.frames)
    frames = (*samples.frames, Frame(AMBIGUOUS, AMBIGUOUS), Frame(MISSING, MISSING))
    marks = np.where(paths.are_ambiguous, number, np.where(paths.are_missing, number + 1, -1))
    ends = np.cumsum(samples.stack_lengths)
    has_mark = marks >= 0
    return replace(
        samples,
        frames=frames,
        stacks=np.insert(samples.stacks, ends[has_mark], marks[has_mark]),
        stack_lengths=samples.stack_lengths + has_mark,
    )


def _missing_shares(
    samples: ProfileSamples,
    keys: Sequence[Key | str],
    are_missing: npt.NDArray[np.bool_],
    keyed: KeyedPaths,
) -> tuple[MissingShare, ...]:
    reasons: Counter[tuple[str, str]] = Counter()
    for at in np.flatnonzero(are_missing).tolist():
        key = keys[at]
        name = samples.frames[int(samples.functions[at])].name
        reasons[name, key if isinstance(key, str) else _unlearnt_reason(key, keyed)] += 1
    return tuple(
        MissingShare(name, reason, count) for (name, reason), count in reasons.most_common()
    )


def _unlearnt_reason(key: Key, keyed: KeyedPaths) -> str:
    aligning = keyed.untold.get(key.function)
    if aligning is not None:
        name = keyed.path_map.functions.get(aligning, hex(aligning))
        return f"below {name}, which aligns its stack in a way that cannot be told"
    return OTHER_MARK if key.mark == FOREIGN_MARK else NOT_LEARNT
