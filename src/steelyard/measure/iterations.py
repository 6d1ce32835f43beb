"""Iterations inside a trial: where its harness writes them, and what an adapter finds there.

Each trial has a file of its own, so that the launcher may run ahead: the program finds its name
in the environment, or in the place of ``{iterations}`` in its arguments. A harness that insists on
a file name has its file moved there when the trial has ended.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, geometric_mean
from typing import Any

from steelyard.core.errors import DataError, UsageError
from steelyard.core.experiment_spec import IterationsSpec, LaunchSpec, MetricSpec, Variant
from steelyard.harness.adapter import Series, Source, read_series, select, text_of
from steelyard.harness.adapters import ADAPTERS
from steelyard.harness.quantities import base_unit
from steelyard.measure.left_file import remove_left

VARIABLE = "STEELYARD_ITERATIONS"
PLACEHOLDER = "{iterations}"
# How many are wanted, with those of the warm-up, for programs that can be told.
COUNT_VARIABLE = "STEELYARD_ITERATION_COUNT"
COUNT_PLACEHOLDER = "{iteration_count}"
SUFFIX = ".iterations"
SOURCE = "iterations"
SHELL = ("/bin/sh", "-c")
# Times of files are those of the kernel's tick, up to 10 ms before the clock of Python.
STAMP_SLACK_S = 1.0
# FILE STAMP PLACE [CLEANUP]: a file from before the experiment is no trial's.
MOVE = (
    'if [ "$1" -nt "$2" ]; then mv -f -- "$1" "$3" || exit; fi; shift 3; '
    '[ "$#" -eq 0 ] || exec "$@"'
)


@dataclass(frozen=True)
class Found:
    """What an adapter found of one trial, by metric.

    `warmups` are the iterations that were dropped; `problem` says why metrics are missing.
    Of several benchmarks `benchmarks` has the iterations of each by its name and metric, and
    `values` the geometric mean of their means.
    """

    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    warmups: Mapping[str, Sequence[float]] = field(default_factory=dict)
    problem: str | None = None
    benchmarks: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)


def parse_iterations(text: str, benchmark: str | None, warmup_count: int | None) -> IterationsSpec:
    """What ``--iterations ADAPTER[:FILE]`` asks for; a pattern in the place of a file for regex.

    Raises
    ------
    UsageError
        There is no such adapter, or the pattern is wrong.
    """
    name, separator, rest = text.partition(":")
    adapter = ADAPTERS.get(name)
    if separator and not rest:
        raise UsageError(
            f"--iterations {text!r} names nothing after the colon.", field="--iterations"
        )
    if not adapter.takes_pattern:
        return IterationsSpec(name, rest or None, None, benchmark, warmup_count)
    from steelyard.harness.adapters.regex import parse_pattern

    parse_pattern(rest)
    return IterationsSpec(name, None, rest, benchmark, warmup_count)


def adapter_metric(name: str, spec: IterationsSpec) -> MetricSpec | None:
    """The metric `name` where the adapter gives it without being told a unit."""
    for metric in ADAPTERS.get(spec.adapter).metrics:
        if metric.name == name:
            return MetricSpec(metric.name, metric.unit, metric.direction, SOURCE)
    return None


def usual_metric(spec: IterationsSpec) -> MetricSpec:
    """The metric that is taken where none is named."""
    usual = ADAPTERS.get(spec.adapter).metrics[0]
    return MetricSpec(usual.name, usual.unit, usual.direction, SOURCE)


def parse_iteration_metric(text: str) -> MetricSpec | None:
    """The metric of ``NAME=iterations:UNIT[:higher]``; None where `text` is of another form.

    Raises
    ------
    UsageError
        It has no unit.
    """
    name, _, rest = text.partition("=")
    kind, _, about = rest.partition(":")
    if kind != SOURCE:
        return None
    unit, _, direction = about.partition(":")
    if not name or not unit or direction not in ("", "lower", "higher"):
        raise UsageError(
            f"The metric {text!r} cannot be taken. Write NAME=iterations:UNIT, and :higher at the "
            "end where more is better.",
            field="--metric",
        )
    ours = base_unit(unit)[1]
    return MetricSpec(name, ours, "higher" if direction == "higher" else "lower", SOURCE)


class IterationFiles:
    """The files of the trials of one session.

    Parameters
    ----------
    spec : IterationsSpec
        What is read, and from where.
    directory : str
        For the files; it exists.
    """

    def __init__(self, spec: IterationsSpec, directory: str) -> None:
        self._spec = spec
        self._directory = os.path.abspath(directory)
        self._stamp = os.path.join(self._directory, "started")
        if spec.file is not None:
            with open(self._stamp, "w", encoding="ascii"):
                pass
            started_s = os.stat(self._stamp).st_mtime - STAMP_SLACK_S
            os.utime(self._stamp, (started_s, started_s))

    def variant_for(self, variant: Variant, position: int) -> Variant:
        """`variant` with the file of the trial `position`, which a former session may have left."""
        path = iterations_file(self._directory, position)
        remove_left(path)
        launch = _with_file(_with_count(variant.launch, self._spec), path)
        changed = replace(variant, launch=launch)
        if self._spec.file is None:
            return changed
        start = variant.launch.working_directory or ""
        wanted = os.path.abspath(os.path.join(start, self._spec.file))
        move = (*SHELL, MOVE, "sh", wanted, self._stamp, path)
        return replace(changed, cleanup=(*move, *(variant.cleanup or ())))


def iterations_file(directory: str, position: int) -> str:
    """Where the iterations of a trial are."""
    return os.path.join(os.path.abspath(directory), f"{position}{SUFFIX}")


def _with_count(launch: LaunchSpec, spec: IterationsSpec) -> LaunchSpec:
    if spec.count is None:
        return launch
    wanted = str(spec.count + (spec.warmup_count or 0))
    return replace(
        launch,
        argv=tuple(word.replace(COUNT_PLACEHOLDER, wanted) for word in launch.argv),
        environment=(
            *((n, v and v.replace(COUNT_PLACEHOLDER, wanted)) for n, v in launch.environment),
            (COUNT_VARIABLE, wanted),
        ),
    )


def _with_file(launch: LaunchSpec, path: str) -> LaunchSpec:
    in_shell = launch.argv[:2] == SHELL
    argv = tuple(
        word.replace(PLACEHOLDER, shlex.quote(path) if in_shell else path) for word in launch.argv
    )
    environment = tuple(
        (name, None if value is None else value.replace(PLACEHOLDER, path))
        for name, value in launch.environment
    )
    return replace(launch, argv=argv, environment=(*environment, (VARIABLE, path)))


def found_iterations(
    record: Mapping[str, Any],
    spec: IterationsSpec,
    metrics: Sequence[MetricSpec],
    *,
    several: bool = False,
) -> Found:
    """What a trial's harness wrote: in the trial's file where it is there, else as output.

    Parameters
    ----------
    record : mapping
        The launcher's, with the path of the kept output.
    metrics : sequence of MetricSpec
        Those that are wanted; others are passed over.
    several : bool
        Take all benchmarks where none is named; else that is a problem.
    """
    if record.get("status") != "ok" or record.get("output") is None:
        return Found()
    output = os.fsencode(record["output"])
    own = os.fsencode(iterations_file(os.path.dirname(record["output"]), record["trial"]))
    written = os.path.isfile(own) and os.path.getsize(own) > 0
    adapter = ADAPTERS.get(spec.adapter)
    try:
        if os.path.isdir(own):
            raise DataError(f"{spec.file or 'Its file of iterations'} is a directory, not a file.")
        if spec.file is not None and not written:
            raise DataError(f"The trial wrote no file {spec.file!r}.")
        name = spec.file or ("Its file of iterations" if written else "Its output")
        with open(own if written else output, "rb") as file:
            text = text_of(file.read())
        series = read_series(adapter, Source(text, name, spec.pattern), ADAPTERS)
        names = dict.fromkeys(item.benchmark for item in series)
        if several and spec.benchmark is None and len(names) > 1:
            return _of_all({each: select(series, each, name) for each in names}, spec, metrics)
        return _chosen(select(series, spec.benchmark, name), spec, metrics)
    except (DataError, OSError) as error:
        return Found(problem=f"The adapter {adapter.name!r} found no iterations. {error}")


def _of_all(
    series: Mapping[str, Sequence[Series]], spec: IterationsSpec, metrics: Sequence[MetricSpec]
) -> Found:
    """The iterations of each benchmark, and for the whole execution the geometric mean of them.

    One that the harness calls failed has none; where all have, that is a problem.
    """
    failed = [name for name, own in series.items() if any(item.error for item in own)]
    found = {
        name: _chosen(own, spec, metrics)
        for name, own in series.items()
        if name not in failed or len(failed) == len(series)
    }
    values: dict[str, Sequence[float]] = {}
    for metric in metrics:
        means = [fmean(each.values[metric.name]) for each in found.values()]
        if min(means) <= 0:
            shown = ", ".join(map(repr, found))
            raise DataError(
                f"{metric.name} of {len(found)} benchmarks ({shown}) is not above 0 everywhere, "
                "as a geometric mean takes it. Name one with --benchmark."
            )
        values[metric.name] = (geometric_mean(means),)
    ran = {name: each.values for name, each in found.items()}
    return Found(values, benchmarks={**ran, **{key: {} for key in failed}})


def _chosen(series: Sequence[Series], spec: IterationsSpec, metrics: Sequence[MetricSpec]) -> Found:
    name = series[0].benchmark or "the benchmark"
    failed = [item.error for item in series if item.error is not None]
    if failed:
        raise DataError(f"The harness says that {name} failed: {failed[0]}.")
    executions = len({item.execution for item in series})
    if executions > 1:
        told = ADAPTERS.get(spec.adapter).one_execution
        raise DataError(
            f"There are {executions} executions of {name}, and a trial is one"
            + (f": run the harness with {told}." if told else ".")
        )
    values: dict[str, Sequence[float]] = {}
    warmups: dict[str, Sequence[float]] = {}
    for metric in metrics:
        item = _series_of(series, metric)
        count = item.warmup_count if spec.warmup_count is None else spec.warmup_count
        values[metric.name] = item.values[count:]
        if not values[metric.name]:
            raise DataError(
                f"{name} has {len(item.values)} iterations of {metric.name}, of which the first "
                f"{count} are warm-up, so that none is left."
            )
        if count:
            warmups[metric.name] = item.values[:count]
    return Found(values, warmups)


def _series_of(series: Sequence[Series], metric: MetricSpec) -> Series:
    for item in series:
        if item.metric == metric.name:
            break
    else:
        there = ", ".join(f"{item.metric} ({item.unit})" for item in series)
        raise DataError(f"There is no metric {metric.name!r}, but {there}: name one with --metric.")
    if (item.unit, item.direction) != (metric.unit, metric.direction):
        raise DataError(
            f"{metric.name} is in {item.unit}, {item.direction} is better, and not in "
            f"{metric.unit}, {metric.direction}: ask for it with "
            f"--metric {metric.name}=iterations:{item.unit}:{item.direction}."
        )
    if item.fault is not None:
        raise DataError(item.fault)
    return item
