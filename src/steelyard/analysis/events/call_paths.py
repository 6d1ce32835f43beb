"""The call paths that lead to events: how many of each run came by which, and whether that goes
with the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.events.event_counts import KindOfEvent, adjusted, importance, kind_of_event
from steelyard.analysis.profiles.profile_samples import Frame
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]
# Fewer lost or cut paths do not change what is read from the others.
_NOTICEABLE = 0.01
# What a map may say of the path of an event.
OUTCOMES: tuple[str, ...] = ("resolved", "ambiguous", "missing")
OTHER_BUILD = "another build than the map's"


class CallPath(NamedTuple):
    """A kind of event, and the functions that led to it from the outermost to the innermost.

    Without functions: those by paths too rare to be kept each. Of a path that was looked up in a
    map `outcome` is ``resolved``, ``ambiguous`` or ``missing``; of one that was found by walking
    the stack it is empty. `frames` of an ambiguous one are what its `candidates`, each with its
    learnt share, end with alike; of a missing one the function of the event alone, and `reason`
    says why.
    """

    kind: str
    frames: tuple[Frame, ...]
    outcome: str = ""
    candidates: tuple[tuple[float, tuple[Frame, ...]], ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class PathOfEvent:
    """A call path with what is known of its number. `tells_apart`: its kind has others."""

    path: CallPath
    events: KindOfEvent
    tells_apart: bool


def paths_from(told: Mapping[str, Any]) -> dict[CallPath, int]:
    """The events of each call path of one run, from what its recording told."""
    functions = [Frame(name, file) for name, file in told["functions"]]
    found: dict[CallPath, int] = {}

    def frames(indices: Sequence[int]) -> tuple[Frame, ...]:
        return tuple(functions[int(index)] for index in indices)

    for kind, count, indices, *looked_up in told["paths"]:
        path = CallPath(told["kinds"][kind], frames(indices))
        for known in looked_up:
            candidates = tuple((float(share), frames(one)) for share, one in known["candidates"])
            path = path._replace(
                outcome=known["outcome"], candidates=candidates, reason=known["reason"]
            )
        found[path] = found.get(path, 0) + int(count)
    return found


def lookup_counts(paths: Sequence[PathOfEvent] | None) -> dict[str, int] | None:
    """How many events of all runs are ``resolved``, ``ambiguous`` and ``missing``; None where no
    path was looked up in a map."""
    looked_up = [one for one in paths or () if one.path.outcome]
    if not looked_up:
        return None
    counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    for one in looked_up:
        counts[one.path.outcome] += sum(one.events.counts)
    return counts


def paths_of_events(
    runs: Sequence[Mapping[CallPath, int] | None],
    values: Floats,
    confidence: float,
    correction: str,
) -> tuple[PathOfEvent, ...] | None:
    """Every call path with its number in each run against the result of the run.

    Those that differ between runs come first, of these the strongest correlation; those that a map
    does not know are last. Runs without
    stacks are left out; None where there are no others. The p values hold for all paths together.
    """
    with_stacks = [place for place, run in enumerate(runs) if run is not None]
    if not with_stacks:
        return None
    counts: dict[CallPath, list[int]] = {}
    for column, place in enumerate(with_stacks):
        for path, count in (runs[place] or {}).items():
            counts.setdefault(path, [0] * len(with_stacks))[column] = count
    of_kind: dict[str, int] = {}
    for path in counts:
        of_kind[path.kind] = of_kind.get(path.kind, 0) + 1
    here = values[with_stacks]
    events = [kind_of_event(path.kind, row, here, confidence) for path, row in counts.items()]
    found = [
        PathOfEvent(path, one, of_kind[path.kind] > 1)
        for path, one in zip(counts, adjusted(events, correction), strict=True)
    ]
    found.sort(key=lambda one: (bool(one.path.reason), importance(one.events)))
    return tuple(found)


def path_cautions(
    runs: Sequence[Mapping[CallPath, int] | None],
    lost: Sequence[int],
    cut: Sequence[int],
) -> list[Caution]:
    """What must be known beside the paths."""
    found: list[Caution] = []
    missing = sum(run is None for run in runs)
    if 0 < missing < len(runs):
        found.append(
            Caution(
                "stacks-missing",
                f"{missing} of {len(runs)} runs have no call paths: their recorder failed, as "
                "`steelyard show` tells. Their paths are left out.",
            )
        )
    counts = [(path, count) for run in runs if run is not None for path, count in run.items()]
    total = sum(count for _, count in counts)
    others = sum(count for path, count in counts if path.reason == OTHER_BUILD)
    if others:
        found.append(
            Caution(
                "other-build",
                f"{others:,} of {total:,} events are of another build of the program than the map "
                "of paths, which knows nothing of them: learn a map of the one that ran.",
            )
        )
    if sum(lost) > _NOTICEABLE * (total + sum(lost)):
        found.append(
            Caution(
                "lost-stacks",
                f"{sum(lost):,} of {total + sum(lost):,} call paths are lost, because events came "
                "faster than stacks are read: the numbers by path are too low. Record fewer kinds.",
            )
        )
    if sum(cut) > _NOTICEABLE * total:
        found.append(
            Caution(
                "cut-stacks",
                f"{sum(cut):,} of {total:,} call paths do not go back to where their thread began: "
                "their stack is deeper than 16 KiB, or leads through code of which neither "
                ".eh_frame nor a frame pointer tells the caller.",
            )
        )
    return found
