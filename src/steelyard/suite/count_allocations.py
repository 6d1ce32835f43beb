"""Counting the allocations of a program, by a small library that is preloaded into it."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable

from steelyard.core.errors import FetchError, SuiteError
from steelyard.core.hashing import sha256_of
from steelyard.suite.program_figures import Allocations
from steelyard.suite.suite_cache import SuiteCache, disk_errors
from steelyard.suite.tool_command import run_tool, tool

VARIABLE = "STEELYARD_ALLOCATIONS"
_SOURCE = os.path.join(os.path.dirname(__file__), "probes", "allocations.c")
_COUNTS = struct.Struct("=QQ")

Run = Callable[[dict[str, str]], None]


def count_allocations(cache: SuiteCache, run: Run) -> Allocations | None:
    """The allocations of one run of a program and of what it starts.

    Parameters
    ----------
    run : callable
        Runs the program with these variables in its environment.

    Returns
    -------
    Allocations or None
        None where nothing was counted: the program is linked statically, or allocates nothing.

    Raises
    ------
    SuiteError, MissingCapabilityError
        The library cannot be built.
    """
    library = _library(cache)
    path = os.path.join(cache.directory("probes"), f"counts-{os.getpid()}")
    with disk_errors(path):
        try:
            with open(path, "wb") as file:
                file.write(bytes(_COUNTS.size))
            run({"LD_PRELOAD": library, VARIABLE: path})
            with open(path, "rb") as file:
                count, size_bytes = _COUNTS.unpack(file.read())
        finally:
            if os.path.exists(path):
                os.unlink(path)
    return Allocations(count, size_bytes) if count else None


def _library(cache: SuiteCache) -> str:
    """The library, built where this version of it is not in the cache."""
    with open(_SOURCE, "rb") as file:
        key = sha256_of(file.read()).hex()[:16]
    path = os.path.join(cache.directory("probes"), f"allocations-{key}.so")
    if os.path.exists(path):
        return path
    compiler = tool("cc", "gcc", "Counting allocations")
    with cache.lock("probe-allocations"), disk_errors(path):
        partial = f"{path}.partial"
        options = ("-O2", "-shared", "-fPIC", _SOURCE, "-o", partial, "-ldl")
        try:
            run_tool([compiler, *options], os.path.dirname(path))
        except FetchError as error:
            raise SuiteError(
                f"The counter of allocations cannot be built: {error.message}"
            ) from None
        os.replace(partial, path)
    return path
