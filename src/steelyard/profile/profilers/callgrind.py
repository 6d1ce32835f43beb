"""Callgrind: counts the instructions of every function, in a simulated processor."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.profile.callgrind_file import read_callgrind
from steelyard.profile.executable import refuse_gprof_build
from steelyard.profile.profilers import Launch, Profiler, Reading, require_program, shares_of


def _require(argv: Sequence[str]) -> None:
    require_program("callgrind", "valgrind", "valgrind")
    refuse_gprof_build("callgrind", argv)


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    options = ("--tool=callgrind", "--quiet", f"--callgrind-out-file={path.replace('%', '%%')}")
    return Launch(("valgrind", *options, *argv))


def _read(path: str, _: Sequence[str]) -> Reading:
    profile = read_callgrind(path)
    counts: dict[str, float] = {}
    for (_object, name), count in profile.instructions.items():
        counts[name] = counts.get(name, 0) + count
    calls = {(caller[1], callee[1]) for caller, callee in profile.calls}
    return Reading(shares_of(counts, path), frozenset(calls))


EXTENSION = Profiler(
    name="callgrind",
    description="counts instructions in a simulated processor",
    language="native",
    require=_require,
    launch=_launch,
    read=_read,
    is_program_timed=False,
    loads_program=True,
)
