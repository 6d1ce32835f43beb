"""Repetition levels: where an experiment repeats, and where its counts come from."""

from __future__ import annotations

from dataclasses import dataclass

# The repetition levels above the iterations that are there without being named.
BUILD_LEVEL = "build"
EXECUTION_LEVEL = "execution"


@dataclass(frozen=True)
class RepetitionLevel:
    """A level above the iterations at which an experiment repeats.

    Parameters
    ----------
    name : str
        ``"build"``, ``"execution"``, or one that the user names.
    count : int or None
        Repetitions in each unit of the level above. None at the highest level, which is repeated
        as often as the rule to stop asks for: each time is a block.
    command : tuple of str or None
        Run at the start of each repetition of a user-named level.
    """

    name: str
    count: int | None = None
    command: tuple[str, ...] | None = None


@dataclass(frozen=True)
class MeanSquare:
    """How the means of one level varied in an initial experiment.

    Parameters
    ----------
    level : str
    count : float
        Mean repetitions in a unit of the level above.
    square_ratio : float
        S_i^2 relative to the square of the mean.
    degrees : float
        Its degrees of freedom.
    """

    level: str
    count: float
    square_ratio: float
    degrees: float


@dataclass(frozen=True)
class DimensionedBy:
    """The initial experiment that the counts of a variant come from, and how that varied.

    `squares` are those of its repeated levels, highest first.
    """

    variant: str
    experiment: str
    squares: tuple[MeanSquare, ...]
