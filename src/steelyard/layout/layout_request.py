"""What of a program's layout is to be randomised, how often, and from which seed."""

from __future__ import annotations

from steelyard.core.errors import UsageError
from steelyard.core.layout_parts import (
    DEFAULT_INTERVAL_NS,
    DEFAULT_PARTS,
    PARTS,
    interval_ns,
    ordered_parts,
)


class LayoutWishes:
    """What a program does when the environment says nothing else.

    A plain class, as are all that the drivers load: `dataclasses` takes 10 ms of each call.

    Parameters
    ----------
    parts : tuple of str
        Some of `PARTS`.
    interval_ns : int
        How often the layout is drawn anew; 0: once, at the start.
    seed : int
        0: another one in each run.
    """

    def __init__(
        self,
        parts: tuple[str, ...] = DEFAULT_PARTS,
        interval_ns: int = DEFAULT_INTERVAL_NS,
        seed: int = 0,
    ) -> None:
        self.parts = parts
        self.interval_ns = interval_ns
        self.seed = seed

    @property
    def mask(self) -> int:
        """The parts as the native side knows them."""
        return sum(PARTS[part] for part in self.parts)


def parse_parts(text: str) -> tuple[str, ...]:
    """The parts named in ``code,stack,heap``, in this order; ``none`` is none of them.

    Raises
    ------
    UsageError
        One of them is no part.
    """
    names = [name for name in text.split(",") if name and name != "none"]
    for name in names:
        if name not in PARTS:
            raise UsageError(
                f"--layout takes some of {','.join(PARTS)}, or none; {name!r} is none of them.",
                field="--layout",
            )
    return ordered_parts(names)


def parse_interval(text: str) -> int:
    """An interval such as ``500ms`` or ``2s`` in nanoseconds, or ``off``: 0.

    Raises
    ------
    UsageError
        It is neither.
    """
    try:
        return interval_ns(text)
    except ValueError as error:
        raise UsageError(
            f"--layout-interval: {error}; not {text!r}.", field="--layout-interval"
        ) from None


def parse_seed(text: str) -> int:
    """A seed: a whole number above 0.

    Raises
    ------
    UsageError
        It is none.
    """
    if not text.isdecimal() or not 0 < int(text) < 1 << 64:
        raise UsageError(
            f"--layout-seed takes a whole number above 0; not {text!r}.", field="--layout-seed"
        )
    return int(text)
