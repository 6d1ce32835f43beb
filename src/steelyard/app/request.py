"""From what a user asked for to an experiment's specification."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from steelyard.core.errors import UsageError
from steelyard.core.identifier import new_identifier
from steelyard.core.model import (
    ExperimentSpec,
    IterationsSpec,
    LaunchSpec,
    MetricSpec,
    Order,
    StoppingSpec,
    Variant,
)
from steelyard.core.rng import fresh_seed

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
NAME_LENGTH = 48


@dataclass(frozen=True)
class Request:
    """What a user asked for, as the command line gives it.

    `commands` are argument vectors, or single strings for the shell when `shell` is set.
    `prepare` and `cleanup` hold one command for all variants or one for each.
    """

    commands: tuple[tuple[str, ...], ...]
    shell: bool = False
    names: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    setup: str | None = None
    environment: tuple[str, ...] = ()
    environment_padding_bytes: int = 0
    directory: str | None = None
    stdin_file: str | None = None
    timeout_s: float | None = None
    exit_codes: tuple[int, ...] = (0,)
    cpus: tuple[int, ...] | None = None
    parameters: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    order: Order = "blocks"
    warmup_count: int = 0
    stopping: StoppingSpec = field(default_factory=StoppingSpec)
    confidence: float = 0.95
    margin_ratio: float = 0.01
    method: str = "fieller"
    seed: int | None = None
    quiet: tuple[str, ...] = ()
    note: str = ""
    iterations: str | None = None
    benchmark: str | None = None
    warmup_iteration_count: int | None = None


Parameters = tuple[tuple[str, str], ...]


def parse_parameters(texts: Sequence[str]) -> list[Parameters]:
    """Every combination of ``name=value,value`` options, the first varying slowest.

    Raises
    ------
    UsageError
        An option has no name or value, or a name comes twice.
    """
    combinations: list[Parameters] = [()]
    seen: set[str] = set()
    for text in texts:
        name, separator, values = text.partition("=")
        if not separator or not name or not all(values.split(",")):
            raise UsageError(
                f"--parameter takes name=value,value such as size=1,10,100; it got {text!r}.",
                field="--parameter",
            )
        if name in seen:
            raise UsageError(f"The parameter {name!r} is given twice.", field="--parameter")
        seen.add(name)
        combinations = [
            (*chosen, (name, value)) for chosen in combinations for value in values.split(",")
        ]
    return combinations


def _fill(text: str, parameters: Parameters) -> str:
    for name, value in parameters:
        text = text.replace("{" + name + "}", value)
    return text


def split_command(text: str, field: str) -> tuple[str, ...]:
    """The words of a command, split as a shell splits them but without running one."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(
            f"{field} {text!r} cannot be split into words: {error}. Close the quotation, or use "
            "--shell.",
            field=field,
        ) from None
    if not words or not words[0]:
        raise UsageError(f"{field} is empty: name the program to run.", field=field)
    return words


def _step(text: str | None, shell: bool, field: str) -> tuple[str, ...] | None:
    if text is None:
        return None
    return _shell(text) if shell else split_command(text, field)


def _shell(command: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", command)


def parse_environment(texts: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Changes to the environment from ``NAME=VALUE``, or ``NAME`` alone to remove it."""
    changes: list[tuple[str, str | None]] = []
    for text in texts:
        name, separator, value = text.partition("=")
        if not name:
            raise UsageError(
                f"--env takes NAME=VALUE, or NAME to remove it; it got {text!r}.", field="--env"
            )
        changes.append((name, value if separator else None))
    return tuple(changes)


def _fill_optional(text: str | None, parameters: Parameters) -> str | None:
    return None if text is None else _fill(text, parameters)


def _one_or_each(texts: tuple[str, ...], count: int, option: str) -> list[str | None]:
    if len(texts) in (0, 1):
        return [texts[0] if texts else None] * count
    if len(texts) != count:
        raise UsageError(
            f"{option} is given {len(texts)} times for {count} commands: give it once for all "
            "of them, or once for each.",
            field=option,
        )
    return list(texts)


def _default_name(command: tuple[str, ...]) -> str:
    name = " ".join(command)
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"


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
    filled = tuple(_fill(word, parameters) for word in command)
    if not filled or not filled[0]:
        raise UsageError("A command is empty: name the program to run.", field="command")
    environment = tuple(
        (name, None if value is None else _fill(value, parameters))
        for name, value in parse_environment(request.environment)
    )
    return LaunchSpec(
        argv=_shell(filled[0]) if request.shell else filled,
        environment=environment,
        environment_padding_bytes=request.environment_padding_bytes,
        working_directory=_fill_optional(request.directory, parameters),
        stdin_file=_fill_optional(request.stdin_file, parameters),
        timeout_s=request.timeout_s,
        expected_exit_codes=request.exit_codes,
        cpus=request.cpus,
    )


def build_variants(request: Request) -> tuple[Variant, ...]:
    """Every command at every combination of parameters, in groups of equal parameters.

    With one command the combinations are compared with the first of them; with several, the
    commands are compared with the first at equal parameters.
    """
    count = len(request.commands)
    if len(request.names) > count:
        raise UsageError(
            f"--name is given {len(request.names)} times for {count} commands.", field="--name"
        )
    prepare = _one_or_each(request.prepare, count, "--prepare")
    cleanup = _one_or_each(request.cleanup, count, "--cleanup")
    variants: list[Variant] = []
    for parameters in parse_parameters(request.parameters):
        for index, command in enumerate(request.commands):
            given = request.names[index : index + 1]
            name = _fill(given[0] if given else _default_name(command), parameters)
            before = _fill_optional(prepare[index], parameters)
            after = _fill_optional(cleanup[index], parameters)
            variants.append(
                Variant(
                    name=_labelled(name, parameters),
                    launch=_launch_for(request, command, parameters),
                    prepare=_step(before, request.shell, "--prepare"),
                    cleanup=_step(after, request.shell, "--cleanup"),
                    parameters=parameters,
                    group=_labelled("", parameters).strip() if count > 1 else "",
                )
            )
    return tuple(_uniquely_named(variants))


def build_iterations(request: Request) -> IterationsSpec | None:
    """Where the iterations inside each trial are found; None where they are not asked for."""
    if request.iterations is None:
        for option, value in (
            ("--benchmark", request.benchmark),
            ("--warmup-iterations", request.warmup_iteration_count),
        ):
            if value is not None:
                raise UsageError(f"{option} goes with --iterations only.", field=option)
        return None
    from steelyard.measure.iterations import parse_iterations

    return parse_iterations(request.iterations, request.benchmark, request.warmup_iteration_count)


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
    from steelyard.measure.printed import parse_printed_metric

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


def build_experiment(request: Request) -> ExperimentSpec:
    """The specification of a new experiment, with its identifier and seed."""
    variants = build_variants(request)
    iterations = build_iterations(request)
    return ExperimentSpec(
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="comparison" if len(variants) > 1 else "measurement",
        variants=variants,
        metrics=build_metrics(request.metrics, iterations),
        seed=fresh_seed() if request.seed is None else request.seed,
        order=request.order,
        warmup_count=request.warmup_count,
        stopping=request.stopping,
        setup=_step(request.setup, request.shell, "--setup"),
        confidence=request.confidence,
        margin_ratio=request.margin_ratio,
        method=request.method,
        quiet=request.quiet,
        note=request.note,
        iterations=iterations,
    )
