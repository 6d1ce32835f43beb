"""What must be known beside the effects of a linear model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from steelyard.analysis.linear.design_least_squares import Fit
from steelyard.analysis.linear.diagnostics import LEVEL, Diagnostics
from steelyard.analysis.linear.effects import Spread
from steelyard.analysis.linear.table_factor import Factor
from steelyard.core.experiment_results import Caution

# Above it, terms share so much that their single effects mean little (Kutner et al., Applied
# Linear Statistical Models, section 10.5).
_INFLATED = 10.0
_NAMED_CELLS = 3
# With so many combinations, looking for the absent ones by name is not worth its time.
_SEARCHED_CELLS = 100_000


def design_cautions(fitted: Fit, factors: Sequence[Factor], order: int) -> Iterator[Caution]:
    """Single levels, missing combinations, unequal counts, aliases."""
    model = fitted.model
    for factor in factors:
        if len(factor.levels) == 1:
            yield Caution(
                "single-level",
                f"The factor {factor.name!r} has one level, {factor.levels[0]!r}: it has no effect "
                "that these data could show.",
            )
    missing = 0 if model.possible_count is None else model.possible_count - len(model.counts)
    if missing > 0 and not fitted.columns.dropped:
        yield Caution("missing-cells", _missing(fitted, factors, missing) + " The model has "
                      "no term that would need them.")  # fmt: skip
    elif missing > 0:
        yield Caution(
            "missing-cells",
            _missing(fitted, factors, missing)
            + " Terms that only they could tell apart are aliased; see there. Fewer interactions "
            "(--option interactions=N) may leave no alias.",
        )
    elif model.possible_count is not None and np.ptp(model.counts) > 0:
        yield Caution(
            "unbalanced",
            f"Combinations have from {model.counts.min()} to {model.counts.max()} rows. Effects "
            "are those of a design with equal counts; sums of squares (what a term takes off when "
            "all others are there) do not add up.",
        )
    if fitted.columns.dropped:
        labels = [model.columns[column].label for column in fitted.columns.dropped]
        shown = ", ".join(labels[:6]) + (" …" if len(labels) > 6 else "")
        yield Caution(
            "aliased",
            f"{len(labels)} of {len(model.columns) - 1} effects cannot be told from others in this "
            f"design: {shown}. An effect is shown with all that it may belong to.",
        )


def _missing(fitted: Fit, factors: Sequence[Factor], missing: int) -> str:
    possible = missing + len(fitted.model.counts)
    text = f"{missing} of {possible} combinations of levels have no row"
    if possible > _SEARCHED_CELLS:
        return f"{text}."
    present = {tuple(levels) for levels in fitted.model.levels.tolist()}
    absent = (
        ", ".join(f"{f.name}={f.levels[i]}" for f, i in zip(factors, codes, strict=True))
        for codes in product(*(range(len(factor.levels)) for factor in factors))
        if codes not in present
    )
    named = [name for name, _ in zip(absent, range(_NAMED_CELLS), strict=False)]
    more = " …" if missing > len(named) else ""
    return f"{text}: {'; '.join(named)}{more}."


def fit_cautions(fitted: Fit, found: Diagnostics, spread: Spread | None) -> Iterator[Caution]:
    """What the fit itself lacks."""
    if fitted.total_squares <= 0:
        yield Caution("constant-response", "The response has the same value in every row.")
        return
    if spread is None:
        yield Caution(
            "no-error-degrees",
            "Nothing is left to tell effects from chance: there are as many terms as rows. Sums of "
            "squares still rank the effects. Fewer interactions (--option interactions=N) leave "
            "some, more runs do, and --method screening judges two-level factors by each other.",
        )
    elif fitted.error_squares <= 0:
        yield Caution(
            "no-error",
            "The response does not vary but by the factors, so that intervals have no width: true "
            "of counts that repeat exactly, of times never.",
        )
    if found.lack_of_fit is not None and (found.lack_of_fit.p or 0.0) < LEVEL:
        yield Caution(
            "lack-of-fit",
            "The points of the design lie further from the model than replicates from each other: "
            "an interaction or a bend is missing. Raise --option interactions.",
        )
    inflated = [label for label, value in found.inflation.items() if value > _INFLATED]
    if inflated:
        yield Caution(
            "inflated",
            f"{', '.join(inflated[:5])}: known so poorly because other terms vary with them "
            f"(variance inflation up to {max(found.inflation.values()):.3g}).",
        )
