"""Call paths of events: who records them, and who names what was recorded."""

from __future__ import annotations

import os
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
    if not events.stacks and events.path_map is None:
        return None
    check_tracing(events)
    from steelyard.profile import event_paths
    from steelyard.profile.paths.stack_notes import noting_library

    field = "--stacks" if events.path_map is None else "--paths"
    known = stack_events(events)
    if not known and not events.probes:
        raise UsageError(
            f"{field} goes with --function, --probe and the groups sched, threads and faults: none "
            "of them is recorded here.",
            field=field,
        )
    # Probes are not there yet; that the kernel gives stacks of them is seen by another event.
    tried = known or stack_events(EventsSpec(("threads",)))
    options = [word for _, option in tried for word in option]
    naming = (sys.executable, "-P", "-m", event_paths.__name__)
    if events.path_map is None:
        event_paths.check_recorder(options, field)
        return StackPrograms(event_paths.recorder_path(), naming)
    event_paths.check_recorder(["--notes", os.devnull, *options], field)
    return StackPrograms(event_paths.recorder_path(), naming, events.path_map, noting_library())
