"""From what a user asked for to an experiment's specification."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.app.request.build_request import filled_build, requested_builds
from steelyard.app.request.command_text import (
    Parameters,
    fill,
    fill_optional,
    is_suite_name,
    leading_assignments,
    one_or_each,
    parse_environment,
    parse_parameters,
    shell_words,
    step,
)
from steelyard.app.request.request import Request
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import (
    ExperimentSpec,
    IterationsSpec,
    LaunchSpec,
    MetricSpec,
    Variant,
)
from steelyard.core.identifier import new_identifier
from steelyard.core.rng import fresh_seed
from steelyard.core.stopping_spec import StoppingSpec, with_usual_budget

if TYPE_CHECKING:
    from steelyard.app.suite.suite_program import Workshop

DEFAULT_METRICS = (
    "wall_time",
    "user_time",
    "system_time",
    "cpu_time",
    "max_rss",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
)
# Of a name; labels are made where names are shown, by what differs.
_NAME_LENGTH = 1000


def _default_name(request: Request, index: int) -> str:
    """The command; where one program is built in several ways, what tells the builds apart."""
    name = " ".join(request.commands[index])
    if len(set(request.commands)) == 1:
        build = request.build
        for each in (build.commands, build.cc, build.cxx, build.ld, build.sources):
            if len(each) == len(request.commands) > 1:
                name = each[index]
                break
    return name if len(name) <= _NAME_LENGTH else name[: _NAME_LENGTH - 1] + "…"


def _labelled(name: str, parameters: Parameters) -> str:
    label = ", ".join(f"{key}={value}" for key, value in parameters)
    return f"{name} ({label})" if label else name


def _uniquely_named(variants: Sequence[Variant]) -> Iterator[Variant]:
    seen: dict[str, int] = {}
    for variant in variants:
        seen[variant.name] = seen.get(variant.name, 0) + 1
        count = seen[variant.name]
        yield variant if count == 1 else replace(variant, name=f"{variant.name} [{count}]")


def _launch_for(request: Request, command: tuple[str, ...], parameters: Parameters) -> LaunchSpec:
    filled = tuple(fill(word, parameters) for word in command)
    assigned: tuple[tuple[str, str], ...] = ()
    if not request.shell:
        assigned, filled = leading_assignments(filled)
    if not filled or not filled[0]:
        raise UsageError("A command is empty: name the program to run.", field="command")
    environment = tuple(
        (name, None if value is None else fill(value, parameters))
        for name, value in parse_environment(request.environment)
    )
    return LaunchSpec(
        argv=shell_words(filled[0]) if request.shell else filled,
        environment=(*environment, *assigned),
        environment_padding_bytes=request.environment_padding_bytes,
        working_directory=fill_optional(request.directory, parameters),
        stdin_file=fill_optional(request.stdin_file, parameters),
        timeout_s=request.timeout_s,
        expected_exit_codes=request.exit_codes,
        cpus=request.cpus,
    )


def _names_suite(request: Request) -> bool:
    return any(command and is_suite_name(command[0]) for command in request.commands)


def suite_workshop(request: Request, say: Callable[[str], None] | None) -> Workshop | None:
    """What makes programs of the suite ready, and says what takes its time, or only plans them
    where nobody is told; None where a request names none."""
    if not _names_suite(request):
        return None
    from steelyard.app.suite.suite_program import PlannedWorkshop, Workshop

    return PlannedWorkshop() if say is None else Workshop(say=say)


def build_variants(request: Request, workshop: Workshop | None = None) -> tuple[Variant, ...]:
    """Every command at every combination of parameters, in groups of equal parameters.

    With one command the combinations are compared with the first of them; with several, the
    commands are compared with the first at equal parameters. Programs of the suite are made ready
    by `workshop`, the user's where none is given.
    """
    if _names_suite(request):
        from steelyard.app.suite.suite_variants import suite_variants

        return tuple(_uniquely_named(suite_variants(request, workshop)))
    if len(request.commands) == 1 and request.build.variant_count > 1:
        repeated = request.commands * request.build.variant_count
        return build_variants(replace(request, commands=repeated), workshop)
    count = len(request.commands)
    if len(request.names) > count:
        raise UsageError(
            f"--name is given {len(request.names)} times for {count} commands.", field="--name"
        )
    prepare = one_or_each(request.prepare, count, "--prepare")
    cleanup = one_or_each(request.cleanup, count, "--cleanup")
    builds = requested_builds(request.build, count, shell=request.shell)
    _refuse_unused_parameters(request)
    variants: list[Variant] = []
    for parameters in parse_parameters(request.parameters):
        for index, command in enumerate(request.commands):
            given = request.names[index : index + 1] or [_default_name(request, index)]
            before = fill_optional(prepare[index], parameters)
            after = fill_optional(cleanup[index], parameters)
            variants.append(
                Variant(
                    name=_labelled(fill(given[0], parameters), parameters),
                    launch=_launch_for(request, command, parameters),
                    prepare=step(before, request.shell, "--prepare"),
                    cleanup=step(after, request.shell, "--cleanup"),
                    parameters=parameters,
                    group=_labelled("", parameters).strip() if count > 1 else "",
                    build=filled_build(builds[index], parameters),
                )
            )
    return tuple(_uniquely_named(variants))


def _refuse_unused_parameters(request: Request) -> None:
    """Refuse a parameter that stands nowhere: its variants would all be one program."""
    texts = (
        *(word for command in request.commands for word in command),
        *(request.prepare + request.cleanup + request.environment + request.build.commands),
        *filter(None, (request.directory, request.stdin_file)),
    )
    for name in (text.partition("=")[0] for text in request.parameters):
        if not any("{" + name + "}" in text for text in texts):
            raise UsageError(
                f"--parameter {name} is used nowhere: write {{{name}}} where it belongs, "
                f"as in 'program {{{name}}}'.",
                field="--parameter",
            )


def build_iterations(request: Request) -> IterationsSpec | None:
    """Where the iterations inside each trial are found; None where they are not asked for.

    Programs of the suite that all run the same harness need not be asked.
    """
    if request.iterations is None:
        if _names_suite(request):
            from steelyard.app.suite.suite_variants import suite_iterations

            found = suite_iterations(request)
            if found is not None:
                return replace(found, count=request.levels.iteration_count)
        for option, value in (
            ("--benchmark", request.benchmark),
            ("--warmup-iterations", request.warmup_iteration_count),
            ("--repeat iteration", request.levels.iteration_count),
        ):
            if value is not None:
                raise UsageError(f"{option} goes with --iterations only.", field=option)
        return None
    from steelyard.measure.iterations import parse_iterations

    spec = parse_iterations(request.iterations, request.benchmark, request.warmup_iteration_count)
    return replace(spec, count=request.levels.iteration_count)


def _iteration_metrics(names: Sequence[str], spec: IterationsSpec) -> list[MetricSpec | str]:
    """`names` with those that the adapter gives as metrics; its usual one where none is asked."""
    from steelyard.measure.iterations import (
        adapter_metric,
        parse_iteration_metric,
        usual_metric,
    )

    asked = [
        (parse_iteration_metric(name) if "=" in name else adapter_metric(name, spec)) or name
        for name in names
    ]
    if any(isinstance(item, MetricSpec) for item in asked):
        return asked
    return [*asked, usual_metric(spec)]


def build_metrics(
    names: Sequence[str], iterations: IterationsSpec | None = None
) -> tuple[MetricSpec, ...]:
    """The metrics asked for, the first being primary, then the usual ones."""
    from steelyard.measure.metrics import METRICS
    from steelyard.measure.printed_metrics import parse_printed_metric

    metrics: list[MetricSpec] = []
    asked: Sequence[MetricSpec | str] = names
    if iterations is not None:
        asked = _iteration_metrics(names, iterations)
    for name in (*asked, *(usual for usual in DEFAULT_METRICS if usual not in names)):
        if isinstance(name, MetricSpec):
            metrics.append(name)
            continue
        if "=" in name:
            metrics.append(parse_printed_metric(name))
            continue
        known = METRICS.get(name)
        source = "record" if known.counter is None else "counter"
        metrics.append(MetricSpec(known.name, known.unit, known.direction, source))
    taken = [metric.name for metric in metrics]
    for name in taken:
        if taken.count(name) > 1:
            raise UsageError(f"The metric {name!r} is asked for twice.", field="--metric")
    return tuple(metrics)


def recorded_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The variables whose values are to be kept, once each is known to have one.

    Raises
    ------
    UsageError
        One is not set.
    """
    for name in names:
        if name not in os.environ:
            raise UsageError(
                f"--record-env takes the name of a variable that is set; {name!r} is none.",
                field="--record-env",
            )
    return names


