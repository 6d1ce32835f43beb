"""What a detector is: from a series to where it changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from steelyard.analysis.history.series import Series
from steelyard.core.tracks import ChangeKind

# A team with 1,000 tracks and 10 revisions a day is told of one false change a day.
FALSE_ALARM_RATE = 1e-4
# Below it a step is hidden in the noise for whoever looks at the track.
LEAST_DEVIATIONS = 1.0


@dataclass(frozen=True)
class Sensitivity:
    """How much it takes for a change to be reported.

    Parameters
    ----------
    false_alarm_rate : float
        Changes that may be found by chance, per point of a stationary track.
    least_ratio : float
        Changes whose size is within this relative difference are not reported; 0 reports all.
    least_deviations : float
        Steps whose levels are less than so many standard deviations of the track's values apart are
        not reported; 0 reports all.
    """

    false_alarm_rate: float = FALSE_ALARM_RATE
    least_ratio: float = 0.0
    least_deviations: float = LEAST_DEVIATIONS


@dataclass(frozen=True)
class Detection:
    """Where a detector says that a series changes.

    Parameters
    ----------
    kind : {"step", "spike", "creep", "noise"}
    index : int
        The first point at which it holds.
    last_index : int
        The last point of a spike; where a creep ends; `index` for others.
    p_value : float
        How probable a change as plain as this is in the whole series if nothing changes. Detectors
        whose rule gives none state the rate at which it fires on normal values.
    """

    kind: ChangeKind
    index: int
    last_index: int
    p_value: float


@dataclass(frozen=True)
class Detector:
    """A way to find changes.

    Parameters
    ----------
    name : str
        What ``--detector`` takes.
    description : str
        One sentence.
    detect : callable
        From a `Series` of any length and a `Sensitivity` to the detections, by index. Pure: the
        same series has the same detections.
    kinds : tuple of str
        The kinds of changes that it finds.
    least_points : int
        In shorter series it finds nothing.
    shortest_segment : int
        Two changes that it reports as steps are at least this many points apart.
    uses_sensitivity : bool
        False where a fixed rule decides, such as Talos's threshold of 9.
    origin : {"thesis", "beyond"}
        Whether Larres 2012 has it.
    """

    name: str
    description: str
    detect: Callable[[Series, Sensitivity], tuple[Detection, ...]]
    kinds: tuple[ChangeKind, ...]
    least_points: int
    shortest_segment: int = 1
    uses_sensitivity: bool = True
    origin: Literal["thesis", "beyond"] = "beyond"
