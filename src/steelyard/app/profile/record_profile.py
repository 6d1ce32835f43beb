"""Record a profile, and read what it says."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from steelyard.core.errors import DataError, MissingCapabilityError
from steelyard.profile.recording_request import Recording

if TYPE_CHECKING:
    from steelyard.analysis.profiles.profile_answer import ProfileAnswer

__all__ = ["Recording", "exported_profile", "read_answer", "record_profile"]


def record_profile(
    recording: Recording,
    say: Callable[[str], None],
    java: bool | None = None,
    begun: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Record, and give what the sampler says of itself.

    Parameters
    ----------
    recording : Recording
    say : callable
        Takes a note for the user.
    java : bool or None
        Whether to map the code of Java virtual machines; None: where the program is one, if this
        machine can.
    begun : callable
        Takes the process of a program that is started, once that has begun.

    Raises
    ------
    UsageError, MissingCapabilityError, SteelyardError
        As `profile.sampler.record` and `profile.java_command.java_recording`.
    """
    from steelyard.profile.java.java_command import (
        is_java,
        is_java_process,
        java_recording,
        remove_older_maps,
    )
    from steelyard.profile.sampler import record
    from steelyard.profile.watched_target import check_target

    check_target(recording)
    began_ns = time.time_ns()
    process = recording.process
    found = is_java(recording.argv) if process is None else is_java_process(process)
    if java or (java is None and found):
        try:
            recording = java_recording(recording)
        except MissingCapabilityError as error:
            if java:
                raise
            say(f"Java methods will have no names. {error.message}")
    summary = record(recording, say, begun)
    remove_older_maps(recording.output, began_ns)
    return summary


def read_answer(path: str, confidence: float = 0.95, apart: Collection[str] = ()) -> ProfileAnswer:
    """Read a profile and attribute its samples.

    Parameters
    ----------
    path : str
    confidence : float
        Of the intervals of shares.
    apart : collection of str
        What has rows of its own: ``"clones"``, the copies and parts that gcc makes of a function;
        ``"kernel"``, the functions of the kernel.

    Raises
    ------
    DataError
        The file is no profile, or no sample of the program is in it.
    """
    from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
    from steelyard.profile.attribution import attribute
    from steelyard.profile.file.profile_file import read_profile
    from steelyard.profile.java.java_code import read_java_codes
    from steelyard.profile.symbols.place_names import NamingRules

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
        are_cpus_looked_at=bool((raw.samples["process"] == 0).any()),
    )
    # Maps of an older recording to the same file may lie beside it.
    processes = frozenset(raw.samples["process"].tolist())
    rules = NamingRules(clones_apart="clones" in apart, kernel_apart="kernel" in apart)
    samples = attribute(raw, read_java_codes(path, processes), rules)
    if not len(samples.functions) and raw.damage is not None:
        raise DataError(
            f"The profile {path} has no sample that can be read. {raw.damage}", field="profile"
        )
    if not len(samples.functions):
        raise DataError(
            f"The profile {path} has no sample of the program: it ran for less than the time "
            "between samples, or only waited. Try a shorter --period.",
            field="profile",
        )
    return profile_answer(samples, recorded, confidence)


def exported_profile(answer: ProfileAnswer, format_name: str) -> bytes:
    """A profile for another tool's viewer.

    Raises
    ------
    UnknownNameError
        There is no such format.
    """
    from steelyard.analysis.profiles.exported_profile import exported
    from steelyard.report.profile_formats import PROFILE_FORMATS

    return PROFILE_FORMATS.get(format_name).render(exported(answer))
