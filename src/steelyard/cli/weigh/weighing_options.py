"""The options that measure and compare share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from steelyard.cli.options.option_groups import group, option
from steelyard.cli.options.option_ranges import MOST_RUNS, MOST_WARMUPS, RUNS, SEED
from steelyard.cli.options.shared_options import (
    json_option,
    share_option,
    store_option,
    wait_option,
)
from steelyard.cli.weigh.program_options import IterationOptions, LevelOptions, ProgramOptions


@dataclass(frozen=True, kw_only=True)
class StoppingOptions:
    """When to stop."""

    precision: str | None = option(
        "--precision",
        metavar="SHARE",
        help="Stop when each interval's half-width is within this. By default measure stops at "
        "1%, and compare when every verdict is decided.",
    )
    budget: str | None = option(
        "--budget",
        metavar="TIME|RUNS",
        help="Stop at this time or number of trials, such as 2min or 200runs (default: a minute "
        "for each program, at most 10min; 10min with --precision, --min-runs or builds).",
    )
    runs: int | None = option("--runs", type=RUNS, help="A fixed number of runs of each command.")
    min_runs: int | None = option(
        "--min-runs", type=click.IntRange(2, MOST_RUNS), help="Runs before the first look."
    )


@dataclass(frozen=True, kw_only=True)
class JudgingOptions:
    """How variants are ordered and judged."""

    order: Literal["blocks", "parallel", "sequential"] = option(
        "--order",
        type=click.Choice(["blocks", "parallel", "sequential"]),
        default="blocks",
        show_default=True,
        help="Randomised blocks, each run after run or all at the same time; or all runs of one "
        "command, then of the next.",
    )
    confidence: str = share_option("--confidence", "95%", "Confidence of the intervals.")
    margin: str = share_option(
        "--margin", "1%", "Differences inside it are equivalent; faster and slower are beyond it."
    )
    method: Literal["fieller", "bootstrap"] = option(
        "--method",
        type=click.Choice(["fieller", "bootstrap"]),
        default="fieller",
        show_default=True,
        help="How intervals are made.",
    )


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """What is said of the session."""

    warmup_count: int = option(
        "--warmup",
        type=click.IntRange(0, MOST_WARMUPS),
        default=0,
        help="Runs of each command that are not counted, first.",
    )
    seed: int | None = option("--seed", type=SEED, help="Seed of every random choice.")
    note: str = option("--note", default="", help="Words to keep with the experiment.")


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """The machine: its CPUs, and how quiet it is."""

    cpus: str | None = option(
        "--cpus", metavar="LIST", help="CPUs that the programs may use, such as 1 or 0,2-3."
    )
    quiet: bool = option(
        "--quiet", is_flag=True, help="Quiet the machine first, and undo it after."
    )
    knobs: tuple[str, ...] = option(
        "--knob",
        multiple=True,
        metavar="NAME",
        help="Quiet with these knobs alone (`steelyard host status` lists them).",
    )
    wait: bool = wait_option()


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Where the experiment and the answer go."""

    store: str | None = store_option("The store to keep the experiment in.")
    json_target: str | None = json_option("Write the answer as JSON; - prints.")


@dataclass(frozen=True, kw_only=True)
class WeighingOptions:
    """All that an experiment is asked for by."""

    program: ProgramOptions = group(ProgramOptions)
    iteration: IterationOptions = group(IterationOptions)
    level: LevelOptions = group(LevelOptions)
    dimensioned: bool = option(
        "--dimensioned",
        is_flag=True,
        help="Repeat the levels below the highest as often as the stored initial experiment "
        "(`steelyard dimension`) found best.",
    )
    stopping: StoppingOptions = group(StoppingOptions)
    judging: JudgingOptions = group(JudgingOptions)
    session: SessionOptions = group(SessionOptions)
    machine: MachineOptions = group(MachineOptions)
    answer: AnswerOptions = group(AnswerOptions)
