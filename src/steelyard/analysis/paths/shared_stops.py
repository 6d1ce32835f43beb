"""Paths that share their ends, each with a number: a step costs the same however long one is."""

from __future__ import annotations

# A place with its height in grains.
Stop = tuple[int, int]
_NOTHING = -1


class SharedStops:
    """Paths by their numbers; the same stops have the same number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Stop, int], int] = {}
        self._paths: list[tuple[Stop, int]] = []

    def before(self, stop: Stop, path: int = _NOTHING) -> int:
        """The path that goes by a stop and on as another one does; without one it ends there."""
        number = self._numbers.setdefault((stop, path), len(self._paths))
        if number == len(self._paths):
            self._paths.append((stop, path))
        return number

    def stops(self, path: int) -> tuple[Stop, ...]:
        """The stops of a path."""
        found: list[Stop] = []
        while path != _NOTHING:
            stop, path = self._paths[path]
            found.append(stop)
        return tuple(found)
