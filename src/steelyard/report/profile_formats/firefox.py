"""The processed profile format of the Firefox Profiler.

Format: https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md
at version 49 of the processed format.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.analysis.profiles.profile_samples import ProfileSamples, ThreadShare, stacks_of
from steelyard.report.profile_formats import ProfileFormat

_PROCESSED_VERSION = 49
_VERSION = 29
_CATEGORIES = [
    {"name": "User", "color": "yellow", "subcategories": ["Other"]},
    # What the viewer takes for its own: it wants a grey one.
    {"name": "Other", "color": "grey", "subcategories": ["Other"]},
]


def render(answer: ProfileAnswer) -> bytes:
    """A thread each, with its samples in milliseconds from the first one on."""
    samples = answer.samples
    header = answer.recorded.header
    interval_ms = float(header.get("period", 1e6)) * 1e-6 if header.get("unit") == "ns" else 1.0
    document = {
        "meta": {
            "interval": interval_ms,
            "startTime": 0,
            "processType": 0,
            "product": " ".join(header.get("argv", [])) or "steelyard",
            "stackwalk": 1,
            "version": _VERSION,
            "preprocessedProfileVersion": _PROCESSED_VERSION,
            "symbolicated": True,
            "markerSchema": [],
            "categories": _CATEGORIES,
        },
        "libs": [],
        "pages": [],
        "counters": [],
        "threads": [_thread(samples, share) for share in answer.threads],
    }
    return json.dumps(document).encode("utf-8", "replace")


def _thread(samples: ProfileSamples, share: ThreadShare) -> dict[str, Any]:
    chosen = np.flatnonzero(samples.threads == share.thread)
    strings: dict[str, int] = {}
    functions: dict[int, int] = {}
    prefixes: dict[tuple[int | None, int], int] = {}
    stacks = [
        _stack_number(stack, functions, prefixes) for stack in stacks_of(samples, share.thread)
    ]
    names = [strings.setdefault(samples.frames[f].name, len(strings)) for f in functions]
    begin_ms = float(samples.times_ns[0]) * 1e-6
    count, frames = len(functions), len(prefixes)
    return {
        "name": share.name or str(share.thread),
        "isMainThread": share.thread == share.process,
        "processType": "default",
        "processName": share.name,
        "processStartupTime": 0,
        "processShutdownTime": None,
        "registerTime": 0,
        "unregisterTime": None,
        "pausedRanges": [],
        "pid": str(share.process),
        "tid": share.thread,
        "samples": {
            "length": len(stacks),
            "stack": stacks,
            "time": (samples.times_ns[chosen].astype(float) * 1e-6 - begin_ms).tolist(),
            "weight": None,
            "weightType": "samples",
        },
        "stackTable": {
            "length": frames,
            "frame": [functions[function] for _, function in prefixes],
            "prefix": [prefix for prefix, _ in prefixes],
            "category": [0] * frames,
            "subcategory": [0] * frames,
        },
        "frameTable": _frame_table(count),
        "funcTable": {
            "length": count,
            "name": names,
            "isJS": [False] * count,
            "relevantForJS": [False] * count,
            "resource": [-1] * count,
            "fileName": [None] * count,
            "lineNumber": [None] * count,
            "columnNumber": [None] * count,
        },
        "resourceTable": {"length": 0, "lib": [], "name": [], "host": [], "type": []},
        "nativeSymbols": {
            **{"length": 0, "address": [], "functionSize": [], "libIndex": [], "name": []}
        },
        "markers": {
            **{"length": 0, "category": [], "data": [], "endTime": [], "name": []},
            **{"phase": [], "startTime": []},
        },
        "stringArray": list(strings),
    }


def _frame_table(count: int) -> dict[str, Any]:
    nothing: list[None] = [None] * count
    return {
        "length": count,
        "address": [-1] * count,
        "inlineDepth": [0] * count,
        "category": [0] * count,
        "subcategory": [0] * count,
        "func": list(range(count)),
        "nativeSymbol": nothing,
        "innerWindowID": nothing,
        "implementation": nothing,
        "line": nothing,
        "column": nothing,
    }


def _stack_number(
    stack: list[int], functions: dict[int, int], prefixes: dict[tuple[int | None, int], int]
) -> int | None:
    """The number of a stack, outermost caller first; each frame has its callers as prefix."""
    prefix: int | None = None
    for function in stack:
        functions.setdefault(function, len(functions))
        prefix = prefixes.setdefault((prefix, function), len(prefixes))
    return prefix


EXTENSION = ProfileFormat("firefox", ".firefox.json", "the Firefox Profiler", render)
