"""The options that measure and compare share, and what becomes of their answer."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from steelyard.app.execute import Place
from steelyard.app.request import DEFAULT_METRICS, Request, split_command
from steelyard.app.session import Progress, Watcher
from steelyard.app.weigh import Gate, Weighing, gate_says_no
from steelyard.cli.output import write_json, write_note, write_text
from steelyard.core.errors import UsageError
from steelyard.core.model import Experiment, StoppingSpec
from steelyard.core.quantity import parse_budget, parse_cpus, parse_duration, parse_ratio
from steelyard.store.location import store_path

if TYPE_CHECKING:
    from steelyard.analysis.results import Answer

F = TypeVar("F", bound=Callable[..., Any])
TELLING_METRICS = ("wall_time", "user_time", "system_time", "max_rss")
DEFAULT_BUDGET = "10min"
GATE_STATUS = 1
FAILED_STATUS = 3
INTERRUPTED_STATUS = 130

_option = click.option

PROGRAM_OPTIONS = (
    _option("--name", "names", multiple=True, help="Name of a command, in their order."),
    _option("--shell", is_flag=True, help="Hand each command to /bin/sh -c as it stands."),
    _option(
        "--prepare",
        multiple=True,
        metavar="CMD",
        help="Run before each trial, untimed; once for all commands or once for each.",
    ),
    _option("--cleanup", multiple=True, metavar="CMD", help="Run after each trial, untimed."),
    _option("--setup", metavar="CMD", help="Run once before the first trial."),
    _option("--stdin", "stdin_file", metavar="FILE", help="Standard input of each trial."),
    _option("--directory", metavar="DIR", help="Working directory of each trial."),
    _option(
        "--env",
        "environment",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set a variable; NAME alone removes it.",
    ),
    _option(
        "--env-padding",
        "environment_padding_bytes",
        type=click.IntRange(0, 1 << 20),
        default=0,
        metavar="BYTES",
        help="Add a variable of this size.",
    ),
    _option("--timeout", metavar="TIME", help="End a trial that runs longer; it has failed."),
    _option(
        "--exit-code",
        "exit_codes",
        multiple=True,
        type=click.IntRange(0, 255),
        help="An exit code that counts as success (default 0).",
    ),
    _option(
        "--parameter",
        "parameters",
        multiple=True,
        metavar="NAME=V,V",
        help="Run for each value in place of {NAME}; several give every combination.",
    ),
    _option(
        "--metric",
        "metrics",
        multiple=True,
        metavar="NAME",
        help="What to weigh; the first given decides. NAME=regex:PATTERN:UNIT or "
        "NAME=json:PATH:UNIT reads what the program prints.",
    ),
)
ITERATION_OPTIONS = (
    _option(
        "--iterations",
        metavar="ADAPTER[:FILE]",
        help="Weigh the iterations that the program's harness writes; docs/ADAPTERS.md lists the "
        "adapters.",
    ),
    _option("--benchmark", metavar="NAME", help="Which benchmark, of a harness that runs several."),
    _option(
        "--warmup-iterations",
        "warmup_iteration_count",
        type=click.IntRange(0),
        help="Drop so many iterations of each run, instead of those that the harness marks.",
    ),
)
STOPPING_OPTIONS = (
    _option(
        "--precision",
        metavar="SHARE",
        help="Stop when each interval's half-width is within this (default 1%).",
    ),
    _option(
        "--budget",
        metavar="TIME|RUNS",
        help=f"Stop at this time or number of trials, such as 2min or 200runs "
        f"(default {DEFAULT_BUDGET}).",
    ),
    _option("--runs", type=click.IntRange(1), help="A fixed number of runs of each command."),
    _option("--min-runs", type=click.IntRange(2), help="Runs before the first look."),
)
DESIGN_OPTIONS = (
    _option(
        "--order",
        type=click.Choice(["blocks", "sequential"]),
        default="blocks",
        show_default=True,
        help="Randomised blocks, or one command after the other.",
    ),
    _option(
        "--warmup",
        "warmup_count",
        type=click.IntRange(0),
        default=0,
        help="Runs of each command that are not counted, first.",
    ),
    _option(
        "--confidence",
        default="95%",
        show_default=True,
        metavar="SHARE",
        help="Confidence of the intervals.",
    ),
    _option(
        "--margin",
        default="1%",
        show_default=True,
        metavar="SHARE",
        help="Differences inside it are called equivalent.",
    ),
    _option(
        "--method",
        type=click.Choice(["fieller", "bootstrap"]),
        default="fieller",
        show_default=True,
        help="How intervals are made.",
    ),
    _option("--seed", type=click.IntRange(0), help="Seed of every random choice."),
    _option("--note", default="", help="Words to keep with the experiment."),
)
HOST_OPTIONS = (
    _option("--cpus", metavar="LIST", help="CPUs that the programs may use, such as 1 or 0,2-3."),
    _option("--quiet", is_flag=True, help="Quiet the machine first, and undo it after."),
    _option(
        "--knob",
        "knobs",
        multiple=True,
        metavar="NAME",
        help="Quiet with these knobs alone (`steelyard host status` lists them).",
    ),
    _option("--wait", is_flag=True, help="Wait while another measurement holds the machine."),
)
ANSWER_OPTIONS = (
    _option("--store", metavar="FILE", help="The store to keep the experiment in."),
    _option("--json", "json_target", metavar="FILE", help="Write the answer as JSON; - prints."),
)


def options(*groups: tuple[Callable[[F], F], ...]) -> Callable[[F], F]:
    """A decorator that adds every option of the groups, to be listed in their order."""

    def add(function: F) -> F:
        for group in reversed(groups):
            for option in reversed(group):
                function = option(function)
        return function

    return add


def stopping_from(
    precision: str | None, budget: str | None, runs: int | None, min_runs: int | None
) -> StoppingSpec:
    """The rule to stop that the options ask for."""
    if runs is not None and (precision or min_runs):
        raise UsageError(
            "--runs fixes the number of runs; it does not go with --precision or --min-runs.",
            field="--runs",
        )
    budget_s, budget_runs = parse_budget(budget or DEFAULT_BUDGET, "--budget")
    if runs is not None and budget is None:
        budget_s = None
    default = StoppingSpec()
    return StoppingSpec(
        precision_ratio=parse_ratio(precision, "--precision")
        if precision
        else default.precision_ratio,
        minimum_blocks=min_runs or default.minimum_blocks,
        budget_s=budget_s,
        budget_runs=budget_runs,
        runs=runs,
    )


def request_from(commands: tuple[tuple[str, ...], ...], values: dict[str, Any]) -> Request:
    """The request that a call's options and commands make."""
    timeout = values["timeout"]
    quiet = values["knobs"] or (("default",) if values["quiet"] else ())
    return Request(
        commands=commands,
        timeout_s=None if timeout is None else parse_duration(timeout, "--timeout"),
        cpus=None if values["cpus"] is None else parse_cpus(values["cpus"], "--cpus"),
        exit_codes=values["exit_codes"] or (0,),
        stopping=stopping_from(
            values["precision"], values["budget"], values["runs"], values["min_runs"]
        ),
        confidence=parse_ratio(values["confidence"], "--confidence"),
        margin_ratio=parse_ratio(values["margin"], "--margin"),
        quiet=tuple(quiet),
        **{
            name: values[name]
            for name in (
                "shell",
                "names",
                "prepare",
                "cleanup",
                "setup",
                "environment",
                "environment_padding_bytes",
                "directory",
                "stdin_file",
                "parameters",
                "metrics",
                "order",
                "warmup_count",
                "method",
                "seed",
                "note",
                "iterations",
                "benchmark",
                "warmup_iteration_count",
            )
        },
    )


