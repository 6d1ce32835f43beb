"""What a reader of a study of noise must know beside its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.analysis.distributions.table_distributions import f_upper_p
from steelyard.analysis.noise.noise_results import Series, SetupNoise
from steelyard.core.experiment_results import Caution

# Of the test that blocks are alike: low, since it is told as a fact.
_DRIFT_P = 0.001
_NORMAL_P = 0.05
# As many runs as Larres made (2012, section 2.5.1).
_ENOUGH_RUNS = 30


def drift_cautions(series: Sequence[Series]) -> tuple[Caution, ...]:
    """How much of the variation all setups of a block share: no setup takes it away."""
    blocks = [item.blocks for item in series]
    known = [block for block in blocks if block is not None]
    if len(known) < len(series):
        return ()
    _, block = np.unique(np.concatenate(known), return_inverse=True)
    relative = [item.values / (float(np.median(item.values)) or 1.0) for item in series]
    values = np.concatenate([part - part.mean() for part in relative])
    counts = np.bincount(block)
    means = np.bincount(block, values) / counts
    between, within = float(counts @ means**2), float(((values - means[block]) ** 2).sum())
    # Each setup's own mean was taken away.
    degrees = (float(len(counts) - 1), float(len(values) - len(counts) - len(series) + 1))
    if degrees[0] < 1 or degrees[1] < 1 or not within > 0:
        return ()
    ratio = (between / degrees[0]) / (within / degrees[1])
    if f_upper_p(ratio, *degrees) >= _DRIFT_P:
        return ()
    # The component of variance between blocks (Searle, Variance Components, 1992, section 3.6).
    size = len(values) / len(counts)
    common = max(0.0, between / degrees[0] - within / degrees[1]) / size
    share = common / (common + within / degrees[1])
    return (
        Caution(
            "drift",
            f"{100 * share:.0f} % of the variance is common to all setups of a block: the machine "
            "becomes faster and slower over the study, and no setup takes that away. Comparisons "
            "within blocks are free of it; CoV and maximum differences are not.",
        ),
    )


def setup_cautions(setups: Sequence[SetupNoise]) -> tuple[Caution, ...]:
    """Setups with few runs, or whose runs are not normally distributed."""
    normal = [setup.name for setup in setups if (setup.normality_p or 1.0) >= _NORMAL_P]
    few = [setup for setup in setups if setup.count < _ENOUGH_RUNS]
    found: list[Caution] = []
    if few:
        found.append(
            Caution(
                "few-runs",
                f"{few[0].name} has {few[0].count} runs: with fewer than {_ENOUGH_RUNS}, only "
                "large changes of spread are found.",
            )
        )
    if len(normal) < len(setups):
        found.append(
            Caution(
                "not-normal",
                f"{len(setups) - len(normal)} of {len(setups)} setups are not normally distributed "
                "(Shapiro and Wilk, p < 0.05). Levene's test with medians and the ratio of spreads "
                "hold nevertheless; standard deviations are moved by single outliers.",
            )
        )
    return tuple(found)
