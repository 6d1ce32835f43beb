"""Recordings whose samples are events, in the place of looks at times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from steelyard.core.sampled_events import software_event
from steelyard.profile.recording_request import Recording
from steelyard.profile.watched_target import check_target


@dataclass(frozen=True)
class EventsAsked:
    """Which events are samples.

    Parameters
    ----------
    software : sequence of str
        Of `core.sampled_events.SOFTWARE_EVENTS`.
    calls, probes : sequence of str
        Functions, and static probes, as `profile.probed_places` takes them.
    every : int
        One of so many is taken.
    """

    software: Sequence[str] = ()
    calls: Sequence[str] = ()
    probes: Sequence[str] = ()
    every: int = 1


def with_events(recording: Recording, asked: EventsAsked) -> Recording:
    """The same recording with events as its samples.

    Raises
    ------
    UsageError
        There is no such program, function or probe.
    MissingCapabilityError
        The kernel has no probes in programs.
    """
    check_target(recording)
    events = [software_event(name) for name in asked.software]
    if asked.calls or asked.probes:
        from steelyard.profile.probed_places import call_event, probe_event

        program = program_of(recording)
        environment = recording.environment
        events += [call_event(text, program, environment) for text in asked.calls]
        events += [probe_event(text, program, environment) for text in asked.probes]
    return replace(recording, counted=tuple(events), every=asked.every)


def program_of(recording: Recording) -> str:
    """The file that is run, or that the watched process runs."""
    from steelyard.profile.executable import executable_of

    if recording.process is None:
        return executable_of(recording.argv)
    return f"/proc/{recording.process}/exe"
