"""Steelyard's own sampler: looks at random times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.profile.profilers import Profiler
from steelyard.profile.sampler import BINARY, Recording, sampler_argv


def _command(path: str, argv: Sequence[str]) -> list[str]:
    return sampler_argv(Recording(path, tuple(argv)), report=2)


def _shares(path: str) -> Mapping[str, float]:
    from steelyard.analysis.profile_samples import function_shares
    from steelyard.profile.attribution import attribute
    from steelyard.profile.profile_file import read_profile

    samples = attribute(read_profile(path))
    return {
        share.frame.name: share.share.estimate
        for share in function_shares(samples)
        if share.sample_count
    }


EXTENSION = Profiler("steelyard", "steelyard", BINARY, _command, _shares)
