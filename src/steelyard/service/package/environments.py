"""The environments that packages run in: from what is to be run to the command that does it there.

An environment is a value. The native program `steelyard-container` (native/container) does what
its commands say: it holds a container around a trial, so that nothing but `run.sh` itself stands
between the launcher's two readings of the clock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from steelyard.core.errors import UnknownNameError
from steelyard.core.native_program import native_program
from steelyard.core.package_spec import PACKAGE_FOLDER, PackageSpec

PLACE = "{build}"
# Beside the directory of a build: `build/side_files.py` has the name.
STATE_OF_BUILD = f"{PLACE}.steelyard/container"
LAYER_OF_BUILD = f"{PLACE}.steelyard/layer"
# What the program for containers begins its one message with.
CONTAINER_SAYS = "steelyard-container: "
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_USUAL = {
    "PATH": _PATH,
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
    "SHELL": "/bin/sh",
    "STEELYARD_PACKAGE": PACKAGE_FOLDER,
}


@dataclass(frozen=True)
class Environment:
    """An environment that packages can be run in.

    Parameters
    ----------
    name : str
        What options and specifications call it.
    description : str
        What it is, in a sentence.
    needs_root : bool
    variables : tuple of (name, value)
        What its programs find in their environment besides the usual.
    """

    name: str
    description: str
    needs_root: bool
    variables: tuple[tuple[str, str], ...]

    def build_argv(self, package: PackageSpec, program: str) -> tuple[str, ...]:
        """The command of a build: runs `setup.sh`, if there is one, and saves what is there then.

        The package's files lie in the directory of the build.
        """
        command = ("--", "./setup.sh") if package.has_setup else ()
        return (
            *(program, "build", STATE_OF_BUILD, *self._options(package)),
            *(f"--package={PLACE}", f"--save={LAYER_OF_BUILD}"),
            *(f"--time-ms={_milliseconds(package.limits.setup_s)}", *command),
        )

    def hold_argv(
        self, package: PackageSpec, program: str, state: str, layer: str
    ) -> tuple[str, ...]:
        """The command before a trial: a container of what a build has saved, in the folder `state`,
        which is made."""
        return (program, "hold", state, *self._options(package), f"--layer={layer}")

    def collect_argv(
        self, package: PackageSpec, program: str, state: str, files: tuple[str, str]
    ) -> tuple[str, ...]:
        """The command after a trial: runs `collect.sh`, takes the archive that it names, and ends
        the container. `files` are the archive's place and that of the report on it."""
        result, report = files
        return (
            *(program, "collect", state, f"--result={result}", f"--report={report}"),
            *(f"--time-ms={_milliseconds(package.limits.collect_s)}", "--", "./collect.sh"),
        )

    def rehearse_argv(
        self, package: PackageSpec, program: str, folders: tuple[str, str], files: tuple[str, str]
    ) -> tuple[str, ...]:
        """The command that runs all scripts once, without a clock, and shows what they print.

        `folders` are that of the package and that of the state, `files` as for `collect_argv`.
        """
        scripts = (*(("./setup.sh",) if package.has_setup else ()), "./run.sh", "./collect.sh")
        longest_s = max(package.limits.setup_s, package.limits.collect_s)
        return (
            *(program, "rehearse", folders[1], *self._options(package)),
            *(f"--package={folders[0]}", f"--result={files[0]}", f"--report={files[1]}"),
            *(f"--time-ms={_milliseconds(longest_s)}", "--", *scripts),
        )

    def environment(
        self, package: PackageSpec, present: Collection[str]
    ) -> tuple[tuple[str, str | None], ...]:
        """Changes to an environment with the names `present`, of which nothing is passed on."""
        given: dict[str, str] = {**_USUAL, **dict(self.variables), **dict(package.variables)}
        removed = ((name, None) for name in sorted(present) if name not in given)
        return (*removed, *given.items())

    def _options(self, package: PackageSpec) -> tuple[str, ...]:
        limits = package.limits
        numbers: Mapping[str, int] = {
            "processes": limits.process_count,
            "memory-bytes": limits.memory_bytes,
            "disk-bytes": limits.disk_bytes,
            "inodes": limits.inode_count,
            "output-bytes": limits.output_bytes,
            "result-bytes": limits.result_bytes,
        }
        return (
            f"--kind={self.name}",
            *(f"--{name}={value}" for name, value in numbers.items()),
            *(() if package.image is None else (f"--image={package.image}",)),
            *(("--network",) if package.has_network else ()),
            *((f"--readable={package.libraries}",) if package.libraries else ()),
        )


CONTAINED = Environment(
    name="contained",
    description="A user without privileges in namespaces of its own: no network unless asked for, "
    "nothing written outside, limits on processes, memory, files.",
    needs_root=False,
    variables=(("HOME", "/home/benchmark"), ("USER", "benchmark"), ("LOGNAME", "benchmark")),
)
TRUSTED = Environment(
    name="trusted",
    description="Root with the host's network and devices, on a root file system of its own that "
    "is thrown away.",
    needs_root=True,
    variables=(("HOME", "/root"), ("USER", "root"), ("LOGNAME", "root")),
)
ENVIRONMENTS = {environment.name: environment for environment in (CONTAINED, TRUSTED)}


def environment_named(name: str, field: str = "--environment") -> Environment:
    """The environment of this name; `field` is what errors call it.

    Raises
    ------
    UnknownNameError
    """
    found = ENVIRONMENTS.get(name)
    if found is None:
        raise UnknownNameError(
            f"There is no environment {name!r} for packages; there are {', '.join(ENVIRONMENTS)}.",
            field=field,
        )
    return found


def container_program() -> str:
    """The native program that makes containers.

    Raises
    ------
    MissingCapabilityError
        It is not installed.
    """
    return native_program(
        "steelyard-container", "the program for containers", variable="STEELYARD_CONTAINER"
    )


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
