"""Which combinations of levels an experiment file asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.app.experiment.experiment_entries import ConstraintEntry, ExperimentFile, FactorEntry
from steelyard.core.errors import UsageError
from steelyard.design.constraints import Allowed, Constraint
from steelyard.design.design import Design, DesignFactor
from steelyard.design.fractional_factorial import fractional_factorial
from steelyard.design.full_factorial import full_factorial
from steelyard.design.latin_square import latin_square
from steelyard.design.plackett_burman import plackett_burman


def experiment_design(
    file: ExperimentFile, factors: Sequence[FactorEntry], seed: int
) -> Design | None:
    """The design of a file's factors; None where nothing is varied.

    Raises
    ------
    UsageError
        The design does not fit the factors, or constraints do not fit the design.
    """
    if not factors:
        return None
    varied = tuple(DesignFactor(entry.name, entry.levels) for entry in factors)
    constraints = [_constraint(entry) for entry in file.constraints]
    kind = file.design.get("kind", "full-factorial")
    if kind == "full-factorial":
        return full_factorial(varied, constraints)
    if kind == "d-optimal":
        return _d_optimal(file, full_factorial(varied, constraints), seed)
    if constraints:
        raise UsageError(
            f"{file.path}: constraints go with full-factorial and d-optimal designs; a {kind} "
            "design without some of its points would mix up effects.",
            field="constraint",
        )
    if kind == "plackett-burman":
        return plackett_burman(varied, folded=bool(file.design.get("folded", False)))
    if kind == "latin-square":
        if len(varied) != 3:
            raise UsageError(
                f"{file.path}: a latin-square takes three factors (rows, columns, treatment), and "
                f"the file has {len(varied)}.",
                field="design.kind",
            )
        return latin_square(*varied, seed)
    generators = _generators(file.design.get("generators", ()))
    count = file.design.get("fraction", len(generators) or 1)
    return fractional_factorial(varied, count, generators or None)


def _d_optimal(file: ExperimentFile, allowed: Design, seed: int) -> Design:
    """Of the allowed combinations those that tell most."""
    from steelyard.analysis.linear.d_optimal_points import d_optimal_points

    order = int(file.design.get("interactions", 1))
    counts = [len(factor.levels) for factor in allowed.factors]
    found = d_optimal_points(counts, allowed.points, seed, file.design.get("points"), order)
    return Design(
        "d-optimal",
        allowed.factors,
        [allowed.points[place] for place in found.places],
        efficiency_ratio=found.efficiency_ratio,
        model_order=order,
    )


def skipped_points(
    file: ExperimentFile, factors: Sequence[FactorEntry], design: Design | None
) -> tuple[str, ...]:
    """The combinations that constraints forbid, as text."""
    if design is None or not file.constraints:
        return ()
    whole = full_factorial(design.factors)
    allowed = Allowed(design.factors, [_constraint(entry) for entry in file.constraints])
    return tuple(
        point_text(whole.levels_of(number))
        for number, codes in enumerate(whole.points)
        if not allowed(codes)
    )


def point_text(point: Mapping[str, str]) -> str:
    """A combination of levels for people."""
    return ", ".join(f"{name}={level}" for name, level in point.items())


def _constraint(entry: ConstraintEntry) -> Constraint:
    if entry.forbid:
        return Constraint({**entry.when, **entry.forbid}, {})
    return Constraint(entry.when, entry.require)


def _generators(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """``E = A:B:C`` as a generated factor and those that generate it."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        target, equals, parts = text.partition("=")
        names = tuple(part.strip() for part in parts.split(":"))
        if not equals or not target.strip() or not all(names):
            raise UsageError(
                f"A generator is written as 'E = A:B:C'; it got {text!r}.", field="generators"
            )
        found[target.strip()] = names
    return found
