"""Tell of paths that were never learnt while a program still runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from steelyard.analysis.paths.path_alert import PathAlert
from steelyard.core.errors import DataError
from steelyard.core.interruption import block_interruptions

if TYPE_CHECKING:
    from steelyard.analysis.paths.lookup import KeyedPaths
    from steelyard.analysis.paths.path_alert import PathAlerts

__all__ = ["PathAlert", "Tell", "watching"]
Tell = Callable[[PathAlert], None]
# As often as the sampler flushes its file.
_INTERVAL_S = 0.25


class _Watch:
    """Reads what a recording has flushed, and looks each new sample up."""

    def __init__(self, profile: str, map_path: str, tell: Tell) -> None:
        from steelyard.profile.file.growing_profile import GrowingProfile
        from steelyard.profile.paths.map_file import read_map

        self._growing = GrowingProfile(profile)
        self._map = read_map(map_path)
        self._tell = tell
        self._keyed: KeyedPaths | None = None
        self._alerts: PathAlerts | None = None

    def look(self, is_over: bool = False) -> None:
        """Tell of the keys that came since the last look, and are new; `is_over`: the recording has
        ended."""
        from steelyard.analysis.paths.path_alert import KeyedSample, PathAlerts
        from steelyard.app.profile.keyed_samples import keep_processes, live_keys
        from steelyard.profile.executable import FunctionNames

        raw = self._growing.take(is_over)
        if raw is None:
            return
        keep_processes(raw)
        # As long as only what starts the program has run, there is none of it.
        with suppress(DataError):
            program, self._keyed, keys = live_keys(raw, self._map, self._keyed)
            if self._alerts is None:
                self._alerts = PathAlerts(self._keyed, FunctionNames(program).at)
            columns = (raw.samples[name].tolist() for name in ("time_ns", "process", "thread"))
            samples = [KeyedSample(*one) for one in zip(keys, *columns, strict=True)]
            for alert in self._alerts.of(samples):
                self._tell(alert)


@contextmanager
def watching(profile: str, map_path: str, tell: Tell) -> Iterator[None]:
    """Watch a recording to `profile` that begins and ends within this context.

    Parameters
    ----------
    profile, map_path : str
    tell : callable
        Takes each key that was never learnt once, in a thread of its own.

    Raises
    ------
    DataError
        The map is damaged.
    """
    watch = _Watch(profile, map_path, tell)
    is_over = threading.Event()

    def look_often() -> None:
        while not is_over.wait(_INTERVAL_S):
            watch.look()

    with ThreadPoolExecutor(1, "watch of paths", block_interruptions) as beside:
        looking = beside.submit(look_often)
        try:
            yield
        finally:
            is_over.set()
    looking.result()
    watch.look(is_over=True)
