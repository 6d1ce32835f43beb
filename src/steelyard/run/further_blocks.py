"""How many more blocks an experiment needs whose blocks are run elsewhere, some at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from steelyard.core.experiment_results import StopReason, Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.design.schedule import phases
from steelyard.run.session_phase import Phase

# Fewer failures of a variant that never ran well do not show that it never will.
HOPELESS_BLOCKS = 3
# Twice as many blocks cost no more than all before them, should the estimate be wrong.
_FASTEST_GROWTH = 2


@dataclass(frozen=True)
class FurtherBlocks:
    """What is to be done next.

    Parameters
    ----------
    stopped : str or None
        Why the experiment has ended; None: it goes on.
    block_count : int
        Blocks in all that are to be there by the next look.
    """

    stopped: StopReason | None
    block_count: int


def further_blocks(
    spec: ExperimentSpec, trials: Sequence[Trial], block_count: int, most_blocks: int
) -> FurtherBlocks:
    """Look at an experiment of which `block_count` blocks were run, by the rule of its own.

    Parameters
    ----------
    most_blocks : int
        More are never run.

    Notes
    -----
    The rule is that of an experiment on one machine, asked more seldom: fewer looks do not make its
    intervals too narrow. A budget of time is that of all trials together, wherever they run.
    """
    (variants,) = phases(spec)
    phase = Phase(spec, variants, set(), followed=True)
    phase.start(sorted(trials, key=lambda trial: (trial.block, trial.position)))
    if _is_hopeless(spec, trials):
        return FurtherBlocks("failures", block_count)
    looks = phase.looks()
    if phase.complete_blocks and all(look.done for look in looks):
        return FurtherBlocks("precision", block_count)
    needed = [look.blocks_needed or _FASTEST_GROWTH * block_count for look in looks]
    wanted = min(max(needed), _FASTEST_GROWTH * block_count)
    limit = min(most_blocks, _affordable(spec, trials, block_count))
    if block_count >= limit:
        return FurtherBlocks("budget", block_count)
    return FurtherBlocks(None, min(limit, max(block_count + 1, wanted)))


def _affordable(spec: ExperimentSpec, trials: Sequence[Trial], block_count: int) -> int:
    """The blocks that its budgets of trials and of time pay for; `block_count` where a further one
    would pass them."""
    limits = [2**31]
    size = len(spec.variants) * spec.trials_of_variant
    if spec.stopping.budget_runs is not None:
        limits.append(spec.stopping.budget_runs // size)
    if spec.stopping.budget_s is not None:
        spent_s = sum(trial.spent_s for trial in trials)
        each_s = spent_s / max(1, block_count)
        limits.append(int(spec.stopping.budget_s / each_s) if each_s > 0 else block_count)
    return max(block_count, min(limits))


def _is_hopeless(spec: ExperimentSpec, trials: Sequence[Trial]) -> bool:
    """Whether a variant has failed in every one of its first blocks."""
    for variant in range(len(spec.variants)):
        own = [trial for trial in trials if trial.variant == variant and not trial.warmup]
        blocks = {trial.block for trial in own}
        if len(blocks) >= HOPELESS_BLOCKS and all(trial.status == "failed" for trial in own):
            return True
    return False


def whole_rounds(block_count: int, worker_count: int) -> int:
    """That many blocks, or a few more, so that each worker has as many."""
    return ceil(block_count / worker_count) * worker_count
