"""The command that makes the initial experiment of a program, for people to type."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from steelyard.core.build_spec import BuildSpec
from steelyard.core.experiment_spec import ExperimentSpec, IterationsSpec, LaunchSpec, MetricSpec
from steelyard.core.repetition import RepetitionLevel

_USUAL_METRIC = "wall_time"


def dimension_command(spec: ExperimentSpec, index: int) -> str:
    """The command that makes the initial experiment of a variant: everything that its counts
    are kept under is in it."""
    variant = spec.variants[index]
    words = ["steelyard", "dimension", *_of_build(variant.build), *_of_levels(spec.user_levels)]
    words += [*_of_iterations(spec.iterations), *_of_metric(spec.primary_metric, spec.iterations)]
    words += _of_launch(variant.launch)
    return shlex.join([*words, "--", *variant.launch.argv])


def _of_build(build: BuildSpec | None) -> list[str]:
    if build is None:
        return []
    words = ["--build", shlex.join(build.argv)]
    words += ["--build-source", build.source] if build.source else []
    words += ["--randomize", ",".join(build.randomize)] if build.randomize else []
    for name, program in build.compilers:
        words += [f"--{name.lower()}", program]
    return words


def _of_levels(levels: Sequence[RepetitionLevel]) -> list[str]:
    words: list[str] = []
    for level in levels:
        command = "" if level.command is None else f"={shlex.join(level.command)}"
        words += ["--level", f"{level.name}{command}"]
    return words


def _of_iterations(iterations: IterationsSpec | None) -> list[str]:
    if iterations is None:
        return []
    place = iterations.file or iterations.pattern
    words = ["--iterations", f"{iterations.adapter}:{place}" if place else iterations.adapter]
    words += ["--benchmark", iterations.benchmark] if iterations.benchmark else []
    if iterations.warmup_count is not None:
        words += ["--warmup-iterations", str(iterations.warmup_count)]
    return words


def _of_metric(metric: MetricSpec, iterations: IterationsSpec | None) -> list[str]:
    """None where it is the one that is taken without being named."""
    name = metric.name
    if iterations is not None:
        from steelyard.measure.iterations import adapter_metric, usual_metric

        if metric == usual_metric(iterations):
            return []
        if metric == adapter_metric(name, iterations):
            return ["--metric", name]
    elif name == _USUAL_METRIC:
        return []
    if metric.source in ("record", "counter"):
        return ["--metric", name]
    pattern = "" if metric.pattern is None else f":{metric.pattern}"
    return ["--metric", f"{name}={metric.source}{pattern}:{metric.unit}:{metric.direction}"]


def _of_launch(launch: LaunchSpec) -> list[str]:
    words: list[str] = []
    for name, value in launch.environment:
        words += ["--env", name if value is None else f"{name}={value}"]
    if launch.environment_padding_bytes:
        words += ["--env-padding", str(launch.environment_padding_bytes)]
    words += ["--directory", launch.working_directory] if launch.working_directory else []
    words += ["--stdin", launch.stdin_file] if launch.stdin_file else []
    return words
