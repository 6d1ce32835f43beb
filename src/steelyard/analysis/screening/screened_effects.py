"""Effects of a screening design, and which factors they propose for a full one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import t_quantile, t_two_sided_p
from steelyard.analysis.linear.design_least_squares import Fit, fit
from steelyard.analysis.linear.model_matrix import INTERCEPT, ModelMatrix, model_matrix
from steelyard.analysis.linear.orthogonal import orthogonalised
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.screening.lenth import FEWEST_CONTRASTS, lenth_margins
from steelyard.analysis.tables.analysis_method import Result
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]

METHOD = "screening"
PROPOSED = "proposed"
# Shares of an interaction below it are rounding.
_SMALLEST_SHARE = 1e-8
# Fewer degrees make the error of replicates worse known than that of Lenth's median.
_FEWEST_ERROR_DEGREES = 6
_NAMED_ALIASES = 4


@dataclass(frozen=True)
class _Margins:
    """Half-widths for one effect and for all together, with what made them."""

    margin: float
    simultaneous: float
    error: float
    degrees: float
    method: str


def relative_to_groups(values: Floats, group: Factor) -> Floats:
    """Values as if each group, such as the host that they come from, had the mean of all.

    Each is divided by its group's mean and multiplied by the mean of these: a host that is slower
    by a factor is so at every point. Groups that have every point as often leave the effects' own.
    """
    counts = np.bincount(group.codes)
    means = np.bincount(group.codes, weights=values) / counts
    if not means.all():
        raise AnalysisError(
            f"{group.name} {group.levels[int(np.flatnonzero(means == 0)[0])]!r} has the mean 0, "
            "so that nothing is relative to it.",
            field="--option",
        )
    return np.asarray(values / means[group.codes] * means.mean(), dtype=np.float64)


def screening(
    factors: Sequence[Factor],
    response: str,
    unit: str,
    values: Floats,
    confidence: float,
    spent_degrees: int = 0,
) -> Analysis:
    """Main effects of two-level factors, what they are mixed with, and whom to look at closer.

    Parameters
    ----------
    factors : sequence of Factor
        Two levels each; the first is the low one.
    response, unit : str
    values : array
    confidence : float
    spent_degrees : int
        Degrees of freedom that the values have lost already, as by means that were taken out.

    Raises
    ------
    AnalysisError
        A factor has not two levels, or the design has no more points than factors.

    Notes
    -----
    Effects are half the change from the low level to the high one. With enough replicates their
    error is that within points; without, it is Lenth's, of all contrasts that the design leaves:
    the main effects and an orthonormal basis of the rest.
    """
    for factor in factors:
        if len(factor.levels) != 2:
            raise AnalysisError(
                f"--method screening takes factors with two levels; {factor.name!r} has "
                f"{len(factor.levels)}: {', '.join(map(repr, factor.levels[:6]))}.",
                field="--factors",
            )
    model = model_matrix(factors, (), 1, "coded")
    fitted = fit(model, values)
    if fitted.columns.dropped:
        raise AnalysisError(
            "The runs of this table do not keep the main effects of "
            f"{', '.join(f.name for f in factors)} apart.",
            field="--factors",
        )
    margins = _margins(fitted, confidence, spent_degrees)
    effects = tuple(_effect(fitted, k, margins, confidence, unit) for k in range(len(factors) + 1))
    proposed = [e.term for e in effects[1:] if e.p is not None and e.p < 1 - confidence]
    surely = [e.term for e in effects[1:] if _beyond(e, margins)]
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=effects,
        r_squared=fitted.r_squared,
        assumptions=(_sparsity(fitted, margins, effects),),
        cautions=tuple(_cautions(fitted, margins, proposed)),
        facts=_facts(fitted, margins, proposed),
        conclusion=_conclusion(effects, proposed, surely, confidence),
    )


def proposed_factors(result: Result) -> tuple[str, ...] | None:
    """The factors that a screening proposes, perhaps none; None of another analysis."""
    if not isinstance(result, Analysis) or result.method != METHOD:
        return None
    level = 1 - next((e.effect.confidence for e in result.effects), 0.95)
    return tuple(e.term for e in result.effects if e.p is not None and e.p < level)


def _margins(fitted: Fit, confidence: float, spent_degrees: int) -> _Margins | None:
    """Of an effect with the weight of a main effect; None where nothing tells the error."""
    scale = float(np.sqrt(np.diag(fitted.unscaled_covariance)[1:].mean()))
    count = fitted.rank - 1
    degrees = fitted.count - len(fitted.model.counts) - spent_degrees
    if degrees >= _FEWEST_ERROR_DEGREES:
        error = scale * float(np.sqrt(fitted.point_squares.sum() / degrees))
        together = 1 - (1 - confidence) / (2 * count)
        return _Margins(
            t_quantile((1 + confidence) / 2, degrees) * error,
            t_quantile(together, degrees) * error,
            error,
            degrees,
            "student-replicates",
        )
    contrasts = _contrasts(fitted)
    if len(contrasts) < FEWEST_CONTRASTS:
        return None
    found = lenth_margins(scale * contrasts, confidence)
    return _Margins(found.margin, found.simultaneous, found.error, found.degrees, "lenth")


def _contrasts(fitted: Fit) -> Floats:
    """All contrasts among the points that are not the mean, each with the variance of one row.

    After the main effects those interactions of two that are something else, so that a strong one
    stays one contrast; then whatever is left.
    """
    weights = np.sqrt(fitted.model.counts)
    signs = fitted.model.matrix[:, 1:]
    pairs = [signs[:, a] * signs[:, b] for a, b in combinations(range(signs.shape[1]), 2)]
    columns = [fitted.model.matrix, *(pair[:, None] for pair in pairs), np.eye(len(weights))]
    whole = orthogonalised(np.column_stack(columns) * weights[:, None])
    basis = np.asarray(whole.basis, dtype=np.float64)
    return basis[:, 1:].T @ (fitted.point_means * weights)


def _effect(
    fitted: Fit, place: int, margins: _Margins | None, confidence: float, unit: str
) -> Effect:
    value = float(fitted.coefficients[place])
    term = fitted.model.columns[place].label
    first = term == INTERCEPT
    statistic = None
    if margins is not None and margins.error > 0 and not first:
        statistic = value / margins.error
    return Effect(
        term=term,
        effect=_interval(value, None if first else margins, confidence),
        unit=unit,
        p=None
        if margins is None or statistic is None
        else t_two_sided_p(statistic, margins.degrees),
        aliases=() if first else tuple(_aliases(fitted.model, place)),
    )


def _interval(value: float, margins: _Margins | None, confidence: float) -> Interval:
    if margins is None:
        return Unbounded(
            value, confidence, "lenth", "no-error",
            "Nothing tells the error: replicate the runs, or take more of them.",
        )  # fmt: skip
    return Estimate(
        value, value - margins.margin, value + margins.margin, confidence, margins.method
    )


def _aliases(model: ModelMatrix, place: int) -> list[str]:
    """Interactions of two that are mixed into a main effect, each with its share."""
    signs = model.matrix[:, 1:]
    found: list[str] = []
    for a, b in combinations(range(signs.shape[1]), 2):
        if place - 1 in (a, b):
            continue
        share = float(np.mean(signs[:, place - 1] * signs[:, a] * signs[:, b]))
        if abs(share) < _SMALLEST_SHARE:
            continue
        name = f"{model.columns[a + 1].label}:{model.columns[b + 1].label}"
        whole = abs(abs(share) - 1) < _SMALLEST_SHARE
        found.append(f"{'-' if share < 0 else ''}{name}" if whole else f"{share:.2g} {name}")
    return found


def _beyond(effect: Effect, margins: _Margins | None) -> bool:
    size = effect.effect.estimate
    return margins is not None and size is not None and abs(size) > margins.simultaneous


def _sparsity(fitted: Fit, margins: _Margins | None, effects: Sequence[Effect]) -> Assumption:
    """Lenth's error is right only where most contrasts are chance."""
    if margins is None or margins.method != "lenth":
        return Assumption("few active effects", None if margins is None else True, None, "")
    contrasts = _contrasts(fitted)
    scale = float(np.sqrt(np.diag(fitted.unscaled_covariance)[1:].mean()))
    active = int((np.abs(scale * contrasts) > margins.margin).sum())
    holds = active <= len(contrasts) / 3
    advice = "" if holds else "Replicate the runs: then their own spread is the error."
    return Assumption("few active effects", holds, None, advice)


