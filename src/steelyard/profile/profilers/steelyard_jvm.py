"""Steelyard's own sampler on Java: looks at random times, and knows what was compiled where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profiles.profile_samples import ProfileSamples
from steelyard.profile.java.java_command import (
    agent_path,
    is_machine_thread,
    java_recording,
    require_java,
)
from steelyard.profile.java.java_names import machine_name
from steelyard.profile.profilers import Launch, Profiler, Reading, shares_of
from steelyard.profile.recording_request import Recording
from steelyard.profile.sampler_command import sampler_argv, sampler_path

# The sampler reports on standard error, which a run under a profiler keeps for messages.
_REPORT = 2


def _require(argv: Sequence[str]) -> None:
    sampler_path()
    agent_path()
    require_java("steelyard-jvm", argv)


def _launch(path: str, argv: Sequence[str], seed: int) -> Launch:
    recording = Recording(path, tuple(argv), seed=seed)
    return Launch(tuple(sampler_argv(java_recording(recording), _REPORT)))


def _read(path: str, _: Sequence[str]) -> Reading:
    """What the program's own threads did once the machine had begun: what other profilers of Java
    can see.
    """
    from steelyard.profile.attribution import attribute
    from steelyard.profile.file.profile_file import read_profile
    from steelyard.profile.java.java_code import read_java_codes
    from steelyard.profile.symbols.place_names import NamingRules

    raw = read_profile(path)
    codes = read_java_codes(path)
    samples = attribute(raw, codes, NamingRules(sources_apart=False))
    wanted = _of_the_program(samples, max((code.begin_ns for code in codes.values()), default=0))
    seen = np.bincount(samples.functions[wanted], minlength=len(samples.frames))
    counts: dict[str, float] = {}
    for frame, count in zip(samples.frames, seen.tolist(), strict=True):
        name = machine_name(frame.name)
        counts[name] = counts.get(name, 0.0) + count
    return Reading(shares_of(counts, path))


def _of_the_program(samples: ProfileSamples, begin_ns: int) -> npt.NDArray[np.bool_]:
    names = samples.thread_names
    machine = [thread for thread in names if is_machine_thread(names[thread])]
    return (samples.times_ns >= np.uint64(begin_ns)) & ~np.isin(samples.threads, machine)


EXTENSION = Profiler("steelyard-jvm", "samples at random times", "jvm", _require, _launch, _read)
