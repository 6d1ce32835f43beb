"""How many call paths a map resolves, of its own runs and of others.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.7.1. His
'precise' is `resolved` here, and his 'incorrect' is `wrong`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
from steelyard.analysis.paths.stack_alignment import (
    CANONICAL_START,
    Key,
    alike,
    beyond_telling,
    each_stack,
)
from steelyard.analysis.paths.unlearnt_keys import UnlearntKeys

# The degrees of ambiguity that are counted: section 5.8.2 speaks of five.
CANDIDATE_LIMITS = (1, 2, 3, 5, 10)
_ROUNDING = 1e-9
# docs/adr/0029-calls-are-led-through-wrappers.md: two lea, call and ret.
WRAPPER_INSTRUCTIONS = 4
# docs/adr/0033-marked-calls-carry-a-value.md.
MARK_INSTRUCTIONS = 10
RESIZING, WRAPPING, CLONING, MARKING = "resizing", "wrapping", "cloning", "marking"
_INSTRUCTIONS = {
    RESIZING: 0,
    WRAPPING: WRAPPER_INSTRUCTIONS,
    CLONING: 0,
    MARKING: MARK_INSTRUCTIONS,
}


@dataclass(frozen=True)
class Outcomes:
    """Shares of paths, or of calls, from 0 to 1.

    Parameters
    ----------
    resolved, ambiguous, wrong, missing : float
        One candidate, which is the path; several, with it; one or several without it; none. They
        add up to 1.
    most_frequent : float
        Right where the candidate that was learnt most often is taken.
    by_candidates : tuple of float
        For each of `CANDIDATE_LIMITS`: right with at most so many candidates.
    by_count : tuple of (int, float)
        Numbers of candidates that occur, rising, and the share that is right with each.
    by_code : float
        Part whose key was never learnt, and has its candidates by the program's code. It is also
        in the parts above.
    """

    resolved: float
    ambiguous: float
    wrong: float
    missing: float
    most_frequent: float
    by_candidates: tuple[float, ...]
    by_count: tuple[tuple[int, float], ...] = ()
    by_code: float = 0.0

    def most_candidates(self, share: float) -> int | None:
        """The least number that this share of what is right has at most; None: nothing is."""
        known = self.resolved + self.ambiguous
        reached = 0.0
        for count, part in self.by_count:
            reached += part
            # Sums of shares are not exact.
            if reached >= share * known * (1 - _ROUNDING):
                return count
        return None


@dataclass(frozen=True)
class ScenarioOutcomes:
    """What a map says of some runs.

    Parameters
    ----------
    path_count, key_count, call_count : int
        Of those runs: different paths, different keys (function, height), and entries.
    paths : Outcomes
        Each path counts the same; one with several heights counts for each in equal parts.
    calls : Outcomes
        Each entry of a function counts the same.
    """

    path_count: int
    key_count: int
    call_count: int
    paths: Outcomes
    calls: Outcomes


@dataclass(frozen=True)
class SampleCheck:
    """What a map says of samples.

    Parameters
    ----------
    sample_count : int
        Whose paths are known; `outcomes` is of these.
    outcomes : Outcomes
    keyless_count : int
        Samples without a key, such as those in libraries.
    unlearnt_count : int
        Samples whose key the learnt run did not have: another run takes other paths.
    """

    sample_count: int
    outcomes: Outcomes
    keyless_count: int
    unlearnt_count: int


@dataclass(frozen=True)
class SeparationCost:
    """A way of telling paths apart: what it resolves of the map's own runs, and its price.

    Parameters
    ----------
    way : str
        `RESIZING`: frames are larger; `WRAPPING`: calls are wrapped too; `CLONING`: functions are
        cloned too; `MARKING`: calls are marked too.
    frame_count, call_count : int
        Frames that are larger, and different calls that are wrapped or marked.
    paths : Outcomes
        Of the paths of the map.
    passed_count : int
        Learnt calls that pass a wrapper or a mark.
    passed_share : float
        Their part of all learnt calls, from 0 to 1.
    before_bytes, after_bytes : int
        The highest stack at the entry of a function.
    clone_count : int
    clone_bytes : int
        Code of the clones.
    code_ratio : float
        The same beside the code of the program.
    """

    way: str
    frame_count: int
    call_count: int
    paths: Outcomes
    passed_count: int
    passed_share: float
    before_bytes: int
    after_bytes: int
    clone_count: int = 0
    clone_bytes: int = 0
    code_ratio: float = 0.0

    @property
    def instruction_count(self) -> int:
        """Instructions that the learnt runs would have executed more."""
        return _INSTRUCTIONS[self.way] * self.passed_count

    @property
    def instructions_per_call(self) -> float:
        """The same for each learnt call."""
        return _INSTRUCTIONS[self.way] * self.passed_share

    @property
    def growth_ratio(self) -> float:
        """How many times as high the highest stack becomes."""
        return self.after_bytes / self.before_bytes if self.before_bytes else 1.0


@dataclass(frozen=True)
class SeparationCosts:
    """What ways of telling paths apart would cost.

    Parameters
    ----------
    costs : tuple of SeparationCost
    refused : mapping of str to str
        Ways that a program does not allow, and why.
    """

    costs: tuple[SeparationCost, ...]
    refused: Mapping[str, str]


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


class Tally:
    """Weights of outcomes."""

    def __init__(self) -> None:
        self._total = self._by_code = 0.0
        self._weights: defaultdict[str, float] = defaultdict(float)
        self._by_count: defaultdict[int, float] = defaultdict(float)

    def add(
        self, weight: float, found: Counter[int] | None, path: int, by_code: bool = False
    ) -> None:
        """Count one of such a weight, whose key has these candidates and which is this path."""
        self._total += weight
        self._by_code += weight * by_code
        for name in _outcome(found, path):
            self._weights[name] += weight
        if found is not None and path in found:
            self._by_count[len(found)] += weight

    def shares(self) -> Outcomes:
        """Parts of the whole weight."""
        found = self._weights
        total = self._total or 1.0
        limits = tuple(found[str(limit)] / total for limit in CANDIDATE_LIMITS)
        return Outcomes(
            resolved=found["resolved"] / total,
            ambiguous=found["ambiguous"] / total,
            wrong=found["wrong"] / total,
            missing=found["missing"] / total,
            most_frequent=found["most_frequent"] / total,
            by_candidates=limits,
            by_count=tuple(
                (count, self._by_count[count] / total) for count in sorted(self._by_count)
            ),
            by_code=self._by_code / total,
        )


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


def _outcome(found: Counter[int] | None, path: int) -> list[str]:
    """The outcomes of a key with these candidates, where this is its path."""
    if found is None:
        return ["missing"]
    if path not in found:
        return ["wrong"]
    names = ["resolved" if len(found) == 1 else "ambiguous"]
    if max(found, key=lambda other: (found[other], -other)) == path:
        names.append("most_frequent")
    return names + [str(limit) for limit in CANDIDATE_LIMITS if len(found) <= limit]
