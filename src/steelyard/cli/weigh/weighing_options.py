"""The options that measure and compare share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from steelyard.cli.options.strict_options import MOST_RUNS, MOST_WARMUPS, RUNS, SEED
from steelyard.cli.weigh.weighing_request import DEFAULT_BUDGET

F = TypeVar("F", bound=Callable[..., Any])

_option = click.option

RECORD_OPTION = _option(
    "--record-env",
    "recorded_environment",
    multiple=True,
    metavar="NAME",
    help="Keep the value of this variable too; of others that explain no result a digest.",
)
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
    RECORD_OPTION,
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
        "--layout",
        "layouts",
        multiple=True,
        metavar="PARTS[@TIME]",
        help="What moves in programs that `steelyard cc` built, such as none, all@500ms, "
        "code,heap@off; several compare them.",
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
        type=click.IntRange(0, MOST_RUNS),
        help="Drop so many iterations of each run, instead of those that the harness marks.",
    ),
)
LEVEL_OPTIONS = (
    _option(
        "--build",
        "build_commands",
        multiple=True,
        metavar="CMD",
        help="Build the program with this, anew for each repetition; once for all commands or "
        "once for each. {build} in commands is the directory of the build.",
    ),
    _option(
        "--build-source",
        "build_sources",
        multiple=True,
        metavar="DIR",
        help="Copy this into the directory of each build first.",
    ),
    _option("--build-timeout", metavar="TIME", help="End a build that takes longer; it failed."),
    _option(
        "--randomize",
        metavar="NAME,NAME",
        help="Randomise the layout of each build, such as link-order,function-order; "
        "docs/BUILDS.md lists how.",
    ),
    _option("--cc", multiple=True, metavar="CMD", help="The C compiler of builds."),
    _option("--cxx", multiple=True, metavar="CMD", help="The C++ compiler of builds."),
    _option("--ld", multiple=True, metavar="CMD", help="The linker of builds."),
    _option(
        "--repeat",
        multiple=True,
        metavar="LEVEL=COUNT",
        help="Repetitions of a level in each of the one above, such as build=10, execution=3, "
        "iteration=20. The highest level is repeated until it is precise unless named here.",
    ),
    _option(
        "--level",
        "levels",
        multiple=True,
        metavar="NAME[=CMD]",
        help="A level of your own above builds and executions, highest first; CMD is run at the "
        "start of each of its repetitions.",
    ),
)
DIMENSIONED_OPTION = (
    _option(
        "--dimensioned",
        is_flag=True,
        help="Repeat the levels below the highest as often as the stored initial experiment "
        "(`steelyard dimension`) found best.",
    ),
)
STOPPING_OPTIONS = (
    _option(
        "--precision",
        metavar="SHARE",
        help="Stop when each interval's half-width is within this. By default measure stops at "
        "1%, and compare when every verdict is decided.",
    ),
    _option(
        "--budget",
        metavar="TIME|RUNS",
        help=f"Stop at this time or number of trials, such as 2min or 200runs "
        f"(default {DEFAULT_BUDGET}).",
    ),
    _option("--runs", type=RUNS, help="A fixed number of runs of each command."),
    _option("--min-runs", type=click.IntRange(2, MOST_RUNS), help="Runs before the first look."),
)
JUDGING_OPTIONS = (
    _option(
        "--order",
        type=click.Choice(["blocks", "sequential"]),
        default="blocks",
        show_default=True,
        help="Randomised blocks, or one command after the other.",
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
        help="Differences inside it are equivalent; faster and slower are beyond it.",
    ),
    _option(
        "--method",
        type=click.Choice(["fieller", "bootstrap"]),
        default="fieller",
        show_default=True,
        help="How intervals are made.",
    ),
)
SESSION_OPTIONS = (
    _option(
        "--warmup",
        "warmup_count",
        type=click.IntRange(0, MOST_WARMUPS),
        default=0,
        help="Runs of each command that are not counted, first.",
    ),
    _option("--seed", type=SEED, help="Seed of every random choice."),
    _option("--note", default="", help="Words to keep with the experiment."),
)
DESIGN_OPTIONS = (*JUDGING_OPTIONS, *SESSION_OPTIONS)
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
