"""From what a user asked for to how each program is built."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from steelyard.app.request.command_text import Parameters, fill, one_or_each, step
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import UsageError


@dataclass(frozen=True)
class BuildRequest:
    """How programs are to be built: of each, one for all commands or one for each command."""

    commands: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    randomize: tuple[str, ...] = ()
    timeout_s: float | None = None
    cc: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    ld: tuple[str, ...] = ()

    @property
    def variant_count(self) -> int:
        """How many variants these are by themselves."""
        return max(map(len, (self.commands, self.sources, self.cc, self.cxx, self.ld)))


def requested_builds(asked: BuildRequest, count: int, *, shell: bool) -> list[BuildSpec | None]:
    """The build of each of `count` commands.

    Raises
    ------
    UsageError
        An option goes with builds only, or is given neither once nor for each command.
    """
    if not asked.commands:
        given = (
            *(asked.sources, asked.randomize, asked.timeout_s is not None),
            *(asked.cc, asked.cxx, asked.ld),
        )
        names = ("--build-source", "--randomize", "--build-timeout", "--cc", "--cxx", "--ld")
        for option, values in zip(names, given, strict=True):
            if values:
                raise UsageError(f"{option} goes with --build only.", field=option)
        return [None] * count
    if asked.randomize:
        from steelyard.build.randomizations import RANDOMIZATIONS

        for name in asked.randomize:
            RANDOMIZATIONS.get(name)
    commands = one_or_each(asked.commands, count, "--build")
    sources = one_or_each(asked.sources, count, "--build-source")
    compilers = {
        "CC": one_or_each(asked.cc, count, "--cc"),
        "CXX": one_or_each(asked.cxx, count, "--cxx"),
        "LD": one_or_each(asked.ld, count, "--ld"),
    }
    return [
        BuildSpec(
            argv=step(commands[index], shell, "--build") or (),
            source=_source(sources[index]),
            compilers=tuple((k, v) for k, each in compilers.items() if (v := each[index])),
            randomize=asked.randomize,
            timeout_s=asked.timeout_s,
        )
        for index in range(count)
    ]


def _source(directory: str | None) -> str | None:
    if directory is None:
        return None
    if not os.path.isdir(directory):
        raise UsageError(f"There is no directory {directory!r} to build.", field="--build-source")
    return os.path.abspath(directory)


def filled_build(build: BuildSpec | None, parameters: Parameters) -> BuildSpec | None:
    """`build` with the values of parameters in its command."""
    if build is None:
        return None
    return replace(build, argv=tuple(fill(word, parameters) for word in build.argv))
