"""A table of trials as values of complete blocks, by level and arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.linear.table_factor import Factor
from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """Means of the rows of each cell.

    Parameters
    ----------
    levels : tuple of str
        Those that were measured in both arms.
    columns : mapping of str to array of shape (blocks, levels, 2)
        Of complete blocks, by the name of the column.
    cautions : tuple of Caution
        What was left out.
    """

    levels: tuple[str, ...]
    columns: Mapping[str, Floats]
    cautions: tuple[Caution, ...]


def complete_cells(
    factor: Factor, arm: Factor, blocks: Integers | None, columns: Mapping[str, Floats]
) -> Cells:
    """The values of those blocks that have every level in both arms.

    Parameters
    ----------
    factor, arm : Factor
        `arm` has two levels, the second with the intervention.
    blocks : array of int or None
        For each row its block; None numbers the rows of each cell in their order.
    columns : mapping of str to array

    Raises
    ------
    AnalysisError
        The intervention has not two levels, or no block has every level in both arms.
    """
    if len(arm.levels) != 2:
        raise AnalysisError(
            f"The intervention {arm.name!r} must have two levels, without and with it; it has "
            f"{len(arm.levels)}: {', '.join(arm.levels[:5])}.",
            field="--factors",
        )
    cell = factor.codes * 2 + arm.codes
    if blocks is None:
        blocks = _numbered(cell)
    _, block = np.unique(blocks, return_inverse=True)
    block = block.reshape(-1)
    width = 2 * len(factor.levels)
    shape = (int(block.max()) + 1, len(factor.levels), 2)
    counts = np.bincount(block * width + cell, minlength=int(np.prod(shape))).reshape(shape)
    kept = (counts.sum(axis=0) > 0).all(axis=1)
    whole = (counts[:, kept] > 0).all(axis=(1, 2))
    if not whole.any():
        raise AnalysisError(
            f"No block has every level of {factor.name!r} both at {arm.name}={arm.levels[0]} and "
            f"at {arm.levels[1]}, so there is no effect within blocks. Take an intervention that "
            "was varied within them, or name other blocks: --option block=COLUMN.",
            field="--factors",
        )
    found: dict[str, Floats] = {}
    for name, values in columns.items():
        sums = np.bincount(block * width + cell, values, minlength=counts.size).reshape(shape)
        found[name] = (sums[:, kept] / np.maximum(counts[:, kept], 1))[whole]
    levels = tuple(level for level, keep in zip(factor.levels, kept, strict=True) if keep)
    gone = [level for level in factor.levels if level not in levels]
    return Cells(levels, found, tuple(_cautions(factor.name, gone, int((~whole).sum()))))


def _numbered(cell: Integers) -> Integers:
    """For each row how many rows of its cell come before it."""
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], cell[order])
    found = np.empty(len(cell), dtype=np.int64)
    found[order] = np.arange(len(cell)) - starts
    return found


def _cautions(factor: str, gone: list[str], blocks: int) -> list[Caution]:
    found: list[Caution] = []
    if gone:
        found.append(
            Caution(
                "missing-levels",
                f"{factor} = {', '.join(gone)} was not measured in both arms: left out.",
            )
        )
    if blocks:
        found.append(
            Caution(
                "incomplete-blocks",
                f"{blocks} {'block' if blocks == 1 else 'blocks'} without a value of every level "
                "in both arms left out.",
            )
        )
    return found
