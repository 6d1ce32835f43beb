"""Describe programs of the suite from measurements on this machine."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace

from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import ReadyProgram, Workshop
from steelyard.app.suite.suite_run import run_once, run_programs
from steelyard.core.errors import SteelyardError
from steelyard.core.experiment_spec import Variant
from steelyard.profile.recording_request import Recording
from steelyard.suite.count_allocations import count_allocations
from steelyard.suite.program_figures import Allocations, Description, Shares
from steelyard.suite.recipe import Recipe
from steelyard.suite.recipe_expansion import is_compiled

# A prime number of microseconds, so that no period of the program's own is in step with it.
_PERIOD_NS = 997e3


def describe_programs(
    chosen: Sequence[tuple[Recipe, SuiteName]], workshop: Workshop, runs: int, *, wait: bool = False
) -> list[Description]:
    """Run each program `runs` times, once more under the sampler, and once with its allocations
    counted."""
    found: list[Description] = []
    for recipe, asked in chosen:
        (run,) = run_programs([(recipe, asked)], workshop, runs, wait=wait)
        if run.problem:
            found.append(Description(run))
            continue
        workshop.say(f"looking into {recipe.name}")
        found.append(_looked_into(Description(run), workshop.ready(recipe, asked), workshop))
    return found


def _looked_into(found: Description, ready: ReadyProgram, workshop: Workshop) -> Description:
    notes: list[str] = []
    build = ready.build
    if build is not None:
        found = replace(found, build_s=build.cost_s)
    program = ready.variant.launch.argv[0]
    shares: Shares | None = None
    try:
        shares = _shares(ready.variant, _binary(ready))
    except SteelyardError as error:
        notes.append(f"Shares of time are not known: {error.message}")
    allocations: Allocations | None = None
    if is_compiled(ready.recipe):
        from steelyard.profile.symbols.elf_symbols import read_symbols

        binary = _binary(ready) or program
        found = replace(found, function_count=len(read_symbols(binary).names) or None)
        try:
            allocations = _allocations(ready, workshop)
        except SteelyardError as error:
            notes.append(f"Allocations are not known: {error.message}")
    return replace(found, shares=shares, allocations=allocations, notes=tuple(notes))


def _binary(ready: ReadyProgram) -> str | None:
    """The file that was built; None for programs that something else runs."""
    if ready.build is None or not ready.recipe.build.program:
        return None
    return os.path.join(ready.build.directory, ready.recipe.build.program)


def _allocations(ready: ReadyProgram, workshop: Workshop) -> Allocations | None:
    def run(environment: dict[str, str]) -> None:
        run_once(ready.recipe, ready.variant, os.devnull, environment)

    return count_allocations(workshop.cache, run)


def _shares(variant: Variant, binary: str | None) -> Shares | None:
    """Where the time of one run goes, by samples at random times."""
    import numpy as np

    from steelyard.profile.attribution import attribute
    from steelyard.profile.file.profile_file import read_profile
    from steelyard.profile.sampler import record

    with tempfile.TemporaryDirectory(prefix="steelyard-suite-") as directory:
        output = os.path.join(directory, "profile")
        record(Recording(output, _in_place(variant), period_ns=_PERIOD_NS, threads_only=True))
        samples = attribute(read_profile(output))
    if not len(samples.functions):
        return None
    own = {index for index, frame in enumerate(samples.frames) if frame.object == binary}
    in_own = np.isin(samples.functions, list(own))
    return Shares(
        program=float((in_own & ~samples.in_kernel).mean()),
        libraries=float((~in_own & ~samples.in_kernel).mean()),
        kernel=float(samples.in_kernel.mean()),
        sample_count=len(samples.functions),
        function_count=len(np.unique(samples.functions)),
    )


def _in_place(variant: Variant) -> tuple[str, ...]:
    """The program in its directory, with its preparation, variables and input, and no output."""
    launch = variant.launch
    variables = [f"{name}={value}" for name, value in launch.environment if value is not None]
    prepare = shlex.join(variant.prepare) if variant.prepare else ":"
    script = f'cd "$1" && {prepare} && exec <"$2" >/dev/null 2>&1 && shift 2 && exec env "$@"'
    start, stdin = launch.working_directory or ".", launch.stdin_file or os.devnull
    return ("/bin/sh", "-c", script, "sh", start, stdin, *variables, *launch.argv)
