"""Lists of CPUs as the kernel writes them, such as ``0-3,8``."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.core.errors import UsageError


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """The CPUs in `text`, ascending.

    Raises
    ------
    UsageError
        `text` is no list of CPUs.
    """
    cpus: set[int] = set()
    try:
        for part in text.strip().split(","):
            if not part:
                continue
            first, dash, last = part.partition("-")
            low = int(first)
            cpus.update(range(low, (int(last) if dash else low) + 1))
    except ValueError:
        raise UsageError(
            f"{text!r} is not a list of CPUs. Write it as 0-3,8.", field="cpus"
        ) from None
    return tuple(sorted(cpus))


def format_cpu_list(cpus: Iterable[int]) -> str:
    """`cpus` in the kernel's notation; the empty string for none."""
    ranges: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def is_cpu_text(text: object) -> bool:
    """Whether this may be the text of a file with a list or a mask of CPUs, which may be empty."""
    return isinstance(text, str) and all(c in "0123456789abcdef,-" for c in text)