def split_commands(texts: tuple[str, ...], shell: bool) -> tuple[tuple[str, ...], ...]:
    """Commands as argument vectors; with a shell each stays one string."""
    if shell:
        return tuple((text,) for text in texts)
    return tuple(split_command(text, "command") for text in texts)


def place_from(values: dict[str, Any]) -> Place:
    """Where the experiment is kept."""
    return Place(store_path(values["store"]), values.get("wait", False), write_note)


def parse_gate(text: str | None) -> Gate | None:
    """A gate from ``slower`` or ``slower:2%``."""
    if text is None:
        return None
    verdict, separator, share = text.partition(":")
    if verdict not in ("slower", "faster"):
        raise UsageError(
            f"--fail-if takes slower or faster, or slower:2%; it got {text!r}.", field="--fail-if"
        )
    return Gate(verdict, parse_ratio(share, "--fail-if") if separator else 0.0)


def _width_text(half_width_ratio: float | None) -> str:
    return "" if half_width_ratio is None else f"± {half_width_ratio:.1%}"


@contextlib.contextmanager
def watching(json_target: str | None) -> Iterator[Watcher | None]:
    """A progress line for a person at a terminal; nothing where nobody watches."""
    from steelyard.report.progress import Progress as ProgressLine

    if json_target == "-" or not sys.stderr.isatty():
        yield None
        return
    with ProgressLine(sys.stderr) as line:

        def tell(progress: Progress) -> None:
            line.update(
                progress.blocks, _width_text(progress.half_width_ratio), progress.expected_left_s
            )

        yield tell


def show(
    weighing: Weighing,
    json_target: str | None,
    gate: Gate | None = None,
    asked: Sequence[str] = (),
) -> int:
    """Print the answer, write its JSON, and give the exit status.

    Of the metrics that come unasked only the most telling are printed; JSON and report have all.
    """
    answer, experiment = weighing.answer, weighing.experiment
    if json_target != "-":
        from steelyard.report.terminal import terminal_text

        is_terminal = sys.stdout.isatty()
        hidden = set(DEFAULT_METRICS) - set(TELLING_METRICS) - set(asked)
        width = os.get_terminal_size().columns if is_terminal else 80
        text = terminal_text(
            answer,
            is_terminal=is_terminal,
            environment=os.environ,
            width=width,
            hidden=hidden,
        )
        write_text(text + "\n")
    if json_target is not None:
        write_json(document_of(answer, experiment), json_target)
    if gate is not None and gate_says_no(gate, answer):
        return GATE_STATUS
    if any(variant.failed for variant in answer.variants):
        return FAILED_STATUS
    return INTERRUPTED_STATUS if answer.stopped == "interrupted" else 0


def document_of(answer: Answer, experiment: Experiment) -> dict[str, Any]:
    """The JSON object of an answer."""
    from steelyard.report.json.comparison import comparison_document
    from steelyard.report.json.measurement import measurement_document

    if answer.kind == "comparison":
        return comparison_document(answer, experiment)
    return measurement_document(answer, experiment)
