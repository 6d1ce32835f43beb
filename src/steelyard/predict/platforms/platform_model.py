"""What a platform model is: from a question to a cost on every host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from steelyard.predict.arrays import Floats
from steelyard.predict.platforms.platform_question import Question
from steelyard.predict.subsets.subset_choice import Noise


@dataclass(frozen=True)
class LikeErrors:
    """Errors on the suite's own benchmarks, each predicted as the application is.

    Parameters
    ----------
    errors : array, shape (j, h)
        Predicted less observed cost of each benchmark at each host where the application is not
        known; NaN where the benchmark was not measured.
    difficulties : array, shape (j, h)
        How hard each benchmark is to predict at each host, from its known hosts alone.
    difficulty : array, shape (h,)
        The same of the application.
    """

    errors: Floats
    difficulties: Floats
    difficulty: Floats


@dataclass(frozen=True)
class Prediction:
    """A model's answer.

    Parameters
    ----------
    costs : array, shape (h,)
        For every host, known or not.
    predictors : tuple of int
        Columns of the suite that the model chose; empty where it uses all of them.
    adjusted_r_squared, mallows_cp : float or None
        Of a linear model on its known hosts; None where undefined.
    noise : Noise or None
        What Mallows' Cp was measured by.
    like_errors : LikeErrors or None
        Where the model has predicted the suite's benchmarks alike.
    weights : tuple of (str, float)
        What an average of models is made of.
    exhaustive : bool
        False where a search for predictors met its limit of work.
    """

    costs: Floats
    predictors: tuple[int, ...] = ()
    adjusted_r_squared: float | None = None
    mallows_cp: float | None = None
    noise: Noise | None = None
    like_errors: LikeErrors | None = None
    weights: tuple[tuple[str, float], ...] = ()
    exhaustive: bool = True


@dataclass(frozen=True)
class PlatformModel:
    """A way to predict an application's cost on a host.

    Parameters
    ----------
    name : str
        What ``--model`` takes.
    description : str
        One sentence.
    predict : callable
        From a `Question` with at least `least_known` known hosts to a `Prediction`. Pure.
    least_known : int
        Known hosts below which it has no answer.
    needs : {"suite", "clock", "benchmarks"}
        ``"clock"``: a table that has clock rates.
    origin : {"thesis", "beyond"}
        Whether Oliveira 2015 has it.
    """

    name: str
    description: str
    predict: Callable[[Question], Prediction]
    least_known: int = 3
    needs: Literal["suite", "clock"] = "suite"
    origin: Literal["thesis", "beyond"] = "beyond"
