"""Record a profile, and read what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.core.errors import DataError

if TYPE_CHECKING:
    from steelyard.analysis.profile_answer import ProfileAnswer
    from steelyard.profile.sampler import Recording


def record_profile(recording: Recording) -> dict[str, Any]:
    """Record, and give what the sampler says of itself.

    Raises
    ------
    UsageError, MissingCapabilityError, SteelyardError
        As `profile.sampler.record`.
    """
    from steelyard.profile.sampler import record

    return record(recording)


def read_answer(path: str, confidence: float = 0.95) -> ProfileAnswer:
    """Read a profile and attribute its samples.

    Raises
    ------
    DataError
        The file is no profile, or no sample of the program is in it.
    """
    from steelyard.analysis.profile_answer import Recorded, profile_answer
    from steelyard.profile.attribution import attribute
    from steelyard.profile.profile_file import read_profile

    raw = read_profile(path)
    summary = raw.summary or {}
    by_thread = summary.get("scope") == "threads"
    recorded = Recorded(
        path=path,
        header=raw.header,
        summary=summary,
        look_times_ns=raw.samples["time_ns"],
        look_sources=raw.samples["thread" if by_thread else "cpu"],
        lost_count=raw.lost_count,
        damage=raw.damage,
    )
    samples = attribute(raw)
    if not len(samples.functions):
        raise DataError(
            f"The profile {path} has no sample of the program: it ran for less than the time "
            "between samples, or only waited. Try a shorter --period.",
            field="profile",
        )
    return profile_answer(samples, recorded, confidence)
