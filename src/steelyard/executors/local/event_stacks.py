"""Call paths of events: who records them, and who names what was recorded."""

from __future__ import annotations

import sys

from steelyard.core.errors import UsageError
from steelyard.core.events_spec import EventsSpec
from steelyard.measure.recordable_events import check_tracing
from steelyard.measure.tracing import StackPrograms, stack_events


def stack_programs(events: EventsSpec) -> StackPrograms | None:
    """The programs that a study with call stacks needs, tried before anything runs; None without.

    Raises
    ------
    UsageError
        There is nothing to record a stack of.
    MissingCapabilityError
        The kernel gives no stacks, or the recorder is not there.
    """
    if not events.stacks:
        return None
    check_tracing(events)
    from steelyard.profile import event_paths

    known = stack_events(events)
    if not known and not events.probes:
        raise UsageError(
            "--stacks goes with --function, --probe and the groups sched, threads and faults: none "
            "of them is recorded here.",
            field="--stacks",
        )
    # Probes are not there yet; that the kernel gives stacks of them is seen by another event.
    tried = known or stack_events(EventsSpec(("threads",)))
    event_paths.check_recorder([word for _, option in tried for word in option])
    naming = (sys.executable, "-P", "-m", event_paths.__name__)
    return StackPrograms(event_paths.recorder_path(), naming)
