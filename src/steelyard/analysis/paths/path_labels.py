"""What the functions of a path are called, with the call sites that led on where these are kept."""

from __future__ import annotations

from collections import Counter

from steelyard.analysis.paths.path_map import NO_CALL_SITE, PathMap


class PathLabels:
    """Names of functions and their call sites.

    Parameters
    ----------
    path_map : PathMap
    """

    def __init__(self, path_map: PathMap) -> None:
        self._functions = path_map.functions
        self._originals = path_map.originals
        self._sites = path_map.call_sites or {}
        self._counts = Counter(self._sites.values())

    def name(self, function: int, call_site: int = NO_CALL_SITE) -> str:
        """A function, and the call site of it: ``f``, ``f@file.c:12``, or ``f+0x2c`` where no line
        is known. A line that has several call sites has that distance too. A clone has the name of
        its original.
        """
        name = self._functions[function]
        if name.startswith("["):
            name = f"{name}+{self._originals.get(function, function):#x}"
        if call_site == NO_CALL_SITE:
            return name
        line = self._sites[call_site]
        # The cold part of a function may stand before it.
        distance = f"{call_site - function:+#x}"
        if not line:
            return f"{name}{distance}"
        return f"{name}@{line}" + (distance if self._counts[line] > 1 else "")
