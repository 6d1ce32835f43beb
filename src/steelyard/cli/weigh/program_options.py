"""The options of what is run: a program, its iterations, its builds and levels."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.options.option_groups import option, repeated_option
from steelyard.cli.options.option_ranges import MOST_RUNS
from steelyard.cli.options.shared_options import recorded_environment_option


@dataclass(frozen=True, kw_only=True)
class ProgramOptions:
    """The program, and what surrounds each run of it."""

    bench: str | None = option(
        "--bench",
        metavar="NAME",
        help="The benchmark of this name in steelyard.toml: its commands, with its options.",
    )
    names: tuple[str, ...] = option(
        "--name", multiple=True, help="Name of a command, in their order."
    )
    shell: bool = option(
        "--shell", is_flag=True, help="Hand each command to /bin/sh -c as it stands."
    )
    prepare: tuple[str, ...] = repeated_option(
        "--prepare",
        "CMD",
        "Run before each trial, untimed; once for all commands or once for each.",
    )
    cleanup: tuple[str, ...] = repeated_option("--cleanup", "CMD", "Run after each trial, untimed.")
    setup: str | None = option("--setup", metavar="CMD", help="Run once before the first trial.")
    stdin_file: str | None = option("--stdin", metavar="FILE", help="Standard input of each trial.")
    directory: str | None = option(
        "--directory", metavar="DIR", help="Working directory of each trial."
    )
    environment: tuple[str, ...] = repeated_option(
        "--env", "NAME=VALUE", "Set a variable; NAME alone removes it."
    )
    recorded_environment: tuple[str, ...] = recorded_environment_option()
    environment_padding_bytes: int = option(
        "--env-padding",
        type=click.IntRange(0, 1 << 20),
        default=0,
        metavar="BYTES",
        help="Add a variable of this size.",
    )
    timeout: str | None = option(
        "--timeout", metavar="TIME", help="End a trial that runs longer; it has failed."
    )
    exit_codes: tuple[int, ...] = option(
        "--exit-code",
        multiple=True,
        type=click.IntRange(0, 255),
        help="An exit code that counts as success (default 0).",
    )
    parameters: tuple[str, ...] = repeated_option(
        "--parameter",
        "NAME=V,V",
        "Run for each value in place of {NAME}; several give every combination.",
    )
    layouts: tuple[str, ...] = repeated_option(
        "--layout",
        "PARTS[@TIME]",
        "What moves in programs that `steelyard cc` built, such as none, all@500ms, "
        "code,heap@off; several compare them.",
    )
    metrics: tuple[str, ...] = repeated_option(
        "--metric",
        "NAME",
        "What to weigh; the first given decides. NAME=regex:PATTERN:UNIT or "
        "NAME=json:PATH:UNIT reads what the program prints.",
    )


@dataclass(frozen=True, kw_only=True)
class IterationOptions:
    """The iterations inside a run."""

    iterations: str | None = option(
        "--iterations",
        metavar="ADAPTER[:FILE]",
        help="Weigh the iterations that the program's harness writes; docs/ADAPTERS.md lists the "
        "adapters.",
    )
    benchmark: str | None = option(
        "--benchmark", metavar="NAME", help="Which benchmark, of a harness that runs several."
    )
    warmup_iteration_count: int | None = option(
        "--warmup-iterations",
        type=click.IntRange(0, MOST_RUNS),
        help="Drop so many iterations of each run, instead of those that the harness marks.",
    )


@dataclass(frozen=True, kw_only=True)
class LevelOptions:
    """Builds, and how often each level is repeated."""

    build_commands: tuple[str, ...] = repeated_option(
        "--build",
        "CMD",
        "Build the program with this, anew for each repetition; once for all commands or "
        "once for each. {build} in commands is the directory of the build.",
    )
    build_sources: tuple[str, ...] = repeated_option(
        "--build-source", "DIR", "Copy this into the directory of each build first."
    )
    build_timeout: str | None = option(
        "--build-timeout", metavar="TIME", help="End a build that takes longer; it failed."
    )
    randomize: str | None = option(
        "--randomize",
        metavar="NAME,NAME",
        help="Randomise the layout of each build, such as link-order,function-order; "
        "docs/BUILDS.md lists how.",
    )
    cc: tuple[str, ...] = repeated_option("--cc", "CMD", "The C compiler of builds.")
    cxx: tuple[str, ...] = repeated_option("--cxx", "CMD", "The C++ compiler of builds.")
    ld: tuple[str, ...] = repeated_option("--ld", "CMD", "The linker of builds.")
    repeat: tuple[str, ...] = repeated_option(
        "--repeat",
        "LEVEL=COUNT",
        "Repetitions of a level in each of the one above, such as build=10, execution=3, "
        "iteration=20. The highest level is repeated until it is precise unless named here.",
    )
    levels: tuple[str, ...] = repeated_option(
        "--level",
        "NAME[=CMD]",
        "A level of your own above builds and executions, highest first; CMD is run at the "
        "start of each of its repetitions.",
    )
