"""What an analysis of a table of trials gives: effects first, then what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from steelyard.analysis.tables.figure_values import Figure
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution


@dataclass(frozen=True)
class Effect:
    """One effect with its interval.

    Parameters
    ----------
    term : str
        What has it: a factor, an interaction (``A:B``), a level (``A[x]``), a pair of levels.
    effect : Interval
        In the unit that `unit` says.
    measure : str
        What kind of number it is: ``"coefficient"``, ``"difference"``, ``"ratio"``,
        ``"hodges-lehmann"``, ``"cliffs-delta"`` ...
    unit : str
        Of the effect; empty for a number without one.
    sum_squares : float or None
        What the term takes off the error sum of squares, the other terms being there.
    degrees : int or None
        Of the term.
    p : float or None
        Of the test that there is no effect, before any correction.
    adjusted_p : float or None
        The same, corrected for the number of comparisons of its family.
    quantile : float or None
        The quantile of the response that it is an effect on; None: the mean.
    aliases : tuple of str
        Terms that this design cannot tell from this one, each with its sign or weight.
    power : float or None
        The probability that a repetition of the experiment finds an effect of the stated size.
    detectable : float or None
        The effect that would be found with a power of 80 %.
    change : Interval or None
        The change of the response from the low level to the high one that goes with the effect, as
        a ratio to the response; None where the term has no two ends or the response no ratio.
    """

    term: str
    effect: Interval
    measure: str = "coefficient"
    unit: str = ""
    sum_squares: float | None = None
    degrees: int | None = None
    p: float | None = None
    adjusted_p: float | None = None
    quantile: float | None = None
    aliases: tuple[str, ...] = ()
    power: float | None = None
    detectable: float | None = None
    change: Interval | None = None


@dataclass(frozen=True)
class LevelCode:
    """A level, and the number that stands for it in each column of its factor's main effect."""

    level: str
    codes: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class FactorCoding:
    """How the levels of a factor enter a model, the low level first."""

    factor: str
    levels: tuple[LevelCode, ...]


@dataclass(frozen=True)
class LevelMean:
    """The mean response at one level of a factor, or at one level of each of two.

    Parameters
    ----------
    term : str
        The factor, or both (``A:B``).
    levels : tuple of str
        One of each factor of the term.
    mean : Interval
        By the model, over all combinations of the other factors alike, covariates at their means.
    row_mean : float or None
        Of the rows as they are: another value where combinations have unlike numbers of rows.
        None where there are no rows.
    count : int
        Rows.
    """

    term: str
    levels: tuple[str, ...]
    mean: Interval
    row_mean: float | None
    count: int


@dataclass(frozen=True)
class Source:
    """One source of variation: a line of an analysis of variance.

    `share` is the effect size that `share_name` names (eta squared, partial omega squared ...).
    `statistic` and `p` are None where nothing is left to test against.
    """

    term: str
    degrees: float
    sum_squares: float
    mean_square: float | None = None
    statistic: float | None = None
    p: float | None = None
    share: float | None = None
    share_name: str = ""


@dataclass(frozen=True)
class Test:
    """A test: its name, statistic, degrees of freedom (none, one or two) and p value."""

    name: str
    statistic: float
    degrees: tuple[float, ...]
    p: float | None


@dataclass(frozen=True)
class Assumption:
    """Something that the analysis rests on.

    `holds` is None where the data cannot tell. `advice` says what to do where it does not hold,
    and is empty where it does.
    """

    name: str
    holds: bool | None
    p: float | None
    advice: str


@dataclass(frozen=True)
class Analysis:
    """The result of a method that explains a response by factors.

    Parameters
    ----------
    method : str
        The name of the method.
    response, unit : str
        What was analysed.
    count : int
        Rows that were used.
    effects : tuple of Effect
    sources : tuple of Source
        The analysis of variance, where the method has one.
    r_squared : float or None
        The share of the variation that the model explains; None without a model or variation.
    tests, assumptions : tuple
    cautions : tuple of Caution
    figures : tuple of Figure
        What to draw.
    facts : mapping of str to float or str
        Further numbers that describe the fit, by name.
    conclusion : tuple of str
        What may be said, in sentences.
    codings : tuple of FactorCoding
        What the levels of each factor are in the model, where the method codes them.
    level_means : tuple of LevelMean
        Of the levels of each factor, then of pairs of factors, the strongest interaction first.
    """

    kind: ClassVar[str] = "analysis"

    method: str
    response: str
    unit: str
    count: int
    effects: tuple[Effect, ...]
    sources: tuple[Source, ...] = ()
    r_squared: float | None = None
    tests: tuple[Test, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    cautions: tuple[Caution, ...] = ()
    figures: tuple[Figure, ...] = ()
    facts: Mapping[str, float | str] = field(default_factory=dict[str, "float | str"])
    conclusion: tuple[str, ...] = ()
    codings: tuple[FactorCoding, ...] = ()
    level_means: tuple[LevelMean, ...] = ()
