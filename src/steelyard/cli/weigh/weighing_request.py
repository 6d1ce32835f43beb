"""From the values of options to what the use cases take."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.app.request.build_request import BuildRequest
from steelyard.app.request.command_text import (
    is_suite_name,
    leading_assignments,
    parse_environment,
    split_command,
)
from steelyard.app.request.level_request import RequestedLevels, requested_levels
from steelyard.app.request.request import Request
from steelyard.app.running import Place, told_place
from steelyard.cli.console.masked_values import hide
from steelyard.cli.console.output import write_note
from steelyard.cli.weigh.program_options import LevelOptions, ProgramOptions
from steelyard.cli.weigh.weighing_options import StoppingOptions, WeighingOptions
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_budget, parse_cpus, parse_duration, parse_ratio
from steelyard.core.recorded_names import names_secret
from steelyard.core.stopping_spec import MEAN_MINIMUM_BLOCKS, StoppingSpec, StoppingUntil


def stopping_from(
    asked: StoppingOptions,
    runs: int | None,
    until: StoppingUntil,
    fewest: int = StoppingSpec.minimum_blocks,
) -> StoppingSpec:
    """The rule to stop that the options ask for, with `runs` in place of theirs; `until` and
    `fewest` where they ask for none."""
    if runs is not None and (asked.precision or asked.min_runs):
        raise UsageError(
            "--runs fixes the number of runs; it does not go with --precision or --min-runs.",
            field="--runs",
        )
    budget_s, budget_runs = (None, None)
    if asked.budget is not None:
        budget_s, budget_runs = parse_budget(asked.budget, "--budget")
    default = StoppingSpec()
    return StoppingSpec(
        precision_ratio=parse_ratio(asked.precision, "--precision")
        if asked.precision
        else default.precision_ratio,
        minimum_blocks=asked.min_runs or fewest,
        budget_s=budget_s,
        budget_runs=budget_runs,
        runs=runs,
        until="precision" if asked.precision else until,
    )


def request_from(
    commands: tuple[tuple[str, ...], ...],
    given: WeighingOptions,
    until: StoppingUntil = "precision",
) -> Request:
    """The request that a call's options and commands make.

    Variants that run one after the other cannot end by their verdicts: the baseline's runs are
    over before the first of another one.
    """
    program, iteration, judging = given.program, given.iteration, given.judging
    session, machine = given.session, given.machine
    levels = _levels(commands, given)
    assigned = [pair for command in commands for pair in leading_assignments(command)[0]]
    changes = (*parse_environment(program.environment), *assigned)
    hide(value for name, value in changes if names_secret(name))
    return Request(
        commands=commands,
        shell=program.shell,
        names=program.names,
        prepare=program.prepare,
        cleanup=program.cleanup,
        setup=program.setup,
        environment=program.environment,
        environment_padding_bytes=program.environment_padding_bytes,
        recorded_environment=program.recorded_environment,
        directory=program.directory,
        stdin_file=program.stdin_file,
        parameters=program.parameters,
        layouts=program.layouts,
        metrics=program.metrics,
        timeout_s=_duration(program.timeout, "--timeout"),
        exit_codes=program.exit_codes or (0,),
        iterations=iteration.iterations,
        benchmark=iteration.benchmark,
        warmup_iteration_count=iteration.warmup_iteration_count,
        levels=levels,
        dimensioned=given.dimensioned,
        build=_build(given.level),
        stopping=_levelled_stopping(
            levels,
            given.stopping,
            "precision" if judging.order == "sequential" else until,
            _fewest_blocks(commands, program),
        ),
        usual_budget=given.stopping.budget is None,
        patient=_is_patient(given, levels),
        order=judging.order,
        method=judging.method,
        confidence=parse_ratio(judging.confidence, "--confidence"),
        margin_ratio=parse_ratio(judging.margin, "--margin"),
        warmup_count=session.warmup_count,
        seed=session.seed,
        note=session.note,
        cpus=None if machine.cpus is None else parse_cpus(machine.cpus, "--cpus"),
        quiet=machine.knobs or (("default",) if machine.quiet else ()),
    )


def _is_patient(given: WeighingOptions, levels: RequestedLevels) -> bool:
    asked = given.stopping
    return bool(asked.precision or asked.min_runs or levels.levels or given.level.build_commands)


def _levels(commands: tuple[tuple[str, ...], ...], given: WeighingOptions) -> RequestedLevels:
    levels = requested_levels(
        given.level.levels,
        given.level.repeat,
        builds=builds_asked(commands, given.level),
        # Whether a program of the suite writes iterations, its recipe says.
        iterations=given.iteration.iterations is not None
        or any(is_suite_name(c[0]) for c in commands),
    )
    if given.dimensioned and given.level.repeat:
        raise UsageError(
            "--dimensioned takes the counts from the store; it does not go with --repeat.",
            field="--dimensioned",
        )
    return levels


def _fewest_blocks(commands: tuple[tuple[str, ...], ...], program: ProgramOptions) -> int:
    """Blocks before the first look where no option says how many."""
    alone = len(commands) == 1 and not (program.parameters or program.layouts)
    return MEAN_MINIMUM_BLOCKS if alone else StoppingSpec.minimum_blocks


def _build(given: LevelOptions) -> BuildRequest:
    return BuildRequest(
        commands=given.build_commands,
        sources=given.build_sources,
        randomize=tuple(given.randomize.split(",")) if given.randomize else (),
        timeout_s=_duration(given.build_timeout, "--build-timeout"),
        cc=given.cc,
        cxx=given.cxx,
        ld=given.ld,
    )


def builds_asked(commands: tuple[tuple[str, ...], ...], given: LevelOptions) -> bool:
    """Whether there are builds that may be repeated: by command, or of programs of the suite."""
    if given.build_commands:
        return True
    asked = any(text.startswith("build=") for text in given.repeat) or given.randomize
    return bool(asked) and is_suite_name(commands[0][0])


def _duration(text: str | None, option: str) -> float | None:
    return None if text is None else parse_duration(text, option)


def _levelled_stopping(
    levels: RequestedLevels, asked: StoppingOptions, until: StoppingUntil, fewest: int
) -> StoppingSpec:
    """The rule to stop; a count of the highest level is a fixed number of runs."""
    if levels.top_count is None:
        return stopping_from(asked, asked.runs, until, fewest)
    others = {"--runs": asked.runs, "--precision": asked.precision, "--min-runs": asked.min_runs}
    for name, value in others.items():
        if value is not None:
            raise UsageError(
                f"--repeat {levels.top_level}={levels.top_count} fixes the repetitions of the "
                f"highest level; it does not go with {name}.",
                field="--repeat",
            )
    return stopping_from(asked, levels.top_count, until, fewest)


def split_commands(texts: tuple[str, ...], shell: bool) -> tuple[tuple[str, ...], ...]:
    """Commands as argument vectors; with a shell each stays one string."""
    if shell:
        return tuple((text,) for text in texts)
    return tuple(
        (text,) if is_suite_name(text) else split_command(text, "command") for text in texts
    )


def place_from(store: str | None, wait: bool, say: Callable[[str], None] = write_note) -> Place:
    """Where the experiment is kept; `say` is told in sentences what is done."""
    return told_place(store, wait, say)
