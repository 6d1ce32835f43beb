"""cProfile: a hook on every call and return of a Python program, of Python's own library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, TypeGuard

from steelyard.core.errors import DataError
from steelyard.profile.marshalled import read_marshalled
from steelyard.profile.profilers import Launch, Profiler, Reading, profile_bytes, shares_of
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
    named = cache(_name)
    try:
        for key, own_s, callers in _rows(read_marshalled(profile_bytes(path))):
            name = named(key)
            counts[name] = counts.get(name, 0.0) + own_s
            calls.update((named(caller), name) for caller in callers)
    except (OverflowError, ValueError) as error:
        raise DataError(
            f"{path} is not a profile of cProfile, or was cut off: {error}.", field="profile"
        ) from None
    return Reading(shares_of(counts, path), frozenset(calls))


def _rows(table: Any) -> Iterator[tuple[_Key, float, list[_Key]]]:
    """Each function with its own time and its callers, as pstats.Stats.dump_stats writes them.

    Raises
    ------
    ValueError
        It is another table.
    """
    if not isinstance(table, dict):
        raise ValueError("it holds no table")
    for key, row in table.items():
        if not _is_key(key):
            raise ValueError("a key is not a file, a line and a name")
        if not isinstance(row, tuple) or len(row) != 5 or not all(map(_is_number, row[:4])):
            raise ValueError(f"the row of {key[2]!r} is not of calls, times and callers")
        callers = row[4]
        if not isinstance(callers, dict) or not all(map(_is_key, callers)):
            raise ValueError(f"the callers of {key[2]!r} are no table of functions")
        yield key, float(row[2]), list(callers)


def _is_key(value: Any) -> TypeGuard[_Key]:
    kinds = tuple(map(type, value)) if isinstance(value, tuple) else ()
    return kinds == (str, int, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


EXTENSION = Profiler(
    name="cprofile",
    description="times every call of a Python program",
    language="python",
    require=_require,
    launch=_launch,
    read=_read,
    is_program_timed=False,
)
