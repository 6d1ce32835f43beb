"""Run the scripts of a package once, without a clock, to see what they print."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from steelyard.app.package.packaged_variant import PackageChoice, packaged_variant
from steelyard.core.errors import MissingCapabilityError
from steelyard.core.package_spec import PackageSpec
from steelyard.measure.package_results import found_package, report_file
from steelyard.service.package.environments import (
    CONTAINER_SAYS,
    container_program,
    environment_named,
)
from steelyard.service.package.host_rooms import image_folder
from steelyard.service.package.kept_packages import KeptPackages, packages_directory

_SCRIPT = re.compile(r"^== \./(\S+) ==$", re.MULTILINE)


@dataclass(frozen=True)
class Rehearsal:
    """How it went.

    Parameters
    ----------
    output : str
        What all scripts printed, each after a line with its name.
    script : str
        The one that ran last.
    problem : str
        What went wrong, in a sentence; empty where nothing did.
    found : mapping
        What was found in the archive of results, as `measure.package_results` gives it.
    """

    output: str
    script: str
    problem: str
    found: dict[str, Any]


def rehearse_package(
    digest: str,
    name: str,
    choice: PackageChoice | None = None,
    hear: Callable[[str], None] | None = None,
    directory: str | None = None,
) -> Rehearsal:
    """Run `setup.sh`, `run.sh` and `collect.sh` of a package that is kept, in its environment.

    Parameters
    ----------
    hear : callable, optional
        Told each line as it is printed.

    Raises
    ------
    UsageError, MissingCapabilityError, ArchiveError
        As for `packaged_variant`; or its environment cannot be had.
    """
    package = packaged_variant(digest, name, choice, directory).package
    assert package is not None
    return rehearsed(package, directory or packages_directory(), hear)


def rehearsed(
    package: PackageSpec, directory: str, hear: Callable[[str], None] | None = None
) -> Rehearsal:
    """As `rehearse_package`, for a specification whose package is kept in `directory`."""
    environment = environment_named(package.environment)
    if environment.needs_root and os.geteuid() != 0:
        raise MissingCapabilityError(
            f"The environment {environment.name!r} needs root. Run as root, or in 'contained'.",
            field="--environment",
        )
    place = KeptPackages(directory).place(package.digest)
    with tempfile.TemporaryDirectory(prefix="steelyard-rehearsal-") as folder:
        files = (os.path.join(folder, "results"), report_file(folder, 0))
        here = replace(package, image=image_folder(package.image))
        argv = environment.rehearse_argv(
            here, container_program(), (place, os.path.join(folder, "container")), files
        )
        lines: list[str] = []
        changes = dict(environment.environment(package, ()))
        with subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={key: value for key, value in changes.items() if value is not None},
            encoding="utf-8",
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if hear is not None:
                    hear(line)
        output = "".join(lines)
        scripts = _SCRIPT.findall(output)
        problem = "" if process.returncode == 0 else _last_words(lines)
        found: dict[str, Any] = {}
        if not problem:
            found = found_package(folder, {"trial": 0}, None)
            problem = str(found.get("problem") or "")
        return Rehearsal(output, scripts[-1] if scripts else "", problem, found)


def _last_words(lines: list[str]) -> str:
    """The message of the container's program, which is its last line."""
    told = [line for line in lines if line.startswith(CONTAINER_SAYS)]
    return told[-1].removeprefix(CONTAINER_SAYS).strip() if told else "The container ended early."
