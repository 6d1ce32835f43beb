"""What a suite's benchmarks say: which the same, and which nothing else says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Floats
from steelyard.predict.correlation_clusters import Clustering, cluster_columns
from steelyard.predict.matrix_completion import complete_table
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.model_evaluation import (
    Evaluated,
    EvaluationDesign,
    evaluate_models,
)
from steelyard.predict.platforms.platform_model import PlatformModel
from steelyard.predict.platforms.scores import Blame, blame_worst


@dataclass(frozen=True)
class BenchmarkPart:
    """What a benchmark adds to the suite.

    Parameters
    ----------
    benchmark : str
    cluster : int
        From 1.
    nearest : str
        The benchmark that correlates most with it over hosts.
    correlation : float
    error_p90 : float
        90 % of its predictions from the others, each host left out, err less than this ratio.
    verdict : {"redundant", "represented", "unrepresented"}
        ``redundant``: the others kept predict it within the tolerance, so it can be dropped;
        ``unrepresented``: they miss it by more than the limit, so programs like it need it.
    """

    benchmark: str
    cluster: int
    nearest: str
    correlation: float
    error_p90: float
    verdict: str


@dataclass(frozen=True)
class SuiteStudy:
    """All benchmarks, and who is to blame for bad predictions.

    Parameters
    ----------
    parts : tuple of BenchmarkPart
        Worst predicted first.
    clustering : Clustering
    blame : Blame or None
    tolerance_ratio, limit_ratio : float
    """

    kind: ClassVar[str] = "platform-suite"

    table: PlatformTable
    parts: tuple[BenchmarkPart, ...]
    clustering: Clustering
    blame: Blame | None
    tolerance_ratio: float
    limit_ratio: float
    cautions: tuple[Caution, ...] = ()


def study_suite(
    table: PlatformTable,
    model: PlatformModel,
    clusters: int = 5,
    tolerance_ratio: float = 0.05,
    limit_ratio: float = 0.2,
) -> SuiteStudy:
    """Predict each benchmark on each host from the others and the other hosts.

    Parameters
    ----------
    table : PlatformTable
    model : PlatformModel
    clusters : int
        In how many the tree of correlations is cut.
    tolerance_ratio, limit_ratio : float
        Errors at the 90th percentile below which a benchmark is redundant, above which it is
        unrepresented. Benchmarks are dropped one by one, the best predicted first, and those that
        remain must still predict every dropped one.
    """
    clustering = cluster_columns(complete_table(table.costs).values)
    evaluated = evaluate_models(table, [model], EvaluationDesign()).evaluated[0]
    errors = _errors_p90(evaluated, len(table.benchmarks))
    dropped = _droppable(table, model, errors, tolerance_ratio)
    label = np.zeros(len(table.benchmarks), dtype=int)
    for number, members in enumerate(clustering.cut(clusters), start=1):
        label[members] = number
    near = clustering.correlations - 2 * np.eye(len(table.benchmarks))
    parts: list[BenchmarkPart] = []
    for place in map(int, np.argsort(-errors, kind="stable")):
        verdict = "unrepresented" if errors[place] > limit_ratio else "represented"
        nearest = int(near[place].argmax())
        parts.append(
            BenchmarkPart(
                table.benchmarks[place],
                int(label[place]),
                table.benchmarks[nearest],
                float(near[place, nearest]),
                float(errors[place]),
                "redundant" if place in dropped else verdict,
            )
        )
    blame = blame_worst(evaluated.cases)
    return SuiteStudy(table, tuple(parts), clustering, blame, tolerance_ratio, limit_ratio)


def _errors_p90(evaluated: Evaluated, count: int) -> Floats:
    """The 90th percentile of each application's errors; inf where it was never predicted."""
    found = np.full(count, np.inf)
    for place in range(count):
        errors = [case.error_ratio for case in evaluated.cases if case.application == place]
        if errors:
            found[place] = float(np.quantile(errors, 0.9))
    return found


def _droppable(
    table: PlatformTable, model: PlatformModel, errors: Floats, tolerance: float
) -> list[int]:
    """Benchmarks that those kept predict within the tolerance."""
    dropped: list[int] = []
    for place in np.argsort(errors, kind="stable"):
        if errors[place] > tolerance or len(table.benchmarks) - len(dropped) <= 3:
            break
        tried = [*dropped, int(place)]
        if all(_error_without(table, model, one, tried) <= tolerance for one in tried):
            dropped = tried
    return dropped


def _error_without(
    table: PlatformTable, model: PlatformModel, place: int, dropped: list[int]
) -> float:
    """The 90th percentile of one benchmark's errors where those dropped do not predict it."""
    others = [column for column in dropped if column != place]
    smaller = table.without(benchmarks=others)
    name = table.benchmarks[place]
    evaluated = evaluate_models(smaller, [model], EvaluationDesign(applications=(name,)))
    errors = [case.error_ratio for case in evaluated.evaluated[0].cases]
    return float(np.quantile(errors, 0.9)) if errors else float("inf")
