"""The JSON of speedscope: a sampled profile for each thread.

Format: https://www.speedscope.app/file-format-schema.json.
"""

from __future__ import annotations

import json

import numpy as np

from steelyard.analysis.profile_answer import ProfileAnswer
from steelyard.analysis.profile_samples import ProfileSamples, stacks_of
from steelyard.report.profile_formats import ProfileFormat


def render(answer: ProfileAnswer) -> bytes:
    """Samples in the order of time; each weighs the mean time between looks."""
    samples = answer.samples
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": answer.recorded.path,
        "exporter": "steelyard",
        "activeProfileIndex": 0,
        "shared": {
            "frames": [{"name": frame.name, "file": frame.object} for frame in samples.frames]
        },
        "profiles": [
            _profile(samples, share.thread, f"{share.name} {share.thread}".strip())
            for share in answer.threads
        ],
    }
    return json.dumps(document).encode("utf-8", "replace")


def _profile(samples: ProfileSamples, thread: int, name: str) -> dict[str, object]:
    times = samples.times_ns[samples.threads == thread]
    # A look stands for the time until the next one; the last for as much as they did on average.
    mean_ns = int(np.diff(times).mean()) if len(times) > 1 else 1
    end_ns = int(times[-1] - samples.times_ns[0]) + mean_ns
    return {
        "type": "sampled",
        "name": name,
        "unit": "nanoseconds",
        "startValue": int(times[0] - samples.times_ns[0]),
        "endValue": end_ns,
        "samples": stacks_of(samples, thread),
        "weights": [*np.diff(times).astype(np.int64).tolist(), mean_ns],
    }


EXTENSION = ProfileFormat("speedscope", ".speedscope.json", "speedscope", render)
