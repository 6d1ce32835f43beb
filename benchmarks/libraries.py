"""Our own routines beside those of scipy and statsmodels: digits, time, and what an import costs.

    .venv/bin/python -m benchmarks.libraries [--statsmodels DIRECTORY]

DIRECTORY is where `pip install --target DIRECTORY statsmodels` has put it; without it the rows of
statsmodels are left out. Times are of the processor, medians of five, for 100,000 values.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy import stats as _untyped  # pyright: ignore[reportMissingTypeStubs]

from steelyard.analysis.groups.location_tests import kruskal_wallis, one_way
from steelyard.analysis.groups.rank_sum import mann_whitney, midranks
from steelyard.analysis.groups.signed_rank import wilcoxon
from steelyard.analysis.tests.anderson_darling import anderson_darling
from steelyard.analysis.tests.equal_variances import levene
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk

stats: Any = _untyped
Floats = NDArray[np.float64]
CASES, ROWS, SEED = 200, 100_000, 25
IMPORTS = ("numpy", "scipy.special", "scipy.optimize", "scipy.stats", "statsmodels.api")


class Pair(NamedTuple):
    """One of our routines and a library's: from values and their groups to what both say."""

    name: str
    ours: Callable[[Floats, NDArray[np.int64]], Any]
    theirs: Callable[[Floats, NDArray[np.int64]], Any]


def groups(values: Floats, group: NDArray[np.int64]) -> list[Floats]:
    """The values of each group."""
    return [values[group == index] for index in np.unique(group)]


def said(test: Any) -> tuple[float, float]:
    """The statistic and the p value of a test, ours or a library's."""
    p = test.p if hasattr(test, "p") else test.pvalue
    return float(test.statistic), float(p)


def rank_sum(values: Floats, group: NDArray[np.int64]) -> Any:
    """Mann and Whitney's test of the last two groups by scipy, as R calls it."""
    old, new = groups(values, group)[:2]
    tied = len(np.unique(np.concatenate([old, new]))) < len(old) + len(new)
    method = "exact" if not tied and max(len(old), len(new)) < 50 else "asymptotic"
    return stats.mannwhitneyu(new, old, method=method)


def signed_rank(values: Floats, _: NDArray[np.int64]) -> Any:
    """Wilcoxon's test by scipy, as R calls it; its statistic is the sum of positive ranks."""
    exact = len(values) < 50
    method = "exact" if exact else "asymptotic"
    return stats.wilcoxon(
        values - 0.1, correction=not exact, method=method, alternative="two-sided"
    )


PAIRS = (
    Pair(
        "mid-ranks", lambda v, _: midranks(v.round(2))[0], lambda v, _: stats.rankdata(v.round(2))
    ),
    Pair(
        "Mann-Whitney",
        lambda v, g: said(mann_whitney(*groups(v, g)[:2])),
        lambda v, g: said(rank_sum(v, g)),
    ),
    # scipy gives the smaller sum of ranks; p alone is compared.
    Pair("Wilcoxon (p)", lambda v, _: wilcoxon(v - 0.1).p, lambda v, g: signed_rank(v, g).pvalue),
    Pair(
        "Kruskal-Wallis",
        lambda v, g: said(kruskal_wallis(v, g)),
        lambda v, g: said(stats.kruskal(*groups(v, g))),
    ),
    Pair(
        "one-way analysis of variance",
        lambda v, g: said(one_way(v, g)),
        lambda v, g: said(stats.f_oneway(*groups(v, g))),
    ),
    Pair(
        "Brown-Forsythe",
        lambda v, g: said(levene(v, g, "median")),
        lambda v, g: said(stats.levene(*groups(v, g), center="median")),
    ),
    Pair(
        "Shapiro-Wilk (5,000 values)",
        lambda v, _: said(shapiro_wilk(v[:5000].tolist())),
        lambda v, _: said(stats.shapiro(v[:5000])),
    ),
)


def statsmodels_pairs() -> Iterator[Pair]:
    """What statsmodels has and scipy has not."""
    from statsmodels.stats import diagnostic  # pyright: ignore

    normal_ad: Any = diagnostic.normal_ad  # pyright: ignore
    yield Pair(
        "Anderson-Darling (statsmodels)",
        # Of skewed values statsmodels' statistic is infinite: it takes the logarithm of 1 - 1.
        lambda v, _: said(anderson_darling(np.log(v))),
        lambda v, _: normal_ad(np.log(v)),
    )


def difference(pair: Pair) -> float:
    """The largest relative difference over random tables."""
    random = np.random.default_rng(SEED)
    worst = 0.0
    for case in range(CASES):
        group = np.repeat(np.arange(3), 5 + case)
        values = random.lognormal(size=len(group)) + 0.1 * group
        ours = np.asarray(pair.ours(values, group), dtype=float)
        theirs = np.asarray(pair.theirs(values, group), dtype=float)
        scale = np.maximum(np.abs(theirs), 1e-300)
        worst = max(worst, float((np.abs(ours - theirs) / scale).max()))
    return worst


def cpu_s(function: Callable[[Floats, NDArray[np.int64]], Any]) -> float:
    """The processor time of one call with many rows."""
    random = np.random.default_rng(SEED)
    group = np.arange(ROWS) % 3
    values = random.lognormal(size=ROWS) + 0.1 * group
    times: list[float] = []
    for _ in range(5):
        started_s = time.process_time()
        function(values, group)
        times.append(time.process_time() - started_s)
    return statistics.median(times)


def import_s(module: str, path: str | None) -> float | None:
    """The processor time of a Python that imports a module, less one that imports nothing."""
    environment = {**os.environ, "PYTHONPATH": path or ""}
    times: dict[str, list[float]] = {"pass": [], f"import {module}": []}
    for _ in range(5):
        for code, taken in times.items():
            before = os.times()
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, check=False
            )
            if done.returncode:
                return None
            after = os.times()
            children_s = after.children_user + after.children_system
            taken.append(children_s - before.children_user - before.children_system)
    nothing, all_s = (statistics.median(taken) for taken in times.values())
    return all_s - nothing


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--statsmodels", metavar="DIRECTORY")
    asked = parser.parse_args()
    pairs = list(PAIRS)
    if asked.statsmodels:
        sys.path.append(asked.statsmodels)
        pairs += statsmodels_pairs()
    print("| routine | largest relative difference | ours, s | library, s |\n|---|---|---|---|")
    for pair in pairs:
        times = f"{cpu_s(pair.ours):.4f} | {cpu_s(pair.theirs):.4f}"
        print(f"| {pair.name} | {difference(pair):.1e} | {times} |")
    print("\n| import | processor time, s |\n|---|---|")
    for module in IMPORTS:
        taken_s = import_s(module, asked.statsmodels)
        print(f"| {module} | {'not installed' if taken_s is None else f'{taken_s:.2f}'} |")


if __name__ == "__main__":
    main()
