"""What came of fetching, building and running programs of the suite: one value each a program."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from steelyard.analysis.intervals.mean import mean_of, variance_of
from steelyard.core.experiment_results import Trial
from steelyard.suite.recipe import Recipe, Requirement
from steelyard.suite.suite_compilers import Toolchain


@dataclass(frozen=True)
class FetchOutcome:
    """What came of fetching one program.

    Parameters
    ----------
    version : str or None
        The one that is in the cache; None where fetching failed.
    fetched_bytes : int
        How much was fetched just now; 0 where it was in the cache.
    problem : str
        Why it could not be fetched; empty where it could.
    """

    recipe: Recipe
    version: str | None = None
    fetched_bytes: int = 0
    problem: str = ""


@dataclass(frozen=True)
class BuildOutcome:
    """What came of one build.

    Parameters
    ----------
    directory, cost_s, program_bytes
        None where the build failed, or where nothing is built because the program runs from its
        source.
    problem : str
        Why there is no build; the message names the log.
    """

    recipe: Recipe
    toolchain: Toolchain
    directory: str | None = None
    cost_s: float | None = None
    program_bytes: int | None = None
    problem: str = ""


@dataclass(frozen=True)
class RunOutcome:
    """What came of running one program.

    Parameters
    ----------
    problem : str
        Of the first trial that failed, or of what came before any; empty where all is well.
    missing : bool
        Whether the machine lacks something for it.
    """

    recipe: Recipe
    toolchain: Toolchain
    size: str
    trials: tuple[Trial, ...] = ()
    problem: str = ""
    missing: bool = False

    def values(self, metric: str) -> list[float]:
        """The values of a metric in the trials that went well."""
        return [
            value
            for trial in self.trials
            if trial.status == "ok"
            for value in trial.measurements.get(metric, ())
        ]

    def mean(self, metric: str) -> float | None:
        """The mean of a metric; None without values."""
        values = self.values(metric)
        return mean_of(values) if values else None

    def variation(self, metric: str) -> float | None:
        """The coefficient of variation of a metric; None with fewer than two values."""
        values = self.values(metric)
        mean = mean_of(values) if len(values) > 1 else 0.0
        return sqrt(variance_of(values)) / mean if mean > 0 else None


@dataclass(frozen=True)
class Need:
    """Something of the system that programs need, and whether it is there."""

    requirement: Requirement
    programs: tuple[str, ...]
    available: bool
