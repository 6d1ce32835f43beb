"""Profiles of one stack a line, outermost first, with its count: ``main;work 12``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.profile.profilers import Reading, shares_of


def read_folded(
    path: str, what: str, names_of: Callable[[str], Sequence[str] | None], stack: str = "stack"
) -> Reading:
    """The shares of functions, and who calls whom.

    Parameters
    ----------
    path : str
    what : str
        What the file should be, for messages.
    names_of : callable
        From a stack, as it is written, to its functions; none: the stack is left out. None: it is
        no stack.
    stack : str
        What a line should be, for messages.

    Raises
    ------
    DataError
        The file cannot be read, is another one than `what`, or has no samples.
    """
    counts: dict[str, float] = {}
    calls: set[tuple[str, str]] = set()
    try:
        with open(path, encoding="utf-8", opener=regular_opener) as file:
            for number, line in enumerate(file, 1):
                frames, space, count = line.rstrip("\n").rpartition(" ")
                names = names_of(frames)
                if not space or not count.isdigit() or names is None:
                    raise ValueError(f"line {number} is no {stack} with its count")
                if names:
                    counts[names[-1]] = counts.get(names[-1], 0) + int(count)
                    calls.update(pairwise(names))
    except OSError as error:
        raise DataError(f"The profile {path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise DataError(f"{path} is not {what}: {error}.", field="profile") from None
    return Reading(shares_of(counts, path), frozenset(calls))
