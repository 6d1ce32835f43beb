"""The JSON of speedscope: a sampled profile for each thread.

Format: https://www.speedscope.app/file-format-schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.analysis.profiles.profile_samples import ProfileSamples, stacks_of
from steelyard.report.profile_formats import ProfileFormat


def render(answer: ProfileAnswer) -> bytes:
    """Samples in the order of time; each weighs the mean time between looks."""
    samples, clock = answer.samples, _clock(answer.recorded.header)
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": answer.recorded.path,
        "exporter": "steelyard",
        "activeProfileIndex": 0,
        "shared": {
            "frames": [{"name": frame.name, "file": frame.object} for frame in samples.frames]
        },
        "profiles": [
            _profile(samples, share.thread, f"{share.name} {share.thread}".strip(), clock)
            for share in answer.threads
        ],
    }
    return json.dumps(document).encode("utf-8", "replace")


def _profile(
    samples: ProfileSamples, thread: int, name: str, clock: tuple[str, int]
) -> dict[str, object]:
    unit, weight = clock
    stacks = stacks_of(samples, thread)
    # By the times between its own samples, a thread's sleep would go to what ran before it.
    return {
        "type": "sampled",
        "name": name,
        "unit": unit,
        "startValue": 0,
        "endValue": weight * len(stacks),
        "samples": stacks,
        "weights": [weight] * len(stacks),
    }


def _clock(header: Mapping[str, Any]) -> tuple[str, int]:
    """The unit of weights, and the weight of a sample in it; a count where no time is known."""
    if header.get("unit") == "ns" and "period" in header:
        return "nanoseconds", round(float(header["period"]))
    return "none", 1


EXTENSION = ProfileFormat("speedscope", ".speedscope.json", "speedscope", render)