def _stopping(request: Request, variant_count: int) -> StoppingSpec:
    if not request.usual_budget:
        return request.stopping
    return with_usual_budget(request.stopping, variant_count, patient=request.patient)


def build_experiment(request: Request, workshop: Workshop | None = None) -> ExperimentSpec:
    """The specification of a new experiment, with its identifier and seed."""
    variants = build_variants(request, workshop)
    if request.layouts:
        from steelyard.app.request.layout_levels import laid_out_variants

        variants = laid_out_variants(variants, request.layouts)
    iterations = build_iterations(request)
    groups = {variant.group for variant in variants}
    return ExperimentSpec(
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="comparison" if len(variants) > len(groups) else "measurement",
        variants=variants,
        metrics=build_metrics(request.metrics, iterations),
        seed=fresh_seed() if request.seed is None else request.seed,
        order=request.order,
        warmup_count=request.warmup_count,
        stopping=_stopping(request, len(variants)),
        setup=step(request.setup, request.shell, "--setup"),
        confidence=request.confidence,
        margin_ratio=request.margin_ratio,
        method=request.method,
        quiet=request.quiet,
        note=request.note,
        recorded_environment=recorded_names(request.recorded_environment),
        iterations=iterations,
        levels=request.levels.levels,
        gates=request.gates,
    )
