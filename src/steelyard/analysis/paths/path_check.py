"""Judges the paths of a map by its own runs and by others, whose paths are the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.analysis.paths.path_map import (
    NO_HEIGHT,
    PathMap,
    PathNode,
    PathNumbers,
    check_build,
    check_call_sites,
)
from steelyard.analysis.paths.path_marks import node_marks
from steelyard.analysis.paths.path_outcomes import SampleCheck, ScenarioOutcomes, Tally
from steelyard.analysis.paths.separation_outcome import SeparationCosts
from steelyard.analysis.paths.stack_alignment import (
    CANONICAL_START,
    Key,
    alike,
    beyond_telling,
    each_stack,
)
from steelyard.analysis.paths.unlearnt_keys import UnlearntKeys


@dataclass(frozen=True)
class PathCheck:
    """A map judged by the runs that it was learnt of, and by others where there are some; and by
    samples of the last of these, where they were taken. With what it costs to tell more paths
    apart, where that was asked for."""

    learnt: PathMap
    offline: ScenarioOutcomes
    online: ScenarioOutcomes | None
    samples: SampleCheck | None = None
    costs: SeparationCosts | None = None


def judged(
    learnt: PathMap, evaluation: PathMap | None = None, by_code: UnlearntKeys | None = None
) -> PathCheck:
    """Judge a map.

    Parameters
    ----------
    learnt : PathMap
        With at least one path.
    evaluation : PathMap, optional
        Of other runs of the same build, whose paths are the truth.
    by_code : UnlearntKeys, optional
        Has paths for keys of these that were never learnt.

    Raises
    ------
    DataError
        The two are of different builds, or one has call sites.
    """
    if evaluation is not None:
        check_build(learnt, evaluation.build, evaluation.program)
        check_call_sites(learnt, evaluation.has_call_sites)
        learnt, evaluation = alike(learnt, evaluation)
    numbers = PathNumbers()
    candidates = candidates_by_key(learnt, numbers.of(learnt.nodes))
    offline = _scenario(candidates, learnt, numbers)
    if evaluation is None:
        return PathCheck(learnt, offline, None)
    more = CandidatesByCode(by_code, numbers)
    return PathCheck(learnt, offline, _scenario(candidates, evaluation, numbers, more))


_Candidates = dict[Key, Counter[int]]


class CandidatesByCode:
    """The paths that code allows for keys that were never learnt.

    Parameters
    ----------
    keys : UnlearntKeys or None
        None: there are none.
    numbers : PathNumbers
        Of paths, whose functions are whole.
    """

    def __init__(self, keys: UnlearntKeys | None, numbers: PathNumbers) -> None:
        self._keys = keys
        self._numbers = numbers

    def of(self, key: Key) -> Counter[int] | None:
        """The paths of a key; None: the code has none, or not all of them were found."""
        if self._keys is None:
            return None
        chains = self._keys.of_mark(*key[:3]).candidates
        return Counter(map(self._number, chains)) or None

    def _number(self, chain: Sequence[int]) -> int:
        nodes = [PathNode(at - 1, function, 0, 0) for at, function in enumerate(chain)]
        return self._numbers.of(nodes)[-1]


def candidates_by_key(path_map: PathMap, paths: Sequence[int]) -> _Candidates:
    """The paths that each key may mean, with how often each was seen."""
    found: _Candidates = {}
    for node, key, path in _keyed(path_map, paths):
        if key.height_bytes != NO_HEIGHT:
            found.setdefault(key, Counter())[path] += node.call_count
    return found


def _keyed(path_map: PathMap, paths: Sequence[int]) -> Iterator[tuple[PathNode, Key, int]]:
    """Each node with its key and its path, for every stack that gives it another height."""
    untold = beyond_telling(path_map)
    for residue, one in each_stack(path_map):
        marks = node_marks(one.nodes, one.marks)
        for node, mark, path in zip(one.nodes, marks, paths, strict=True):
            height = NO_HEIGHT if node.function in untold else node.height_bytes
            yield node, Key(node.function, height, mark, residue), path


def _scenario(
    candidates: _Candidates,
    path_map: PathMap,
    numbers: PathNumbers,
    more: CandidatesByCode | None = None,
) -> ScenarioOutcomes:
    paths = numbers.of(path_map.nodes)
    seen: Counter[tuple[int, Key]] = Counter()
    for node, key, path in _keyed(path_map, paths):
        seen[path, key] += node.call_count
    heights = Counter(path for path, _ in seen)
    by_path, by_call = Tally(), Tally()
    for (path, key), calls in seen.items():
        found, by_code = candidates.get(key), False
        if found is None and more is not None and key.height_bytes != NO_HEIGHT:
            found = more.of(key)
            by_code = found is not None
        by_path.add(1 / heights[path], found, path, by_code)
        by_call.add(calls, found, path, by_code)
    return ScenarioOutcomes(
        len(heights),
        len({key for _, key in seen if key.residue_bytes == CANONICAL_START}),
        path_map.call_count,
        by_path.shares(),
        by_call.shares(),
    )
