"""Redraws of what the class of an execution rests on, from its errors."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.tables.data_columns import Floats

REDRAWS = 400
# Values within a block keep their dependence on each other; so many blocks still give far more
# combinations of signs than there are redraws.
_BLOCKS = 20


def signed_sums(contributions: Floats, generator: np.random.Generator) -> Floats:
    """Errors of sums, drawn anew: the sums of `contributions` with blocks of random sign.

    Parameters
    ----------
    contributions : array
        A row for each place in the sequence: what the deviation there adds to each of the sums.

    Returns
    -------
    array
        `REDRAWS` rows, a column a sum.

    Notes
    -----
    The wild bootstrap with signs (Wu, Annals of Statistics 14 (1986) 1261), by blocks.
    """
    count = len(contributions)
    starts = np.arange(min(count, _BLOCKS)) * count // min(count, _BLOCKS)
    blocks = np.add.reduceat(contributions, starts, axis=0)
    signs = generator.integers(0, 2, (REDRAWS, len(blocks))) * 2.0 - 1.0
    return np.asarray(signs @ blocks, dtype=np.float64)
