"""Coverage of the mean's and the ratio's interval at fixed numbers of blocks.

Every interval and caution comes from the functions that answer a real experiment.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.prove.judging import (
    Tally,
    covers,
    inference,
    judge_mean,
    judge_ratios,
    top_levels,
)
from benchmarks.prove.populations import DRIFTS, POPULATIONS
from steelyard.core.rng import derive_seed

BLOCK_COUNTS = (10, 20, 30, 100)
TRUE_RATIO = 0.95


def situations() -> Iterator[tuple[str, str, int]]:
    """Every population with every drift at every number of blocks."""
    yield from product(POPULATIONS, DRIFTS, BLOCK_COUNTS)


def simulate(
    population: str,
    drift: str,
    block_count: int,
    experiment_count: int,
    method: str = "fieller",
) -> list[Tally]:
    """The mean of one program and the ratio of two, in experiments of one kind.

    Notes
    -----
    The truth of the mean is that over the time of the experiment, with the drift as it was.
    For a stationary drift a third tally takes the level that it keeps to in the long run.
    """
    generator = np.random.default_rng(derive_seed(1, "fixed", population, drift, block_count))
    shape = (experiment_count, block_count)
    disturbance = DRIFTS[drift](generator, shape)
    sample = POPULATIONS[population]
    baselines = (disturbance * sample(generator, shape)).tolist()
    candidates = (TRUE_RATIO * disturbance * sample(generator, shape)).tolist()
    session_means = disturbance.mean(axis=1).tolist()
    situation = (population, drift, str(block_count))
    mean, ratio = Tally("mean", situation), Tally("ratio", situation)
    long_run = Tally("long-run mean", situation)
    tool = inference(2, method=method)
    for baseline, candidate, truth in zip(baselines, candidates, session_means, strict=True):
        levels = top_levels((baseline, candidate))
        interval, warned = judge_mean(tool, levels)
        mean.add(covers(interval, truth), warned, block_count)
        long_run.add(covers(interval, 1.0), warned, block_count)
        intervals, warned = judge_ratios(tool, levels)
        ratio.add(covers(intervals[0], TRUE_RATIO), warned, block_count)
    return [mean, ratio, long_run] if drift == "AR(1)" else [mean, ratio]
