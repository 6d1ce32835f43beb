"""Experiments that were measured apart, matched by benchmark into one comparison."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from steelyard.analysis.comparison.import_cautions import (
    HOSTS,
    MATCHED,
    ONE_EXECUTION,
    UNMATCHED,
)
from steelyard.core.errors import DataError
from steelyard.core.experiment_host import host_name
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.gate_spec import GateSpec
from steelyard.core.identifier import new_identifier
from steelyard.core.stopping_spec import StoppingSpec

_SHOWN = 5

# The trials of each benchmark, and the trials of each side of a benchmark.
Trials = dict[str, list[Trial]]


@dataclass(frozen=True)
class Side:
    """What is compared under one name.

    Parameters
    ----------
    name : str
        Such as ``base`` or ``head``.
    experiments : tuple of Experiment
        Their executions count together.
    sources : tuple of str
        The files or identifiers that they come from.
    """

    name: str
    experiments: tuple[Experiment, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Judging:
    """How ratios are judged.

    Parameters
    ----------
    metric : str or None
        The primary metric; None takes the first one that all sides have.
    """

    metric: str | None = None
    confidence: float = 0.95
    margin_ratio: float = 0.01
    method: str = "fieller"
    gates: tuple[GateSpec, ...] = ()


def matched_experiment(sides: Sequence[Side], judging: Judging) -> Experiment:
    """One comparison of all `sides`, the first being the baseline, benchmark by benchmark.

    Benchmarks are matched by name; where each side has only one, whatever their names. Nothing
    pairs executions that were made apart, so that the order is ``sequential``. Where some side has
    one execution of a benchmark, its iterations take the place of executions on all sides, and a
    caution says so: nothing is known of how executions vary.

    Raises
    ------
    DataError
        The sides have no benchmark or no metric in common, or other repetition levels.
    """
    metrics = _common_metrics(sides, judging.metric)
    tables = [_benchmarks(side) for side in sides]
    names = _common_benchmarks(sides, tables)
    rows = [[_of_name(table, name) for table in tables] for name in names]
    single = [_split(row, metrics[0].name) for row in rows]
    several = len(names) > 1
    variants = [
        _variant(side.name, name if several or _is_everywhere(name, tables) else "")
        for name in names
        for side in sides
    ]
    trials = [trials for row in rows for trials in row]
    first = sides[0].experiments[0]
    return Experiment(
        spec=ExperimentSpec(
            identifier=new_identifier(time.time_ns() // 1_000_000),
            kind="comparison",
            variants=tuple(variants),
            metrics=metrics,
            seed=0,
            order="sequential",
            stopping=StoppingSpec(runs=max(map(len, trials))),
            confidence=judging.confidence,
            margin_ratio=judging.margin_ratio,
            method=judging.method,
            levels=first.spec.levels,
            gates=judging.gates,
        ),
        provenance=_provenance(sides, tables, names, single),
        created_unix_s=min(e.created_unix_s for side in sides for e in side.experiments),
        trials=tuple(_numbered(trials)),
        stopped="runs",
    )


def _variant(side: str, benchmark: str) -> Variant:
    name = f"{benchmark} {side}" if benchmark else side
    return Variant(name, LaunchSpec(argv=()), group=benchmark, benchmark=benchmark)


def _common_metrics(sides: Sequence[Side], wanted: str | None) -> tuple[MetricSpec, ...]:
    """The metrics that every experiment has in the same unit, the primary one first."""
    experiments = [e for side in sides for e in side.experiments]
    tables = [
        {metric.name: MetricSpec(metric.name, metric.unit, metric.direction) for metric in metrics}
        for metrics in (experiment.spec.metrics for experiment in experiments)
    ]
    found = [
        metric
        for name, metric in tables[0].items()
        if all(table.get(name) == metric for table in tables)
    ]
    if not found:
        shown = "; ".join(
            f"{side.name} has {', '.join(m.name for m in side.experiments[0].spec.metrics)}"
            for side in sides
        )
        raise DataError(f"The sides have no metric in common: {shown}.", field="--as")
    known = [metric.name for metric in found]
    if wanted is not None and wanted not in known:
        raise DataError(
            f"Not every side has the metric {wanted!r}. All have: {', '.join(known)}.",
            field="--metric",
        )
    return tuple(sorted(found, key=lambda metric: metric.name != (wanted or known[0])))


def _benchmarks(side: Side) -> Trials:
    """The trials of each benchmark, those of later experiments after those of earlier ones."""
    found: Trials = {}
    for number, experiment in enumerate(side.experiments):
        spec = experiment.spec
        if number and spec.levels != side.experiments[0].spec.levels:
            raise DataError(
                f"The experiments of {side.name} repeat other levels, so they cannot be taken "
                "together.",
                field="--as",
            )
        alone = len(spec.groups()) == len(spec.variants)
        own: Trials = {}
        for trial in experiment.trials:
            if not trial.warmup:
                variant = spec.variants[trial.variant]
                name = (alone and variant.benchmark) or variant.name
                own.setdefault(name, []).append(trial)
        for name, trials in own.items():
            found[name] = _behind(found.get(name, []), trials)
    return found


def _behind(earlier: list[Trial], later: Sequence[Trial]) -> list[Trial]:
    """`later` trials after the `earlier` ones: in builds and levels of their own."""
    if not earlier:
        return list(later)
    builds = 1 + max(trial.build for trial in earlier)
    rebuilt = builds > 1 or any(trial.build for trial in later)
    tops = 1 + max((trial.levels[0] for trial in earlier if trial.levels), default=0)
    blocks = 1 + max(trial.block for trial in earlier)
    return [
        *earlier,
        *(
            replace(
                trial,
                block=trial.block + blocks,
                build=trial.build + (builds if rebuilt else 0),
                levels=(trial.levels[0] + tops, *trial.levels[1:]) if trial.levels else (),
            )
            for trial in later
        ),
    ]


def _common_benchmarks(sides: Sequence[Side], tables: Sequence[Trials]) -> list[str]:
    """The benchmarks that every side has, in the order of the baseline."""
    found = [name for name in tables[0] if all(name in table for table in tables)]
    if not found and all(len(table) == 1 for table in tables):
        return list(tables[0])
    if not found:
        shown = "; ".join(
            f"{side.name} has {_some(list(table))}"
            for side, table in zip(sides, tables, strict=True)
        )
        raise DataError(f"The sides have no benchmark in common: {shown}.", field="--as")
    return found


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return shown if more <= 0 else f"{shown} and {more} more"


def _of_name(table: Trials, name: str) -> list[Trial]:
    return table[name] if name in table else next(iter(table.values()))


def _is_everywhere(name: str, tables: Sequence[Trials]) -> bool:
    return all(name in table for table in tables)


def _split(row: list[list[Trial]], metric: str) -> bool:
    """Put iterations in the place of executions where some side has only one; whether it was so.

    A side without several iterations keeps what it has: then nothing bounds the ratio.
    """
    good = [[t for t in trials if t.status == "ok" and metric in t.measurements] for trials in row]
    fewest = min(map(len, good))
    counts = [sum(len(t.measurements[metric]) for t in trials) for trials in good]
    if fewest != 1 or min(counts) < 2:
        return False
    for place, trials in enumerate(row):
        row[place] = [part for trial in trials for part in _parts(trial)]
    return True


def _parts(trial: Trial) -> list[Trial]:
    """A trial for each iteration of one."""
    count = max((len(values) for values in trial.measurements.values()), default=0)
    if count < 2:
        return [trial]
    return [
        replace(
            trial,
            build=0,
            measurements={n: (v[i],) for n, v in trial.measurements.items() if i < len(v)},
            spent_s=trial.spent_s / count,
        )
        for i in range(count)
    ]


def _numbered(variants: Sequence[Sequence[Trial]]) -> list[Trial]:
    """All trials with their variant and a position of their own, in blocks where nothing else
    says what belongs together."""
    found: list[Trial] = []
    for index, trials in enumerate(variants):
        nested = any(trial.levels for trial in trials) or len({t.build for t in trials}) > 1
        for count, trial in enumerate(trials):
            block = trial.block if nested else count
            found.append(replace(trial, position=len(found), variant=index, block=block))
    return found


def _provenance(
    sides: Sequence[Side],
    tables: Sequence[Trials],
    names: Sequence[str],
    single: Sequence[bool],
) -> dict[str, Any]:
    everywhere = set(names)
    missing = dict.fromkeys(name for table in tables for name in table if name not in everywhere)
    alone = len(names) == 1 and all(len(table) == 1 for table in tables)
    found: dict[str, Any] = {
        "sides": [{"name": side.name, "sources": list(side.sources)} for side in sides],
        UNMATCHED: [] if alone else list(missing),
        ONE_EXECUTION: [name for name, is_one in zip(names, single, strict=True) if is_one],
        HOSTS: [host for side in sides for e in side.experiments if (host := host_name(e))],
    }
    return {MATCHED: found}
