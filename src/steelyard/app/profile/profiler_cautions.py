"""What a reader of several profilers' answers must know of each."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.profile.profilers import PROFILERS


def profiler_cautions(names: Iterable[str]) -> tuple[str, ...]:
    """The cautions of these profilers, each once with all that it is about."""
    about: dict[str, list[str]] = {}
    known = PROFILERS.names()
    for name in sorted(set(names) & set(known)):
        if caution := PROFILERS.get(name).caution:
            about.setdefault(caution, []).append(name)
    return tuple(f"{' and '.join(found)}: {caution}" for caution, found in about.items())
