"""What a study of noise takes and gives: Larres (2012), chapters 3 and 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.tables.figure_values import ViolinFigure
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]
Effect = Literal["baseline", "steadier", "noisier", "no effect shown"]


@dataclass(frozen=True)
class Series:
    """The values of one setup.

    Parameters
    ----------
    name : str
    values : array
        In the order of their making.
    blocks : array or None
        The block of each; None where there are none.
    cpu_values : array or None
        The CPU time of each run, where `values` are wall-clock times.
    """

    name: str
    values: Floats
    blocks: Floats | None = None
    cpu_values: Floats | None = None


@dataclass(frozen=True)
class SetupNoise:
    """One setup: Larres's Tables 2.2 and 3.1 to 3.3, and 4.1 for its CPU time.

    Parameters
    ----------
    name : str
    count : int
    mean : Interval
    standard_deviation, variation : float
        In the unit of the metric; relative to the mean.
    spread : float
        The mean distance from the median, relative to it.
    max_difference_ratio, max_from_mean_ratio : float
        Highest minus lowest value, and the largest distance from the mean, relative to the mean.
    normality_p : float or None
        Of Shapiro and Wilk's test.
    baseline_p, cumulative_p : float or None
        Of Levene's test with medians against the baseline and against all measures together, on
        values relative to the median of their setup, so that a setup that only makes the program
        faster is not called steadier.
    adjusted_p : float or None
        `baseline_p`, corrected by Holm for the number of setups.
    spread_ratio, mean_ratio : Interval or None
        To the baseline; None for the baseline itself.
    effect : str
        What may be said of its spread.
    cpu_variation, cpu_p : float or None
        The CoV of CPU time, and p of Levene's test between CPU and wall-clock time.
    """

    name: str
    count: int
    mean: Interval
    standard_deviation: float
    variation: float
    spread: float
    max_difference_ratio: float
    max_from_mean_ratio: float
    normality_p: float | None
    baseline_p: float | None
    cumulative_p: float | None
    adjusted_p: float | None
    spread_ratio: Interval | None
    mean_ratio: Interval | None
    effect: Effect
    cpu_variation: float | None
    cpu_p: float | None


@dataclass(frozen=True)
class NoiseStudy:
    """The answer. `ranking` names the single setups, the one that takes most spread away first;
    those whose ratio is not known come last. `skipped` says of setups that there were not, why."""

    kind: ClassVar[str] = "host-study"

    response: str
    unit: str
    confidence: float
    baseline: str
    cumulative: str | None
    setups: tuple[SetupNoise, ...]
    ranking: tuple[str, ...]
    figures: tuple[ViolinFigure, ...]
    cautions: tuple[Caution, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()

    def setup(self, name: str) -> SetupNoise:
        """One of the setups by its name."""
        return next(setup for setup in self.setups if setup.name == name)
