"""Run benchmark packages here, as a worker would, and answer as `measure` and `compare` do."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from steelyard.app.experiment.weigh import Weighing, weigh_spec
from steelyard.app.package.package_choice import package_iterations
from steelyard.app.package.packaged_variant import PackageChoice, kept_variants
from steelyard.app.request.experiment_request import build_metrics
from steelyard.app.running import Place, Watcher
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.identifier import new_identifier
from steelyard.core.rng import fresh_seed
from steelyard.core.stopping_spec import StoppingSpec


@dataclass(frozen=True)
class PackageRun:
    """What is asked for.

    Parameters
    ----------
    sources : tuple of str
        Archives or folders; several are compared with the first.
    choice : PackageChoice
    metrics : tuple of str
        As ``--metric`` takes them, the first being primary.
    iterations : str or None
        As ``--iterations`` takes it: an adapter, and a file of the archive of results. None: where
        a metric is of iterations, those of its ``results.csv`` or ``metrics.json``.
    """

    sources: tuple[str, ...]
    choice: PackageChoice = field(default_factory=PackageChoice)
    metrics: tuple[str, ...] = ()
    iterations: str | None = None
    stopping: StoppingSpec = field(default_factory=StoppingSpec)
    warmup_count: int = 0
    seed: int | None = None
    note: str = ""


def run_packages(run: PackageRun, place: Place, watch: Watcher | None = None) -> Weighing:
    """Keep the packages, run them, and answer.

    Raises
    ------
    ArchiveError, UsageError, MissingCapabilityError
        Before any trial.
    TrialsFailedError
        There is nothing to answer with; what failed is in the store.
    """
    return weigh_spec(package_experiment(run), place, watch)


def package_experiment(run: PackageRun) -> ExperimentSpec:
    """The experiment that `run` asks for, its packages kept."""
    variants = kept_variants(run.sources, run.choice)
    iterations = package_iterations(run.iterations, run.metrics)
    return ExperimentSpec(
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="comparison" if len(variants) > 1 else "measurement",
        variants=variants,
        metrics=build_metrics(run.metrics, iterations),
        seed=fresh_seed() if run.seed is None else run.seed,
        warmup_count=run.warmup_count,
        stopping=run.stopping,
        note=run.note,
        iterations=iterations,
    )


def metric_rows(
    experiment: Experiment,
) -> list[tuple[str, str, str, str, list[list[float]]]]:
    """What trials of packages brought besides the metrics asked for.

    Returns
    -------
    list of (variant, metric, unit, file, values)
        The names as in the experiment and in the archives of results; the values of each trial.
    """
    found: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for trial in experiment.trials:
        if trial.warmup or trial.status != "ok":
            continue
        for name, told in trial.details.get("package", {}).get("metrics", {}).items():
            found.setdefault((trial.variant, name), []).append(told)
    variants = experiment.spec.variants
    return [
        (
            *(variants[variant].name, name, told[0]["unit"], told[0]["file"]),
            [list(each["values"]) for each in told],
        )
        for (variant, name), told in found.items()
    ]
