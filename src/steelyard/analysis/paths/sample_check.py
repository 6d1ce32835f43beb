"""How many samples a map resolves, where the paths of the same runs were learnt too.

A sample has no path of its own: its key has those by which the function was entered at that
height, each with its part of the entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.analysis.paths.path_check import CandidatesByCode, candidates_by_key
from steelyard.analysis.paths.path_map import PathMap, PathNumbers
from steelyard.analysis.paths.path_outcomes import SampleCheck, Tally
from steelyard.analysis.paths.stack_alignment import Key
from steelyard.analysis.paths.unlearnt_keys import UnlearntKeys


def judged_samples(
    learnt: PathMap,
    evaluation: PathMap,
    keys: Sequence[Key | str],
    whole: Mapping[int, int],
    by_code: UnlearntKeys | None = None,
) -> SampleCheck:
    """Judge a map by samples.

    Parameters
    ----------
    learnt, evaluation : PathMap
        What is judged, and what was learnt of the command that was sampled.
    keys : sequence
        For each sample its key, or why it has none.
    whole : mapping of int to int
        The function that a function is a part of; those that are not in it are whole.
    by_code : UnlearntKeys, optional
        Has paths for keys that were never learnt.
    """
    numbers = PathNumbers()
    more = CandidatesByCode(by_code, numbers)
    found, truth = (_by_key(one, whole, numbers) for one in (learnt, evaluation))
    samples = Counter(key for key in keys if not isinstance(key, str))
    tally, counted = Tally(), 0
    for key, count in samples.items():
        paths = truth.get(key)
        if paths is None:
            continue
        counted += count
        total = sum(paths.values())
        learnt_ones = found.get(key)
        candidates = more.of(key) if learnt_ones is None else learnt_ones
        is_by_code = learnt_ones is None and candidates is not None
        for path, calls in paths.items():
            part = calls / total if total else 1 / len(paths)
            tally.add(count * part, candidates, path, is_by_code)
    return SampleCheck(
        sample_count=counted,
        outcomes=tally.shares(),
        keyless_count=len(keys) - samples.total(),
        unlearnt_count=samples.total() - counted,
    )


def _by_key(
    path_map: PathMap, whole: Mapping[int, int], numbers: PathNumbers
) -> dict[Key, Counter[int]]:
    nodes = [
        node._replace(function=whole.get(node.function, node.function)) for node in path_map.nodes
    ]
    marks = {
        (whole.get(caller, caller), whole.get(callee, callee)): number
        for (caller, callee), number in path_map.marks.items()
    }
    return candidates_by_key(replace(path_map, nodes=nodes, marks=marks), numbers.of(nodes))
