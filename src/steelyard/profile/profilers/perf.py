"""Linux perf, at a fixed period of its software clock."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence

from steelyard.core.errors import DataError
from steelyard.profile.profilers import (
    Launch,
    Profiler,
    Reading,
    profile_bytes,
    require_program,
    shares_of,
    tool_output,
)
from steelyard.profile.symbols.demangling import function_name

# The same rate as Steelyard's own default.
_FREQUENCY = "999"
# tools/perf/util/header.c: of files, and of streams.
_MAGIC = b"PERFILE2"
# perf 6.1 overwrites its own stack at times, and reads the same file well the next time.
_MORE_READINGS = 2
# Kernels from then on tell build ids of what is mapped. 6.18 marks mappings as if it had told them
# where it was not asked to, and perf 6.1 ends by SIGABRT when it reads such a file.
_TELLS_BUILD_IDS = (5, 12)
_COUNT = re.compile("[0-9]{1,18}")


def _require(_: Sequence[str]) -> None:
    require_program("perf", "perf", "linux-perf")


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    # What was run is not copied to the user's ~/.debug, where nothing ever removes it.
    options = (
        "-e",
        "cpu-clock:u",
        "-F",
        _FREQUENCY,
        "-q",
        *(("--buildid-mmap",) if _kernel_version() >= _TELLS_BUILD_IDS else ()),
        "--no-buildid",
        "--no-buildid-cache",
        "-o",
        path,
    )
    return Launch(("perf", "record", *options, "--", *argv))


def _kernel_version() -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return tuple(map(int, found.groups())) if found else ()


def _read(path: str, _: Sequence[str]) -> Reading:
    _require(())
    if profile_bytes(path, len(_MAGIC)) != _MAGIC:
        raise DataError(
            f"{path} is not a profile of perf: it does not begin as one.", field="profile"
        )
    command = ["perf", "report", "-f", "-i", path, "--stdio", "--no-children", "-q"]
    columns = ["--no-demangle", "-F", "sample,sym", "-t", "\t", "--percent-limit", "0"]
    told = tool_output([*command, *columns], path)
    for _again in range(_MORE_READINGS):
        if told.returncode >= 0:
            break
        told = tool_output([*command, *columns], path)
    if told.returncode < 0:
        by = signal.Signals(-told.returncode).name
        raise DataError(
            f"perf itself was ended by {by} each of {1 + _MORE_READINGS} times that it read "
            f"{path}.",
            field="profile",
        )
    if told.returncode != 0:
        said = told.stderr.decode("utf-8", "replace").strip().splitlines()
        words = (said or ["it is damaged, or was cut off"])[-1]
        raise DataError(f"{path} is not a profile of perf: {words[:200]}", field="profile")
    counts: dict[str, float] = {}
    for line in told.stdout.decode("utf-8", "replace").split("\n"):
        count, tab, symbol = line.partition("\t")
        if not tab or _COUNT.fullmatch(count.strip()) is None:
            continue
        name = symbol.strip().partition("] ")[2] or symbol.strip()
        # perf's own way to write a name of C++ leaves out the arguments that tell overloads apart.
        name = function_name(name.encode())
        counts[name] = counts.get(name, 0) + int(count)
    return Reading(shares_of(counts, path))


EXTENSION = Profiler("perf", "samples at a fixed period", "native", _require, _launch, _read)
