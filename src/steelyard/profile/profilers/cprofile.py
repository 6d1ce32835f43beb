"""cProfile: a hook on every call and return of a Python program, of Python's own library."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Any

from steelyard.core.errors import DataError
from steelyard.profile.profilers import Launch, Profiler, Reading, shares_of
from steelyard.profile.python_command import function_name, script_index

# A function as cProfile writes it: file, line, name.
_Key = tuple[str, int, str]
_BUILT_IN = "~"


def _require(argv: Sequence[str]) -> None:
    if argv:
        script_index(argv)


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    at = script_index(argv)
    return Launch((*argv[:at], "-m", "cProfile", "-o", path, *argv[at:]))


def _name(key: _Key) -> str:
    file, _, name = key
    return str(name) if file == _BUILT_IN else function_name(name, file)


def _read(path: str, _: Sequence[str]) -> Reading:
    counts: dict[str, float] = {}
    calls: set[tuple[str, str]] = set()
    try:
        with open(path, "rb") as file:
            # The format is that of pstats.Stats.dump_stats, which marshals its table.
            table: dict[_Key, Any] = marshal.load(file)
        for key, (_, _, own_s, _, callers) in table.items():
            name = _name(key)
            counts[name] = counts.get(name, 0.0) + float(own_s)
            calls.update((_name(caller), name) for caller in callers)
    except OSError as error:
        raise DataError(f"The profile {path} cannot be read: {error.strerror}.") from None
    except (ArithmeticError, AttributeError, EOFError, TypeError, ValueError) as error:
        raise DataError(
            f"{path} is not a profile of cProfile, or was cut off: {error}.", field="profile"
        ) from None
    return Reading(shares_of(counts, path), frozenset(calls))


EXTENSION = Profiler(
    name="cprofile",
    description="times every call of a Python program",
    language="python",
    require=_require,
    launch=_launch,
    read=_read,
    is_program_timed=False,
)
