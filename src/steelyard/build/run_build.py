"""Run the build of a program in a new directory of its own."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from steelyard.build import build_supervisor as keeper
from steelyard.build.records import judge, read_records, summary
from steelyard.build.side_files import beside
from steelyard.build.wrappers import make_wrappers
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError, UsageError
from steelyard.core.process_state import kept_awake

PLACE = "{build}"
DIRECTORY_VARIABLE = "STEELYARD_BUILD_DIR"
# Enough to see the compiler's complaint and the lines of make around it.
# Less than what the smallest program of a few files takes to be built.
_SCARCE_BYTES = 1 << 20
_SHOWN_LINES = 12
# Of a shell: a signal ended what it ran; sh(1).
_ENDED_BY_SIGNAL = 128


@dataclass(frozen=True)
class Build:
    """A program that was built.

    Parameters
    ----------
    directory : str
        Where it was built: what ``{build}`` stands for.
    cost_s : float
        The time that the build command took, without the copy of the source.
    realised : mapping
        For provenance: the seed, and of each randomisation the order that was found in the
        binaries.
    log : str
        The file with what the build command wrote.
    """

    directory: str
    cost_s: float
    realised: Mapping[str, Any] = field(default_factory=dict[str, Any])
    log: str = ""


def run_build(spec: BuildSpec, seed: int, directory: str) -> Build:
    """Make `directory`, copy the source into it and run the build command there.

    Beside it a directory of the same name with ``.steelyard`` appended keeps the log and the
    records of the linker. The command runs in its own process group with an empty input; when
    it has ended, or Steelyard has, nothing that it started is left running.

    Parameters
    ----------
    spec : BuildSpec
        What to build, and what to randomise.
    seed : int
        The seed of this build: the same one gives the same layout.
    directory : str
        A path where nothing is yet.

    Raises
    ------
    UsageError
        `directory` exists, or lies inside the source.
    BuildFailedError
        The source cannot be copied, or the command cannot be started, fails or takes too long.
        The directory and its log stay.
    RandomizationError
        What was built cannot be randomised as asked.
    MissingCapabilityError
        A compiler is missing.
    """
    directory = os.path.abspath(directory)
    _make_directory(spec, directory)
    log = os.path.join(beside(directory), "log")
    environment = build_environment(spec, directory)
    argv = [word.replace(PLACE, directory) for word in spec.argv]
    if not spec.randomize:
        cost_s = _run(argv, directory, environment, spec.timeout_s)
        return Build(directory, cost_s, {"seed": seed}, log)
    removed = {name for name, value in spec.environment if value is None}
    wrappers = make_wrappers(spec, seed, directory, environment)
    environment |= {name: value for name, value in wrappers.items() if name not in removed}
    cost_s = _run(argv, directory, environment, spec.timeout_s)
    records = read_records(directory)
    judge(records, spec.randomize, directory)
    realised = {"seed": seed, "randomize": spec.randomize, **summary(records, directory)}
    if spec.seeds:
        realised["seeds"] = dict(spec.seeds)
    return Build(directory, cost_s, realised, log)


def remove_build(build: Build) -> None:
    """Remove the directory of a build, and what is kept beside it."""
    remove_directories(build.directory)


def remove_directories(directory: str) -> None:
    """Remove a build's directory and the one beside it, as far as they are there.

    A build may have made directories that may not be written to, such as those of Go modules.
    """
    for path in (directory, beside(directory)):
        for folder, _, _ in os.walk(path):
            os.chmod(folder, 0o700)
        if os.path.isdir(path):
            shutil.rmtree(path)


# Steelyard may itself be called by a make, whose flags and job server are not this build's.
_OF_AN_OUTER_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")


def build_environment(spec: BuildSpec, directory: str) -> dict[str, str]:
    """The environment of the build command."""
    environment = {**os.environ, DIRECTORY_VARIABLE: directory, **dict(spec.compilers)}
    for name in _OF_AN_OUTER_MAKE:
        environment.pop(name, None)
    for name, value in spec.environment:
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value.replace(PLACE, directory)
    return environment


def _make_directory(spec: BuildSpec, directory: str) -> None:
    if os.path.lexists(directory) or os.path.lexists(beside(directory)):
        raise UsageError(
            f"A build needs a new directory, but {directory} is there already. Remove it.",
            field="directory",
        )
    if not spec.argv:
        raise UsageError("A build needs a command.", field="build")
    try:
        os.makedirs(beside(directory))
        if spec.source is None:
            os.mkdir(directory)
        else:
            _copy_source(os.path.abspath(spec.source), directory)
    except (OSError, shutil.Error) as error:
        raise BuildFailedError(
            f"The directory {directory} for the build could not be made: {_reason(error)}"
        ) from None


def _copy_source(source: str, directory: str) -> None:
    if os.path.commonpath([os.path.realpath(source), os.path.realpath(directory)]) == (
        os.path.realpath(source)
    ):
        raise UsageError(
            f"The directory for the build, {directory}, lies inside the source {source}, which "
            "is to be copied into it. Name one outside.",
            field="directory",
        )
    shutil.copytree(source, directory, symlinks=True, ignore=shutil.ignore_patterns(".git"))


def _reason(error: OSError | shutil.Error) -> str:
    if isinstance(error, shutil.Error):
        source, _, why = error.args[0][0]
        return f"{source}: {why}"
    return f"{error.filename or ''}: {error.strerror}"


def _run(
    argv: Sequence[str], directory: str, environment: Mapping[str, str], timeout_s: float | None
) -> float:
    """Run the command to its end and give the seconds that it took."""
    lifeline, ours = os.pipe2(os.O_CLOEXEC)
    answers, theirs = os.pipe2(os.O_CLOEXEC)
    with open(os.path.join(beside(directory), "log"), "wb") as log:
        started_s = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-IS", keeper.__file__, str(theirs), *argv],
            stdin=lifeline,
            stdout=log,
            stderr=log,
            cwd=directory,
            env=environment,
            pass_fds=(theirs,),
            start_new_session=True,
        )
    os.close(lifeline)
    os.close(theirs)
    late = False
    with kept_awake(process.pid):
        try:
            with os.fdopen(answers, "rb") as pipe:
                late = not select.select([pipe], [], [], timeout_s)[0]
                if late:
                    os.close(ours)
                answer = json.loads(pipe.read() or b'{"error": "its keeper was killed"}')
        finally:
            if not late:
                os.close(ours)
            process.wait()
    cost_s = time.monotonic() - started_s
    if late:
        _fail(argv, directory, f"took longer than {timeout_s:g} s and was ended")
    if answer != {"status": 0}:
        itself = 0 < answer.get("status", 0) < _ENDED_BY_SIGNAL
        _fail(argv, directory, _ending(answer), ended_itself=itself)
    return cost_s


def _ending(answer: Mapping[str, Any]) -> str:
    if "error" in answer:
        return f"could not be run: {answer['error']}"
    if answer["status"] < 0:
        return f"was ended by signal {-answer['status']}"
    return f"failed with exit code {answer['status']}"


def _fail(argv: Sequence[str], directory: str, how: str, *, ended_itself: bool = False) -> NoReturn:
    log = os.path.join(beside(directory), "log")
    with open(log, errors="replace") as file:
        lines = [line.rstrip() for line in file if line.strip()][-_SHOWN_LINES:]
    said = "\n".join(f"  {line}" for line in lines) or "  (nothing)"
    scarce = _lack_of_room(directory)
    raise BuildFailedError(
        f"The build {' '.join(argv)!r} {how}, in {directory}.{scarce} "
        f"The end of its log {log}:\n{said}",
        field="build",
        ended_itself=ended_itself and not scarce,
    )


def _lack_of_room(directory: str) -> str:
    """What a log on a full disk cannot say, since it had no room itself."""
    disk = os.statvfs(directory)
    free_bytes = disk.f_bavail * disk.f_frsize
    if free_bytes >= _SCARCE_BYTES:
        return ""
    return f" Its disk is as good as full: {free_bytes // 1024} KiB are left."
