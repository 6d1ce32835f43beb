"""How often an experiment file has its design repeated: by number, by power or by precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.app.experiment.experiment_entries import FactorEntry
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_budget, parse_ratio
from steelyard.core.stopping_spec import StoppingSpec

DEFAULT_RUNS = 30
USUAL_POWER = "80%"
_POWER = ("effect", "change", "variation", "probability")


@dataclass(frozen=True)
class PowerPlan:
    """What a number of blocks was chosen for.

    Parameters
    ----------
    effect : str
        The factor.
    change_ratio, variation_ratio : float
        The change between two of its levels, and the deviation of one trial at one point, both
        relative to the mean.
    power : float
        The probability that the experiment finds this change.
    runs : int
        Blocks.
    """

    effect: str
    change_ratio: float
    variation_ratio: float
    power: float
    runs: int


def repetition(
    settings: Mapping[str, Any], factors: Sequence[FactorEntry], point_count: int
) -> tuple[StoppingSpec, PowerPlan | None]:
    """The rule to stop of a file's table ``[experiment]``.

    Parameters
    ----------
    settings : mapping
        Of ``runs``, ``power`` and ``precision`` one; ``effect`` goes with ``precision``.
    factors : sequence of FactorEntry
    point_count : int
        Combinations of levels for each benchmark.

    Raises
    ------
    UsageError
        More than one of them, or one that cannot be.
    """
    budget_s, budget_runs = (None, None)
    if "budget" in settings:
        budget_s, budget_runs = parse_budget(str(settings["budget"]), "experiment.budget")
    named = [name for name in ("runs", "power", "precision") if name in settings]
    if len(named) > 1:
        raise UsageError(f"Give either {named[0]} or {named[1]}.", field=f"experiment.{named[1]}")
    effect = settings.get("effect", "")
    if effect and named != ["precision"]:
        raise UsageError(
            "effect names what is to be precise: give it with precision.", field="experiment.effect"
        )
    if named == ["precision"]:
        ratio = parse_ratio(str(settings["precision"]), "experiment.precision")
        stopping = StoppingSpec(
            precision_ratio=ratio, budget_s=budget_s, budget_runs=budget_runs, effect=effect
        )
        return stopping, None
    power, runs = None, settings.get("runs", DEFAULT_RUNS)
    if named == ["power"]:
        power = _power_plan(settings, factors, point_count)
        runs = power.runs
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
        raise UsageError(f"runs takes a whole number from 1 on, not {runs!r}.", field="runs")
    return StoppingSpec(runs=runs, budget_s=budget_s, budget_runs=budget_runs), power


def _power_plan(
    settings: Mapping[str, Any], factors: Sequence[FactorEntry], point_count: int
) -> PowerPlan:
    from steelyard.analysis.linear.power import two_level_power, two_level_sample_size

    asked = settings["power"]
    if not isinstance(asked, dict) or set(asked) - set(_POWER) or not {"change", "variation"} <= (
        set(asked)
    ):  # fmt: skip
        raise UsageError(
            'power takes {change = "1%", variation = "0.8%"} and, if you like, effect and '
            f"probability; it got {asked!r}. `steelyard measure` tells the variation of a program.",
            field="experiment.power",
        )
    change = parse_ratio(str(asked["change"]), "experiment.power.change")
    variation = parse_ratio(str(asked["variation"]), "experiment.power.variation")
    wanted = parse_ratio(str(asked.get("probability", USUAL_POWER)), "experiment.power.probability")
    known = {entry.name: entry for entry in factors}
    effect = asked.get("effect", next(iter(known), ""))
    if effect not in known:
        raise UsageError(
            f"power is for the effect {effect!r}, which is no factor. Factors: "
            f"{', '.join(known) or 'none'}.",
            field="experiment.power.effect",
        )
    levels = len(known[effect].levels)
    confidence = parse_ratio(str(settings.get("confidence", "95%")), "experiment.confidence")
    # Each of k levels has a k-th of the trials, where two have a half.
    sizes = (change * (2 / levels) ** 0.5, variation, point_count, point_count)
    found = two_level_sample_size(*sizes, wanted, confidence)
    if found.replicates is None:
        raise UsageError(
            f"No number of runs up to a million finds a change of {change:.3g} with a variation "
            f"of {variation:.3g}.",
            field="experiment.power",
        )
    reached = two_level_power(*sizes, found.replicates, confidence)
    return PowerPlan(str(effect), change, variation, reached, found.replicates)
