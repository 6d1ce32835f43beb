"""How far profilers agree about a program: which functions are hottest, and how hot.

Mytkowicz (2010), section 3.2.1: Union_n is the number of different functions among the n hottest of
each profiler, n where they agree and n times the number of profilers where they share nothing.
HOTNESS is the share of the time that a profiler gives to a function. Both are of means over runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from steelyard.analysis.intervals.mean import mean_interval, one_value
from steelyard.analysis.profiles.agreement_results import (
    RELATIONS,
    Agreement,
    Calls,
    Hotness,
    Pair,
    PairTotal,
    ProgramAgreement,
    ProgramProfiles,
    Relation,
    Shares,
)
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.rng import derive_seed

# Figure 3.3 of the thesis goes to 10.
LARGEST_N = 10
# Of each run so many functions can come into the hottest of a mean over runs.
KEPT_COUNT = 40
# Percentile intervals of 95 % are stable to a tenth of their width with so many (Efron and
# Tibshirani 1993, section 13.3, name 1000).
_RESAMPLE_COUNT = 1000
BOOTSTRAP = "bootstrap-runs"


def agreement(
    programs: Sequence[ProgramProfiles], confidence: float = 0.95, seed: int = 1
) -> Agreement:
    """Compare what profilers said, program by program and over all.

    Parameters
    ----------
    programs : sequence of ProgramProfiles
        At least one, each with at least two profilers and a run of each.
    seed : int
        Of the resampled runs.
    """
    found = tuple(
        _program_agreement(item, confidence, derive_seed(seed, item.name, item.setting))
        for item in programs
    )
    unions = tuple(
        mean_interval([item.unions[n].estimate or 0.0 for item in found], confidence)
        for n in range(LARGEST_N)
    )
    every = [pair for item in found for pair in item.pairs]
    return Agreement(found, unions, _relations_of(every), tuple(_pair_totals(found, confidence)))


def mean_shares(runs: Sequence[Shares]) -> dict[str, float]:
    """The mean of each function's share over runs; where a run has no sample of it, it is 0."""
    total: dict[str, float] = {}
    for run in runs:
        for function, share in run.items():
            total[function] = total.get(function, 0.0) + share
    return {function: share / len(runs) for function, share in total.items()}


def hottest_functions(shares: Shares, count: int) -> list[str]:
    """The functions with the largest shares; of equal ones the first by name."""
    return sorted(shares, key=lambda function: (-shares[function], function))[:count]


def union_sizes(shares: Iterable[Shares]) -> list[int]:
    """Union_n for n from 1 to 10."""
    ranked = [hottest_functions(item, LARGEST_N) for item in shares]
    return [len({name for names in ranked for name in names[: n + 1]}) for n in range(LARGEST_N)]


def relation_of(first: str, second: str, reached: Mapping[str, frozenset[str]]) -> Relation:
    """How two functions stand to each other, by what each calls directly or through others."""
    if first == second:
        return "agree"
    if second in reached.get(first, ()) or first in reached.get(second, ()):
        return "caller-callee"
    return "disagree"


def reached_from(functions: Iterable[str], calls: Calls) -> dict[str, frozenset[str]]:
    """What each of the functions calls, directly or through others."""
    callees: dict[str, set[str]] = {}
    for caller, callee in calls:
        callees.setdefault(caller, set()).add(callee)
    found: dict[str, frozenset[str]] = {}
    for function in functions:
        seen: set[str] = set()
        waiting = [function]
        while waiting:
            for callee in callees.get(waiting.pop(), ()):
                if callee not in seen:
                    seen.add(callee)
                    waiting.append(callee)
        found[function] = frozenset(seen)
    return found


def _relations_of(pairs: Iterable[Pair]) -> dict[Relation, int]:
    counts = dict.fromkeys(RELATIONS, 0)
    for pair in pairs:
        counts[pair.relation] += 1
    return counts


def _pair_totals(programs: Sequence[ProgramAgreement], confidence: float) -> Iterable[PairTotal]:
    """Every pair of profilers that looked at one program, by name."""
    seen: dict[tuple[str, str], list[tuple[Pair, float]]] = {}
    for item in programs:
        for pair in item.pairs:
            first, second = sorted((pair.first, pair.second))
            seen.setdefault((first, second), []).append((pair, _distance(item, pair)))
    for (first, second), given in sorted(seen.items()):
        relations = _relations_of(pair for pair, _ in given)
        distance = mean_interval([far for _, far in given], confidence)
        yield PairTotal(first, second, relations, distance)