def _cautions(fitted: Fit, margins: _Margins | None, proposed: Sequence[str]) -> Iterator[Caution]:
    if float(np.ptp(fitted.point_means)) == 0:
        yield Caution("constant-response", "The response is the same at every point.")
    if np.ptp(fitted.model.counts) > 0:
        yield Caution(
            "unbalanced",
            f"Combinations have from {fitted.model.counts.min()} to {fitted.model.counts.max()} "
            "rows, so that effects are not known equally well; the margin is a mean.",
        )
    if margins is None:
        yield Caution(
            "no-error-degrees",
            f"There are fewer than {FEWEST_CONTRASTS} contrasts and too few replicates: effects "
            "are ranked, and none is proposed.",
        )
    mixed = [
        column.label
        for place, column in enumerate(fitted.model.columns)
        if column.label in proposed and _aliases(fitted.model, place)
    ]
    if mixed:
        yield Caution(
            "aliased",
            f"{', '.join(mixed)} may owe its effect to an interaction that the design mixes into "
            "it. The full design of the proposed factors, or the folded one, tells them apart.",
        )


def _facts(
    fitted: Fit, margins: _Margins | None, proposed: Sequence[str]
) -> dict[str, float | str]:
    facts: dict[str, float | str] = {
        "points": float(len(fitted.model.counts)),
        PROPOSED: ", ".join(proposed) or "none",
    }
    if margins is not None:
        facts |= {
            "standard_error": margins.error,
            "error_degrees": margins.degrees,
            "margin": margins.margin,
            "simultaneous_margin": margins.simultaneous,
        }
    return facts


def _conclusion(
    effects: Sequence[Effect], proposed: Sequence[str], surely: Sequence[str], confidence: float
) -> tuple[str, ...]:
    if all(effect.p is None for effect in effects):
        return ()
    if not proposed:
        margin = f"{100 * confidence:g} % margin of one effect"
        return (f"No factor has an effect beyond chance ({margin}).",)
    sentences = [f"For a full design: {', '.join(proposed)}."]
    doubtful = [name for name in proposed if name not in surely]
    if doubtful:
        sentences.append(
            f"Of these {', '.join(doubtful)} would not pass the margin of all effects together."
        )
    for effect in effects[1:]:
        if effect.term in proposed and effect.aliases:
            shown = ", ".join(effect.aliases[:_NAMED_ALIASES])
            more = " …" if len(effect.aliases) > _NAMED_ALIASES else ""
            sentences.append(f"{effect.term} is mixed with {shown}{more}.")
    rest = [effect.term for effect in effects[1:] if effect.term not in proposed]
    if rest:
        sentences.append(f"Left at their first level: {', '.join(rest)}.")
    return tuple(sentences)
