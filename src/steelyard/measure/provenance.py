"""What exactly was run: the files behind the commands, by their contents, and the environment."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import Any, BinaryIO

from steelyard.core.elf_file import MAGIC, section_start
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, Variant
from steelyard.core.hashing import sha256_hex_of_file
from steelyard.core.masked_experiment import secret_values
from steelyard.core.masking import mask_words
from steelyard.measure.program import environment_of, find_program
from steelyard.measure.recorded_environment import recorded_environment

# Larger arguments are told apart by size and time of change: reading them all would cost more
# than many a measurement, and would warm the page cache for the first trial alone.
HASHED_ARGUMENT_BYTES = 4 * 2**20
_MOST_COMMENT_BYTES = 2**20
SHEBANG_BYTES = 256  # BINPRM_BUF_SIZE, linux/binfmts.h


def program_provenance(spec: ExperimentSpec) -> dict[str, Any]:
    """What an experiment runs, as it is now on this machine.

    Returns
    -------
    dict
        ``programs`` (one for each variant), ``environment``, ``environment_digests`` and
        ``environment_key`` (`recorded_environment`), ``environment_bytes``, ``argv`` (the call of
        Steelyard, with secrets masked: the specification has what is needed to repeat it),
        ``working_directory``, ``seed`` and ``versions``.
    """
    from steelyard.core.version import __version__

    environment = environment_of(LaunchSpec(()))
    return {
        "programs": [program_of(variant) for variant in spec.variants],
        **recorded_environment(environment, spec.recorded_environment),
        "environment_bytes": sum(len(name) + len(value) + 2 for name, value in environment.items()),
        "argv": list(mask_words(sys.argv, secret_values(spec))),
        "working_directory": os.getcwd(),
        "seed": spec.seed,
        "versions": {"steelyard": __version__, "python": ".".join(map(str, sys.version_info[:3]))},
    }


def program_of(variant: Variant) -> dict[str, Any]:
    """The program of a variant and the files among its arguments, by their contents; the reason
    as ``missing`` where it is not there."""
    launch = variant.launch
    start = launch.working_directory or ""
    try:
        found = find_program(launch.argv[0], environment_of(launch), launch.working_directory)
    except UsageError as error:
        return {"variant": variant.name, "missing": error.message}
    path = os.path.realpath(os.path.join(start, os.fsdecode(found)))
    about = {"variant": variant.name, **_binary(path)}
    release = _java_release(path)
    if release is not None:
        about["release"] = release
    files = [_argument_file(start, argument) for argument in launch.argv[1:]]
    about["files"] = [file for file in files if file is not None]
    return about


def _java_release(path: str) -> str | None:
    """The digest of the file that says which Java machine is behind its launcher: the launcher
    itself is the same in many releases."""
    if os.path.basename(path) != "java":
        return None
    try:
        with open(os.path.join(os.path.dirname(os.path.dirname(path)), "release"), "rb") as file:
            return sha256_hex_of_file(file)
    except OSError:
        return None


@lru_cache(maxsize=256)
def _binary(path: str) -> dict[str, Any]:
    """A program file: its hash, and its compiler or the interpreter that it names."""
    about: dict[str, Any] = {"path": path}
    try:
        with open(path, "rb") as file:
            about["sha256"] = sha256_hex_of_file(file)
            about["size_bytes"] = os.fstat(file.fileno()).st_size
            file.seek(0)
            start = file.read(SHEBANG_BYTES)
            if start.startswith(b"#!"):
                about["interpreter"] = _interpreter(start)
            elif start.startswith(MAGIC):
                about["compiler"] = compiler_of(file)
    except OSError as error:
        about["unreadable"] = error.strerror
    return about


def _interpreter(start: bytes) -> dict[str, Any]:
    words = start[2:].split(b"\n")[0].split()
    if not words:
        return {"path": "/bin/sh"}
    named = os.fsdecode(words[0])
    if os.path.basename(named) == "env":
        candidates = [os.fsdecode(w) for w in words[1:] if not w.startswith(b"-") and b"=" not in w]
        try:
            named = os.fsdecode(find_program(candidates[0], dict(os.environb), None))
        except (IndexError, UsageError):
            return {"path": named}
    return _binary(os.path.realpath(named))


def _argument_file(start: str, argument: str) -> dict[str, Any] | None:
    path = os.path.join(start, argument)
    try:
        status = os.stat(path)
        if not os.path.isfile(path):
            return None
        about: dict[str, Any] = {"argument": argument, "size_bytes": status.st_size}
        if status.st_size <= HASHED_ARGUMENT_BYTES:
            with open(path, "rb") as file:
                about["sha256"] = sha256_hex_of_file(file)
        else:
            about["modified_unix_s"] = status.st_mtime
    except (OSError, ValueError):
        return None
    return about


def compiler_of(file: BinaryIO) -> str | None:
    """What the section ``.comment`` of an ELF file says of its compilers."""
    comment = section_start(file, ".comment", _MOST_COMMENT_BYTES) or b""
    told = dict.fromkeys(part.decode("utf-8", "replace") for part in comment.split(b"\0") if part)
    return "; ".join(told) or None
