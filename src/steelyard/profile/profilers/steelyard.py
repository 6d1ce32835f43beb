"""Steelyard's own sampler: looks at random times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.analysis.profiles.unwatched_time import NOT_WATCHED, unwatched_ratio_of
from steelyard.profile.profilers import Launch, Profiler, Reading, shares_of
from steelyard.profile.recording_request import Recording
from steelyard.profile.sampler_command import sampler_argv, sampler_path

# The sampler reports on standard error, which a run under a profiler keeps for messages.
_REPORT = 2
# A program has as much before its threads are watched, and it is no function of the program.
_LEAST_UNWATCHED_RATIO = 0.01


def _require(_: Sequence[str]) -> None:
    sampler_path()


def _launch(path: str, argv: Sequence[str], seed: int) -> Launch:
    recording = Recording(path, tuple(argv), seed=seed)
    return Launch(tuple(sampler_argv(recording, _REPORT)))


def _read(path: str, _: Sequence[str]) -> Reading:
    from steelyard.profile.attribution import attribute
    from steelyard.profile.file.profile_file import read_profile
    from steelyard.profile.symbols.place_names import NamingRules

    raw = read_profile(path)
    samples = attribute(raw, rules=NamingRules(inlined=False, sources_apart=False))
    counts: dict[str, float] = {}
    seen = np.bincount(samples.functions, minlength=len(samples.frames))
    for frame, count in zip(samples.frames, seen.tolist(), strict=True):
        counts[frame.name] = counts.get(frame.name, 0.0) + count
    # What is known of one run is how much passed unwatched, so that shares are of all its time.
    ratio = unwatched_ratio_of(raw.summary or {}, bool((raw.samples["process"] == 0).any())) or 0.0
    if _LEAST_UNWATCHED_RATIO <= ratio < 1:
        counts[NOT_WATCHED] = sum(counts.values()) * ratio / (1 - ratio)
    # A stack begins with the sample's own function: each but the last of one is called by the next.
    last = np.cumsum(samples.stack_lengths) - 1
    called = np.ones(len(samples.stacks), bool)
    called[last] = False
    at = np.flatnonzero(called)
    pairs = np.unique(np.stack((samples.stacks[at + 1], samples.stacks[at])), axis=1).T.tolist()
    names = [frame.name for frame in samples.frames]
    calls = frozenset((names[caller], names[callee]) for caller, callee in pairs)
    return Reading(shares_of(counts, path), calls)


EXTENSION = Profiler("steelyard", "samples at random times", "native", _require, _launch, _read)
