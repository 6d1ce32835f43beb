"""Coverage of the mean's and the ratio's interval at fixed numbers of blocks.

Every interval and caution comes from the functions that answer a real experiment.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.prove.judging import (
    CLEAN,
    Tally,
    covers,
    inference,
    is_bounded,
    judge_mean,
    judge_ratios,
    top_levels,
)
from benchmarks.prove.time_populations import DRIFTS, POPULATIONS, mean_of_seen
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
    For a stationary drift a third tally takes the level that it keeps to in the long run, and of
    clean normal values one takes every caution of the answer.
    """
    generator = np.random.default_rng(derive_seed(1, "fixed", population, drift, block_count))
    shape = (experiment_count, block_count)
    disturbance = DRIFTS[drift](generator, shape)
    sample = POPULATIONS[population]
    runs = sample(generator, shape)
    seen_means = [mean_of_seen(population, row) for row in runs.tolist()]
    baselines = (disturbance * runs).tolist()
    candidates = (TRUE_RATIO * disturbance * sample(generator, shape)).tolist()
    session_means = disturbance.mean(axis=1).tolist()
    situation = (population, drift, str(block_count))
    mean, ratio = Tally("mean", situation), Tally("ratio", situation)
    long_run = Tally("long-run mean", situation)
    answer = Tally("answer", situation)
    tool = inference(2, method=method)
    rows = zip(baselines, candidates, session_means, seen_means, strict=True)
    for baseline, candidate, truth, seen in rows:
        levels = top_levels((baseline, candidate))
        interval, warned = judge_mean(tool, levels)
        holds_seen, bounded = covers(interval, seen * truth), is_bounded(interval)
        held = covers(interval, truth)
        mean.add(held, warned, block_count, seen=holds_seen, bounded=bounded)
        long_run.add(covers(interval, 1.0), warned, block_count)
        intervals, doubted = judge_ratios(tool, levels)
        held = covers(intervals[0], TRUE_RATIO)
        ratio.add(held, doubted, block_count, bounded=is_bounded(intervals[0]))
        if situation[:2] == CLEAN:
            warned = warned or doubted or judge_mean(tool, levels, 1)[1]
            answer.add(held, warned, block_count)
    tallies = [mean, ratio]
    if drift == "AR(1)":
        tallies.append(long_run)
    return [*tallies, answer] if answer.count else tallies
