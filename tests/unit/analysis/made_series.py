"""Iterations whose state is known, because they were made."""

from __future__ import annotations

import numpy as np


def noise(count, seed=1, spread=0.02):
    return np.random.default_rng(seed).normal(1.0, spread, count)


def remembering(count, memory, seed):
    values = np.random.default_rng(seed).normal(0.0, 0.02, count)
    for index in range(1, count):
        values[index] += memory * values[index - 1]
    return 1.0 + values


def switching(count, runs, seed, spread, jump=0.2):
    """Two levels in turn, each for a random number of iterations from `runs`."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(*runs, count)
    levels = np.repeat(1 + jump * (np.arange(count) % 2), lengths)[:count]
    return levels * generator.normal(1.0, spread, count)
