"""The initial experiment of a program, and its designs as they run."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.dimension_programs.designs import (
    FIXED_COUNT,
    PRECISION_RATIO,
    Design,
    Found,
    default_half_width,
    default_time,
)
from benchmarks.dimension_programs.dimensioned_programs import Program

_BLOCK_COUNT = 30
_SEED = 20130621


def dimensioned(program: Program, store: str) -> Found:
    """Dimension a program from an initial experiment of 30 x 30."""
    fixed = design(program, FIXED_COUNT, FIXED_COUNT, store)
    document = steelyard("dimension", *fixed)
    levels = {level["level"]: level for level in document["levels"]}
    start_s, iteration_s = (levels[name]["cost_s"] for name in ("execution", "iteration"))
    mean = document["mean"]["estimate"]
    execution, iteration = (
        max(0.0, levels[name]["variance"]) / mean**2 for name in ("execution", "iteration")
    )
    relative = (execution, iteration)
    default = program.default
    found = Found(
        name=program.name,
        iteration_s=iteration_s,
        start_s=start_s,
        relative=relative,
        iteration_count=document["counts"]["iteration"],
        fixed_ratio=half_width(document["mean"]) / mean,
        default=default,
        default_s=default_time(default, start_s, iteration_s, program.warmup_count),
        default_ratio=default_half_width(default, relative, iteration_s),
        warnings=tuple(warning["code"] for warning in document["warnings"]),
    )
    # What is compared is what the command promises.
    row = next(r for r in document["table"] if r["half_width_ratio"] == PRECISION_RATIO)
    promised_s = row["time_s"]
    if promised_s is not None and not math.isclose(promised_s, found.one_percent_s, rel_tol=1e-6):
        sys.exit(f"{program.name}: 1 % takes {promised_s} s or {found.one_percent_s} s")
    return found


def side_by_side(program: Program, found: Found, store: str) -> Found:
    """The same with both designs as they ran, in blocks of one execution of each."""
    draw = random.Random(_SEED)
    counts = (FIXED_COUNT, found.iteration_count)
    means: tuple[list[float], ...] = ([], [])
    costs: tuple[list[float], ...] = ([], [])
    options = [design(program, 1, count, store) for count in counts]
    for _ in range(_BLOCK_COUNT):
        for place in draw.sample(range(2), 2):
            variant = steelyard("measure", *options[place])["variants"][0]
            means[place].append(variant["metrics"]["iteration_time"]["mean"]["estimate"])
            costs[place].append(variant["metrics"]["wall_time"]["mean"]["estimate"])
    fixed, chosen = (Design(counts[place], means[place], costs[place]) for place in range(2))
    return replace(found, fixed=fixed, chosen=chosen)


def design(program: Program, executions: int, iterations: int, store: str) -> tuple[str, ...]:
    """The options that both commands take for a design of fixed counts."""
    counts = ("--repeat", f"execution={executions}", "--repeat", f"iteration={iterations}")
    warmup = program.warmup_count
    dropped = () if warmup is None else ("--warmup-iterations", str(warmup))
    reading = ("--iterations", program.adapter, *dropped)
    return (*reading, *counts, "--store", store, *command(program, store))


def command(program: Program, store: str) -> tuple[str, ...]:
    """The command of a program as the suite has it, with longer iterations; its options first."""
    told = steelyard("measure", "--runs", "1", "--store", store, f"suite:{program.name}@size=test")
    shown = steelyard("show", "--store", store, told["experiment"])
    launch = shown["specification"]["variants"][0]["launch"]
    argv = [program.words.get(place, word) for place, word in enumerate(launch["argv"])]
    if program.text_count > 1:
        place = next(i for i, word in enumerate(argv) if word.endswith("prose.txt"))
        longer = Path(store).with_name(f"{program.name}.txt")
        longer.write_bytes(Path(argv[place]).read_bytes() * program.text_count)
        argv[place] = str(longer)
    changes = [f"{name}={value}" for name, value in launch["environment"] if value is not None]
    options = [word for change in changes for word in ("--env", change)]
    if launch["working_directory"] is not None:
        options += ["--directory", launch["working_directory"]]
    return (*options, "--name", program.name, "--", *argv)


def steelyard(name: str, *arguments: str) -> dict[str, Any]:
    """What the command `name` of Steelyard answers."""
    program = str(Path(sys.executable).with_name("steelyard"))
    done = subprocess.run(
        [program, name, "--json", "-", *arguments], stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout)


def half_width(estimate: dict[str, float]) -> float:
    """Half of an interval."""
    return (estimate["high"] - estimate["low"]) / 2
