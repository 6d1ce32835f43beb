"""What a reader must know beside a dimensioning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.analysis.dimensioning.repeated_levels import RepeatedLevel
from steelyard.analysis.variance.variance_components import VarianceComponents
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import Caution

# The 95 % interval of a standard deviation from fewer values than this spans a factor above 2.5.
_FEW_UNITS = 10


def dimensioning_cautions(
    components: VarianceComponents, levels: Sequence[RepeatedLevel], costs_s: Mapping[str, float]
) -> list[Caution]:
    """All cautions: levels without variance, estimators, costs, and how sound the answer is."""
    found: list[Caution] = []
    for level in components.levels:
        if not isinstance(level.variance, Estimate):
            found.append(Caution("one-repetition", level.variance.explanation))
    if components.estimator == "anova-henderson-1":
        found.append(
            Caution(
                "unequal-counts",
                "Repetition counts differ between units; variances are those of the unbalanced "
                "nested analysis of variance (Henderson's method I).",
            )
        )
    names = [level.level for level in components.levels]
    first = names.index(levels[0].found.level) if levels else len(names)
    unknown = [name for name in names[first:] if name not in costs_s]
    if unknown:
        found.append(_unknown_costs(unknown))
    mean = components.mean.estimate
    if mean is not None and mean <= 0:
        found.append(
            Caution(
                "mean-not-positive",
                f"The mean is {mean:g}: half-widths relative to it, and so the counts for them, "
                "cannot be told.",
            )
        )
    return found + _variation_cautions(levels)


def _unknown_costs(levels: Sequence[str]) -> Caution:
    options = " ".join(f"--cost {level}=TIME" for level in levels)
    return Caution(
        "cost-unknown",
        f"The cost of {' and '.join(levels)} is not known, so that optimal counts and times cannot "
        f"be told; the table goes by the counts of this experiment. Give {options}.",
    )


def _variation_cautions(levels: Sequence[RepeatedLevel]) -> list[Caution]:
    if not levels:
        return []
    top = levels[0].found
    if all(level.variance == 0 for level in levels):
        return [
            Caution(
                "constant",
                "All values are alike, so that nothing seems to vary. Is the clock, or the "
                "rounding of the values, too coarse?",
            )
        ]
    found: list[Caution] = []
    if top.unit_count < _FEW_UNITS:
        found.append(
            Caution(
                "few-top-units",
                f"The variance of {top.level} rests on {top.unit_count} repetitions; the table "
                "may be far off. 20 or more are good, 30 better.",
            )
        )
    if levels[0].variance <= 0 and len(levels) > 1:
        found.append(
            Caution(
                "no-top-variation",
                f"No variation of {top.level} by itself was seen. It stays, because the interval "
                f"rests on it; counts below it assume the most variation that the data allow.",
            )
        )
    return found
