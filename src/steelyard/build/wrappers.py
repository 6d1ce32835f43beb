"""Programs that stand for the compilers and the linker while a randomised build runs.

A compiler's is a script of the shell that adds a few words, so it costs a millisecond a call; one
of these words, ``-B``, makes the driver look for its linker in a directory of ours first. So all
that ends in a link comes by `link.py`, however the project calls its compiler.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

from steelyard.build.randomizations import RANDOMIZATIONS
from steelyard.build.side_files import beside, records_directory
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.install_hint import install_command

# Debian's names; those of a compiler that is not installed are left out, LD is always there.
_USUAL = {"CC": "cc", "CXX": "c++", "FC": "gfortran", "LD": "ld"}
_PACKAGES = {"CC": "gcc", "CXX": "g++", "FC": "gfortran", "LD": "binutils"}
# What stands before a compiler and calls it.
_LAUNCHERS = ("ccache", "distcc", "icecc", "sccache")
# Every name by which gcc and clang look for a linker (-fuse-ld).
_HERE = os.path.dirname(os.path.abspath(__file__))
LINKER_NAMES = ("ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold")
# A day for those who print when they were built; reproducible-builds.org/specs/source-date-epoch.
_SOURCE_DATE_EPOCH = "1577836800"

# By the shell, for the kernel takes no interpreter whose path has white space or is long; to
# Python its line is a string.
_LINKER = """#!/bin/sh
'''exec' {python} -IS "$0" "$@"
' '''
import sys
sys.path[:] = {path!r}
from steelyard.build.link import link
sys.exit(link(sys.argv[0], sys.argv[1:], {settings!r}))
"""


def make_wrappers(
    spec: BuildSpec, seed: int, directory: str, environment: Mapping[str, str]
) -> dict[str, str]:
    """Write the wrappers for one build, and give the variables that name them.

    Parameters
    ----------
    spec : BuildSpec
    seed : int
    directory : str
        That of the build.
    environment : mapping
        The environment of the build command.

    Raises
    ------
    UsageError
        A randomisation is unknown, or the path cannot stand in a makefile.
    MissingCapabilityError
        A compiler is missing, or takes no words that randomising needs.
    """
    sections = any(RANDOMIZATIONS.get(name).orders == "sections" for name in spec.randomize)
    place = beside(directory)
    if len(place.split()) != 1:
        raise UsageError(
            f"A randomised build cannot be made in {directory}: makefiles would part the path of "
            "the compiler at its white space. Builds lie beside the store (--store), those of the "
            "suite in $STEELYARD_SUITE_CACHE: name a place without white space.",
            field="directory",
        )
    compilers = real_compilers(spec, environment)
    links = os.path.join(place, "ld")
    _write_linkers(links, _settings(spec, seed, directory, environment))
    wanted = [f"-B{links}/", *(f"-ffile-prefix-map={path}=." for path in _names_of(directory))]
    wanted += ["-ffunction-sections"] if sections else []
    variables = {"LD": os.path.join(links, "ld")}
    variables["SOURCE_DATE_EPOCH"] = environment.get("SOURCE_DATE_EPOCH", _SOURCE_DATE_EPOCH)
    for variable, words in compilers.items():
        path = os.path.join(place, "bin", variable, driver_name(words))
        os.makedirs(os.path.dirname(path))
        _write_program(path, driver_script(words, accepted(words, wanted, variable)))
        variables[variable] = path
    if "FC" in variables:
        variables["F77"] = variables["FC"]
    return variables


def _names_of(directory: str) -> list[str]:
    """The paths under which compilers may see the directory."""
    return list(dict.fromkeys([directory, os.path.realpath(directory)]))


def _settings(spec: BuildSpec, seed: int, directory: str, environment: Mapping[str, str]) -> str:
    """Write what the linker's wrapper has to know, and give the path."""
    everywhere = dict(spec.compilers).get("LD")
    called = environment.get("LD")
    said = {
        "directory": directory,
        "records": records_directory(directory),
        "seed": seed,
        "seeds": dict(spec.seeds),
        "randomize": spec.randomize,
        "linker": _words("LD", everywhere, environment) if everywhere else (),
        "direct_linker": _words("LD", called, environment) if called else (),
    }
    os.makedirs(records_directory(directory))
    path = os.path.join(beside(directory), "settings.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(said, file)
    return path


def _write_linkers(folder: str, settings: str) -> None:
    # Ours first; the others for randomisations that another distribution brings.
    root = os.path.dirname(os.path.dirname(_HERE))
    search = list(dict.fromkeys([root, *filter(os.path.isabs, sys.path)]))
    script = _LINKER.format(python=shlex.quote(sys.executable), path=search, settings=settings)
    os.makedirs(folder)
    for name in LINKER_NAMES:
        _write_program(os.path.join(folder, name), script)


def real_compilers(spec: BuildSpec, environment: Mapping[str, str]) -> dict[str, list[str]]:
    """The words of each real compiler: as the build names it, the environment, or Debian.

    A Fortran compiler is named with every C compiler, for programs that need one; where it is
    missing, the others are built all the same.
    """
    named = dict(spec.compilers)
    found: dict[str, list[str]] = {}
    for variable in ("CC", "CXX", "FC"):
        command = named.get(variable) or environment.get(variable)
        if variable == "FC" and command and not _is_there(command, environment):
            continue
        if command:
            found[variable] = _words(variable, command, environment)
        elif shutil.which(_USUAL[variable], path=environment.get("PATH")):
            found[variable] = _words(variable, _USUAL[variable], environment)
    return found


def _is_there(command: str, environment: Mapping[str, str]) -> bool:
    words = shlex.split(command)
    return bool(words) and shutil.which(words[0], path=environment.get("PATH")) is not None


def _words(variable: str, command: str, environment: Mapping[str, str]) -> list[str]:
    words = shlex.split(command)
    path = shutil.which(words[0], path=environment.get("PATH")) if words else None
    if path is None:
        raise MissingCapabilityError(
            f"There is no program {command!r} for {variable}. Debian's is installed by "
            f"`{install_command(_PACKAGES[variable])}`.",
            field=variable,
        )
    return [os.path.abspath(path), *words[1:]]


def accepted(words: Sequence[str], wanted: Sequence[str], variable: str) -> list[str]:
    """`wanted` as this compiler takes it without a warning, found by trying.

    Clang warns of words that a call does not need unless they are marked, and a project may
    turn warnings into errors.
    """
    marked = ["--start-no-unused-arguments", *wanted, "--end-no-unused-arguments"]
    for options in (marked, list(wanted)):
        tried = subprocess.run(
            [*words, *options, "-Werror", "-E", "-x", "c", os.devnull],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode == 0:
            return options
    complaint = (tried.stderr.strip().splitlines() or [f"exit code {tried.returncode}"])[0]
    raise MissingCapabilityError(
        f"{' '.join(words)}, given as {variable}, does not take {' '.join(wanted)} ({complaint}), "
        f"so what it builds cannot be randomised. gcc and clang do: `{install_command('gcc')}`.",
        field=variable,
    )


def driver_name(words: Sequence[str]) -> str:
    """The name of a compiler, by which configure scripts know its kind, behind its launchers."""
    names = [os.path.basename(word) for word in words if not word.startswith("-")]
    return next((name for name in names if name not in _LAUNCHERS), names[0])


def driver_script(words: Sequence[str], options: Sequence[str]) -> str:
    """The wrapper of a compiler: its words first, so that the project's own may undo them."""
    driver = shlex.quote("\n".join(words))
    call = shlex.join([*words, *options])
    return f'#!/bin/sh\nSTEELYARD_DRIVER={driver}\nexport STEELYARD_DRIVER\nexec {call} "$@"\n'


def _write_program(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.chmod(path, 0o755)