def _distance(item: ProgramAgreement, pair: Pair) -> float:
    """How far apart two profilers are about the functions that they find the hottest."""
    apart = 0.0
    for profiler in (pair.first, pair.second):
        function = item.hottest[profiler]
        shares = [item.share(name, function).estimate or 0.0 for name in (pair.first, pair.second)]
        apart += abs(shares[0] - shares[1]) / 2
    return apart


def _program_agreement(profiles: ProgramProfiles, confidence: float, seed: int) -> ProgramAgreement:
    means = {profiler: mean_shares(runs) for profiler, runs in profiles.runs.items()}
    hottest = {profiler: hottest_functions(mean, 1)[0] for profiler, mean in means.items()}
    resampled = _resampled(profiles.runs, seed)
    every = {hottest_functions(mean, 1)[0] for draw in resampled for mean in draw.values()}
    reached = reached_from({*every, *hottest.values()}, profiles.calls)
    functions = dict.fromkeys(hottest.values())
    single = {profiler for profiler, runs in profiles.runs.items() if len(runs) == 1}
    return ProgramAgreement(
        profiles=profiles,
        hottest=hottest,
        unions=_unions(means, [] if single else resampled, confidence),
        hotness=tuple(
            Hotness(
                function,
                profiler,
                mean_interval([run.get(function, 0.0) for run in runs], confidence),
            )
            for function in functions
            for profiler, runs in profiles.runs.items()
        ),
        pairs=tuple(_pairs(hottest, resampled, reached, single)),
    )


def _resampled(
    runs: Mapping[str, Sequence[Shares]], seed: int
) -> list[dict[str, dict[str, float]]]:
    """Means of runs drawn again with replacement: what other runs might have said."""
    generator = np.random.default_rng(seed)
    tops = {profiler: _dense(given) for profiler, given in runs.items()}
    drawn: list[dict[str, dict[str, float]]] = []
    for _ in range(_RESAMPLE_COUNT):
        draw: dict[str, dict[str, float]] = {}
        for profiler, (names, table) in tops.items():
            mean = table[generator.integers(0, len(table), len(table))].mean(axis=0)
            first = np.argsort(-mean, kind="stable")[:LARGEST_N]
            draw[profiler] = {names[index]: float(mean[index]) for index in first if mean[index]}
        drawn.append(draw)
    return drawn


def _dense(runs: Sequence[Shares]) -> tuple[list[str], npt.NDArray[np.float64]]:
    """The hottest functions of any run, by name as ties go, and a table of runs by functions."""
    columns = sorted({name for run in runs for name in hottest_functions(run, KEPT_COUNT)})
    return columns, np.array([[run.get(name, 0.0) for name in columns] for run in runs])


def _unions(
    means: Mapping[str, Shares],
    resampled: Sequence[Mapping[str, Shares]],
    confidence: float,
) -> tuple[Interval, ...]:
    sizes = union_sizes(means.values())
    if not resampled:
        return tuple(one_value(float(size), confidence, BOOTSTRAP) for size in sizes)
    drawn = np.array([union_sizes(draw.values()) for draw in resampled])
    tail = (1 - confidence) / 2
    low = np.quantile(drawn, tail, axis=0)
    high = np.quantile(drawn, 1 - tail, axis=0)
    return tuple(
        Estimate(
            float(size),
            min(float(size), float(a)),
            max(float(size), float(b)),
            confidence,
            BOOTSTRAP,
        )
        for size, a, b in zip(sizes, low, high, strict=True)
    )


def _pairs(
    hottest: Mapping[str, str],
    resampled: Sequence[Mapping[str, Shares]],
    reached: Mapping[str, frozenset[str]],
    single: Collection[str],
) -> Iterable[Pair]:
    for first, second in combinations(hottest, 2):
        relation = relation_of(hottest[first], hottest[second], reached)
        same = sum(
            relation_of(
                hottest_functions(draw[first], 1)[0], hottest_functions(draw[second], 1)[0], reached
            )
            == relation
            for draw in resampled
        )
        is_known = first not in single and second not in single
        yield Pair(first, second, relation, same / len(resampled) if is_known else None)
