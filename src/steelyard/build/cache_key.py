"""What makes two builds the same: everything that goes into them, as one digest."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache

from steelyard.build.run_build import build_environment
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError
from steelyard.core.hashing import sha256_hex_of_file, sha256_of
from steelyard.core.native_program import NATIVE

# Raise it when the wrappers or the records beside a build change their meaning.
FORMAT = 1
# 128 bits: no two builds meet by chance, and paths stay short.
_KEY_DIGITS = 32
COMPILERS = ("CC", "CXX", "FC", "LD")
# What compilers, linkers, Make, CMake and pkg-config read without being told on their command
# line: gcc(1) ENVIRONMENT, make(1), cmake-env-variables(7), pkg-config(1).
VARIABLES = (
    *("PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH"),
    *("GCC_EXEC_PREFIX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "FFLAGS", "FCFLAGS", "LDFLAGS"),
    *("LIBS", "AR", "AS", "NM", "RANLIB", "MAKEFLAGS", "CMAKE_GENERATOR", "CMAKE_PREFIX_PATH"),
    *("CMAKE_BUILD_TYPE", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "SOURCE_DATE_EPOCH", "LC_ALL"),
)


def build_key(spec: BuildSpec, seed: int, key_parts: tuple[str, ...] = ()) -> str:
    """The key of a build: a digest in hexadecimal.

    Parameters
    ----------
    spec : BuildSpec
        Its command, the contents of its source, its compilers with their contents and versions,
        its environment and its randomisations count; its time limit does not.
    seed : int
        The seed of the build.
    key_parts : tuple of str
        Whatever else the caller wants to tell builds apart by.
    """
    environment = build_environment(spec, "{build}")
    parts = {
        "format": FORMAT,
        "argv": spec.argv,
        "source": None if spec.source is None else tree_digest(spec.source),
        "environment": spec.environment,
        "inherited": {name: environment[name] for name in VARIABLES if name in environment},
        "compilers": _compilers(spec, environment),
        "randomize": spec.randomize,
        "seed": seed,
        "key_parts": key_parts,
    }
    if spec.seeds:
        parts["seeds"] = spec.seeds
    text = json.dumps(parts, sort_keys=True)
    return sha256_of(text.encode("utf-8", "surrogateescape")).hex()[:_KEY_DIGITS]


def tree_digest(directory: str) -> str:
    """The digest of all that `run_build` copies of a directory: names, contents, links, modes.

    Raises
    ------
    BuildFailedError
        Something in it cannot be read.
    """
    try:
        text = "\0".join(_lines(directory))
    except OSError as error:
        raise BuildFailedError(
            f"The source of the build cannot be read: {error.filename}: {error.strerror}"
        ) from None
    return sha256_of(text.encode("utf-8", "surrogateescape")).hex()


def build_inputs(spec: BuildSpec) -> dict[str, object]:
    """What tells whether a program would be built alike: for provenance.

    Returns
    -------
    dict
        ``source`` (the digest of its source, None without), ``inherited`` (variables that compilers
        read), and ``tools``: contents and versions of the compilers, and the contents alone of the
        build's command, because running that might build.
    """
    environment = build_environment(spec, "{build}")
    tools = _compilers(spec, environment)
    command = shutil.which(spec.argv[0], path=environment.get("PATH"))
    tools["command"] = [] if command is None else [_contents(os.path.realpath(command))]
    source = None if spec.source is None else tree_digest(spec.source)
    read = [name for name in VARIABLES if name in environment and name != "PATH"]
    return {"source": source, "inherited": {n: environment[n] for n in read}, "tools": tools}


def _lines(directory: str) -> Iterator[str]:
    for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
        if entry.name == ".git":
            continue
        if entry.is_symlink():
            yield f"{entry.name} -> {os.readlink(entry.path)}"
        elif entry.is_dir():
            yield f"{entry.name}/"
            yield from _lines(entry.path)
            yield ".."
        else:
            with open(entry.path, "rb") as file:
                executable = entry.stat().st_mode & 0o100
                yield f"{entry.name} {executable} {sha256_hex_of_file(file)}"


def _compilers(spec: BuildSpec, environment: dict[str, str]) -> dict[str, list[str]]:
    named = dict(spec.compilers)
    found: dict[str, list[str]] = {}
    for name in COMPILERS:
        command = named.get(name, environment.get(name))
        if command:
            programs = _programs(command, environment)
            found[name] = [command, *map(_program_digest, programs)]
            if any(os.path.basename(path) == "steelyard" for path in programs):
                found[name].append(_linked_in())
    if not found:
        found["default"] = [_program_digest(path) for path in _programs("cc c++ ld", environment)]
    return found


def _linked_in() -> str:
    """The contents of what `steelyard cc` puts into programs; its version says little of them."""
    folder = os.path.join(NATIVE, "layout")
    return tree_digest(folder) if os.path.isdir(folder) else "none"


def _programs(command: str, environment: dict[str, str]) -> list[str]:
    paths = (shutil.which(word, path=environment.get("PATH")) for word in shlex.split(command))
    return [os.path.realpath(path) for path in paths if path]


def _contents(path: str) -> str:
    with open(path, "rb") as file:
        return f"{path} {sha256_hex_of_file(file)}"


def _program_digest(path: str) -> str:
    status = os.stat(path)
    return _digest_of_version(path, status.st_ino, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _digest_of_version(path: str, _inode: int, _changed_ns: int) -> str:
    """The contents of a program, and what it calls itself: a driver's version is that of the
    compiler proper, which is another file."""
    with open(path, "rb") as file:
        digest = sha256_hex_of_file(file)
    said = subprocess.run(
        [path, "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    return f"{path} {digest} {said.stdout.decode('utf-8', 'replace')}"
