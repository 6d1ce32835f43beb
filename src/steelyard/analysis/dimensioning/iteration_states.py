"""What the states of iterations say of those that an experiment has kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from steelyard.core.experiment_results import Caution
from steelyard.core.experiment_spec import Direction
from steelyard.core.rng import derive_seed

# Judging so many takes about a second; of longer executions `analyze --method states` tells.
MOST_VALUES = 30_000


def state_cautions(
    series: Sequence[Sequence[float]],
    dropped_count: int,
    seed: int,
    direction: Direction = "lower",
) -> Iterable[Caution]:
    """Whether more iterations are to be dropped, or only one of each execution to be kept.

    Parameters
    ----------
    series : sequence of sequence of float
        The kept iterations of each execution. Nothing is said where one of them cannot be judged
        (fewer than 30 iterations, values that are not positive or all alike), and where there are
        more than 30,000 values in all.
    dropped_count : int
        Iterations that were dropped before them.
    seed : int
        Of the redraws.
    direction : str
        ``"higher"`` where more is better.

    Notes
    -----
    The proposal of `states`: from where on iterations are independent in all executions, or, where
    they never are, the first initialised one over all executions (Kalibera and Jones, ISMM 2013,
    section 6.2).
    """
    if not 0 < sum(map(len, series)) <= MOST_VALUES:
        return
    from steelyard.analysis.states.benchmark_states import states_result
    from steelyard.analysis.states.execution import Rules, execution_state
    from steelyard.analysis.states.execution_series import refusal_of

    values = [np.asarray(one, dtype=np.float64) for one in series]
    if any(refusal_of(one) is not None for one in values):
        return
    rules = Rules(execution_count=len(values), direction=direction)
    executions = [
        execution_state(str(place), one, replace(rules, seed=derive_seed(seed, place)))
        for place, one in enumerate(values)
    ]
    found = states_result(executions, rules, ()).proposal
    walks = sum(one.refusal is not None and one.refusal.code == "wandering" for one in executions)
    if walks and found.rule != "same-iteration":
        yield Caution(
            "no-independent-state",
            f"The iterations of {walks} of {len(values)} executions follow each other as in a "
            "random walk: from none on are they independent. Take the same single iteration of "
            "each execution (--repeat iteration=1), or many more iterations.",
        )
        return
    if found.iteration is None:
        return
    wanted = dropped_count + found.iteration
    if found.rule == "independent" and found.iteration > 0:
        yield Caution(
            "warm-up-kept",
            f"The first {found.iteration} of the iterations that were kept are not yet in the "
            f"state of the others. Drop them: --warmup-iterations {wanted}.",
        )
    elif found.rule == "same-iteration":
        single = "the same single iteration of each execution (--repeat iteration=1)."
        yield Caution(
            "no-independent-state",
            "From no iteration on were those of all executions found independent; from number "
            f"{wanted} on they are initialised. "
            + (
                f"Drop those before it (--warmup-iterations {wanted}) and dimension again; if "
                f"this is said once more, take {single}"
                if found.iteration
                else f"Take {single}"
            ),
        )
