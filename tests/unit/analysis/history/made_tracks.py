"""Made tracks of the kinds that Larres 2012, section 5.3, describes."""

import numpy as np


def opposite_jumps(seed=4):
    """A level of 300 with noise of 3, up by 60 for two values at 60, and back (August 2010)."""
    values = np.random.default_rng(seed).normal(300.0, 3.0, 120)
    values[60:62] += 60.0
    return values, 60


def settled_step(seed=4):
    """A level of 300 that steps to 340 at 60 and stays (July and August 2010)."""
    values = np.random.default_rng(seed).normal(300.0, 3.0, 120)
    values[60:] += 40.0
    return values, 60
