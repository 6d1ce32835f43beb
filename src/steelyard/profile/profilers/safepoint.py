"""A sampler that is wrong on purpose: it sees Java threads only where they stop for the machine.

Many profilers of Java work like that, and are biased by it (Mytkowicz 2010, section 3.4): what the
compiler left without a safepoint is never seen, and its time goes to what comes next.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.profile.java.java_command import agent_path, require_java, with_agent
from steelyard.profile.profilers import Launch, Profiler, Reading, shares_of

MAGIC = "STEELYARD-SAFEPOINT 1"
# As often as Steelyard's own sampler looks.
_PERIOD_NS = 1_000_000
# Digits of what 64 bits hold.
_LONGEST_NUMBER = 19


def _require(argv: Sequence[str]) -> None:
    agent_path()
    require_java("safepoint", argv)


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    return Launch(with_agent(argv, {"safepoint": path, "period": _PERIOD_NS}))


def _read(path: str, _: Sequence[str]) -> Reading:
    return Reading(shares_of(read_safepoint_profile(path)[0], path))


def read_safepoint_profile(path: str) -> tuple[dict[str, float], list[int]]:
    """How often each method was seen, and the times of all looks, in nanoseconds.

    The format is described in native/jvm/src/safepoint_sampler.hpp.

    Raises
    ------
    DataError
        The file cannot be read, or is none of the sampler's.
    """
    try:
        with open(path, encoding="utf-8", opener=regular_opener) as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise DataError(f"The profile {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        lines = []
    if lines[:1] != [MAGIC]:
        raise DataError(
            f"{path} is not a profile of the safepoint sampler: it does not begin with {MAGIC!r}.",
            field="profile",
        )
    counts: dict[str, float] = {}
    times_ns: list[int] = []
    for number, line in enumerate(lines[1:-1], 2):
        words = line.split("\t")
        if words[0] == "N" and len(words) == 3 and _is_number(words[1]):
            counts[words[2]] = counts.get(words[2], 0) + int(words[1])
        elif words[0] == "T" and len(words) == 2 and _is_number(words[1]):
            times_ns.append(int(words[1]))
        else:
            raise DataError(f"The profile {path} is damaged in line {number}.", field="profile")
    return counts, times_ns


def _is_number(word: str) -> bool:
    return word.isdecimal() and len(word) <= _LONGEST_NUMBER


EXTENSION = Profiler("safepoint", "samples at safepoints only", "jvm", _require, _launch, _read)
