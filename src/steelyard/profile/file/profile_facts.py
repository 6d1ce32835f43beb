"""What a profile says of its recording, in JSON: its header, and the summary at its end."""

from __future__ import annotations

import json
import math
from typing import Any

# Far more than the sampler takes, in nanoseconds or cycles.
_SHORTEST_PERIOD, _LONGEST_PERIOD = 1, 1e16
# As far from 1970 as a clock may be.
_LONGEST_TIME_S = 1e11
_LONGEST_ROUND = 1_000_000
_TEXTS = ("unit", "spread", "event")
_COUNTS = (
    *("samples", "lost", "unwatched_threads", "late", "unseen"),
    *("copied_bytes", "filtered", "spared", "checked", "elsewhere"),
    *("idle_ns", "elapsed_ns", "handling_ns", "program_ns", "watched_ns", "missed_ns"),
)
_DEEPEST = 8
_SHOWN = 60


def header_of(text: bytes | str) -> dict[str, Any]:
    """How a profile was recorded.

    Raises
    ------
    ValueError
        The text is no header, or lacks what readers rely on.
    """
    header = _object(text)
    for name in _TEXTS:
        if not isinstance(header.get(name), str):
            raise ValueError(f"its {name} is {_shown(header.get(name))} and no text")
    period: Any = header.get("period")
    if not _is_number(period) or not _SHORTEST_PERIOD <= period <= _LONGEST_PERIOD:
        raise ValueError(f"its period is {_shown(period)}")
    argv, process = header.get("argv", []), header.get("process")
    if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
        raise ValueError(f"its argv is {_shown(argv)} and no list of texts")
    if process is not None and not (_is_number(process) and process > 0):
        raise ValueError(f"its process is {_shown(process)}")
    round_samples = header.get("round_samples", 1)
    if not isinstance(round_samples, int) or not 1 <= round_samples <= _LONGEST_ROUND:
        raise ValueError(f"its round_samples is {_shown(round_samples)}")
    path_map: Any = header.get("path_map")
    if path_map is not None and not _is_path_map(path_map):
        raise ValueError(f"its path_map is {_shown(path_map)}")
    started_s = header.get("started_unix_s", 0)
    if not _is_number(started_s) or abs(started_s) > _LONGEST_TIME_S:
        raise ValueError(f"its time is {_shown(started_s)}")
    return header


def _is_path_map(value: Any) -> bool:
    wanted = ("path", "program", "build")
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in wanted)


def summary_of(text: bytes | str) -> dict[str, Any]:
    """What the sampler says of itself.

    Raises
    ------
    ValueError
        The text is no summary, or one of its counts is none.
    """
    summary = _object(text)
    for name in _COUNTS:
        count = summary.get(name, 0)
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 2**64:
            raise ValueError(f"{name} in its summary is {_shown(count)} and no count")
    if not isinstance(summary.get("scope", ""), str):
        raise ValueError(f"the scope in its summary is {_shown(summary['scope'])}")
    return summary


def _object(text: bytes | str) -> dict[str, Any]:
    """The object of a JSON text, whose numbers are all finite."""

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            raise ValueError(f"{number:.{_SHOWN}} is not finite")
        return value

    try:
        found: Any = json.loads(text, parse_float=finite, parse_constant=finite)
    except RecursionError:
        found = None
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    if _is_deep(found):
        raise ValueError("it is nested too deeply")
    return found


def _is_deep(value: Any) -> bool:
    """Whether a value is nested deeper than what is said of a recording is."""
    layer = [value]
    for _ in range(_DEEPEST):
        layer = [
            inner
            for item in layer
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return bool(layer)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return repr(value)[:_SHOWN]
