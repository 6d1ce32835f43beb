"""Events of which each is a sample, in the place of looks at times that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# perf_type_id and perf_sw_ids of linux/perf_event.h.
_SOFTWARE_TYPE = 1
SOFTWARE_EVENTS = {
    "page-faults": 2,
    "context-switches": 3,
    "cpu-migrations": 4,
    "minor-faults": 5,
    "major-faults": 6,
}
# What a recording says of itself in the place of how its times were drawn.
EVERY = "every"


@dataclass(frozen=True)
class SampledEvent:
    """A kind of event, as perf_event_open(2) numbers it.

    Parameters
    ----------
    name : str
        For people.
    type, config : int
    path : str
        Of a place in a program: its file; empty otherwise.
    offset : int
        Where in the file.
    """

    name: str
    type: int
    config: int
    path: str = ""
    offset: int = 0

    def as_word(self) -> str:
        """How the sampler takes it."""
        place = f":{self.offset}:{self.path}" if self.path else ""
        return f"{self.type}:{self.config}{place}"


def software_event(name: str) -> SampledEvent:
    """One of `SOFTWARE_EVENTS`."""
    return SampledEvent(name, _SOFTWARE_TYPE, SOFTWARE_EVENTS[name])


def event_names(events: Sequence[SampledEvent]) -> str:
    """Events in words."""
    return ", ".join(event.name for event in events)
