"""Why an execution that could be judged has no class."""

from __future__ import annotations

from steelyard.analysis.states.local_levels import LocalLevels
from steelyard.analysis.states.state_rules import Rules
from steelyard.analysis.states.wandering import Wandering
from steelyard.core.experiment_results import Caution


def too_noisy(reach: float, rules: Rules) -> Caution:
    """The mean of the final state is not known to within the tolerance."""
    return Caution(
        "too-noisy",
        f"its values scatter so much that the mean of the last state is known to ± {reach:.0%} "
        f"only, and levels within {rules.tolerance:.3g} of each other are to count as the same. "
        "More iterations, or a quieter machine, would tell; or a larger --option tolerance.",
    )


def undecided(share: float, state: str) -> Caution:
    """The class is as good as guessed."""
    return Caution(
        "undecided",
        f"only {share:.0%} of redraws, from the errors of its levels, give the same class "
        f"({state}); more iterations would tell.",
    )


def between(probability: float) -> Caution:
    """It may be steady or not."""
    return Caution(
        "undecided",
        "whether its level still changes in the last sixth is not plain beside its other changes: "
        f"{probability:.0%} of executions like this one are judged not steady. More iterations "
        "would tell.",
    )


def unsettled(local: LocalLevels, rules: Rules) -> Caution:
    """The final state goes to and fro."""
    return Caution(
        "undecided",
        f"a quarter of its stretches of {local.length} iterations lie {local.distance:.1%} or more "
        f"from the middle of its last state, where the tolerance is {rules.tolerance:.3g}; noise "
        "alone does not explain this. It seems to go to and fro between levels, each too short to "
        "be found by itself.",
    )


def wanders(found: Wandering, rules: Rules) -> Caution:
    """Its levels are chance."""
    return Caution(
        "wandering",
        f"its values wander: each follows the one before it (correlation {found.memory:.3f}), "
        f"and their means over time lie up to {found.distance:.1%} apart, where the tolerance is "
        f"{rules.tolerance:.3g}. A random walk looks like this and has no level. Many more "
        "iterations would tell.",
    )
