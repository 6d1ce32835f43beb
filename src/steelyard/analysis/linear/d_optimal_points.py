"""Points that tell effects most precisely, chosen among candidates: D-optimal designs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from steelyard.core.errors import UsageError
from steelyard.core.rng import derive_seed

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# All pairs of a candidate and a point of the design are looked at in every step.
_MOST_CANDIDATES = 20_000
_MOST_PAIRS = 20_000_000
# Different beginnings, of which the best end is taken.
_STARTS = 20
# Points beyond the parameters unless a number is asked for: enough to see the error by.
_SPARE_POINTS = 5
# An exchange that gains less is rounding.
_LEAST_GAIN = 1e-9
_INDEPENDENT = 1e-9


@dataclass(frozen=True)
class ChosenPoints:
    """The places of the chosen candidates, ascending, and how much they tell in each run: 1 is the
    full factorial without constraints (D-efficiency)."""

    places: tuple[int, ...]
    efficiency_ratio: float


def d_optimal_points(
    level_counts: Sequence[int],
    candidates: Sequence[Sequence[int]],
    seed: int,
    point_count: int | None = None,
    order: int = 1,
) -> ChosenPoints:
    """So many of the candidates, chosen to tell the effects as precisely as possible.

    Parameters
    ----------
    level_counts : sequence of int
        Of each factor.
    candidates : sequence of sequence of int
        For each combination that may be run the level of each factor.
    seed : int
        Of the beginnings; the same one gives the same points.
    point_count : int, optional
        Points, all different; 5 more than there are effects unless given.
    order : int
        The most factors in one interaction that is to be told from the others.

    Raises
    ------
    UsageError
        Too few points or candidates for the effects, too many candidates, or effects that no
        choice can tell apart.

    Notes
    -----
    The determinant of ``X'X`` is made large by exchanging the pair of a point and a candidate that
    gains most (Fedorov, Theory of Optimal Experiments, 1972), until none does, from 20 random
    beginnings. Columns of X are orthonormal over the full factorial, so that the efficiency
    ``(det(X'X) / n^p)^(1/p)`` is 1 for a design that tells as much per run as that one.
    """
    if len(candidates) > _MOST_CANDIDATES:
        raise UsageError(
            f"A d-optimal design chooses among {_MOST_CANDIDATES:,} combinations at most; there "
            f"are {len(candidates):,}. Leave out factors or levels.",
            field="design.kind",
        )
    matrix = model_columns(level_counts, np.array(candidates, dtype=np.int64), order)
    count = _checked_count(matrix, point_count)
    generator = np.random.default_rng(derive_seed(seed, "d-optimal"))
    best, best_value = np.zeros(0, dtype=np.int64), -np.inf
    for _ in range(_STARTS):
        chosen = _exchanged(matrix, _beginning(matrix, count, generator))
        value = float(np.linalg.slogdet(matrix[chosen].T @ matrix[chosen])[1])
        if value > best_value + _LEAST_GAIN:
            best, best_value = np.sort(chosen), value
    efficiency = float(np.exp(best_value / matrix.shape[1])) / count
    return ChosenPoints(tuple(best.tolist()), efficiency)


def _checked_count(matrix: Floats, wanted: int | None) -> int:
    """The number of points, or why there is no design of that many."""
    candidate_count, width = matrix.shape
    if len(_independent(matrix, range(candidate_count))) < width:
        raise UsageError(
            f"The {candidate_count} combinations that the constraints allow cannot tell the "
            f"{width - 1} effects apart. Allow more of them, or leave out factors or interactions.",
            field="constraint",
        )
    count = min(candidate_count, width + _SPARE_POINTS) if wanted is None else wanted
    if not width <= count <= candidate_count:
        raise UsageError(
            f"A d-optimal design of {count} points: it takes {width} (a mean and {width - 1} "
            f"effects) to {candidate_count} (all that the constraints allow).",
            field="design.points",
        )
    if count * candidate_count > _MOST_PAIRS:
        raise UsageError(
            f"{count} of {candidate_count} combinations are too many to choose from. Take fewer "
            "points, or the full factorial.",
            field="design.points",
        )
    return count


def model_columns(level_counts: Sequence[int], points: Integers, order: int) -> Floats:
    """The columns of the mean, the main effects and the interactions, points x columns."""
    blocks = [contrasts(levels)[points[:, place]] for place, levels in enumerate(level_counts)]
    columns = [np.ones((len(points), 1))]
    for size in range(1, min(order, len(level_counts)) + 1):
        for term in combinations(range(len(level_counts)), size):
            widths = [range(blocks[place].shape[1]) for place in term]
            columns += [
                np.prod([blocks[p][:, c] for p, c in zip(term, chosen, strict=True)], axis=0)[
                    :, None
                ]
                for chosen in product(*widths)
            ]
    return np.concatenate(columns, axis=1)


def contrasts(levels: int) -> Floats:
    """Orthogonal columns of mean 0 and mean square 1 over the levels (Helmert's)."""
    table = np.zeros((levels, levels - 1))
    for column in range(levels - 1):
        table[: column + 1, column] = -1.0
        table[column + 1, column] = column + 1
    return table / np.sqrt((table**2).mean(axis=0)) if levels > 1 else table


def _independent(matrix: Floats, order: Sequence[int]) -> list[int]:
    """The rows, taken in `order`, that do not depend on those before them."""
    basis = np.zeros((0, matrix.shape[1]))
    found: list[int] = []
    for row in order:
        left = matrix[row] - basis.T @ (basis @ matrix[row])
        left = left - basis.T @ (basis @ left)
        length = float(np.sqrt(left @ left))
        if length > _INDEPENDENT * matrix.shape[1]:
            found.append(row)
            basis = np.vstack([basis, left / length])
            if len(found) == matrix.shape[1]:
                break
    return found


def _beginning(matrix: Floats, count: int, generator: np.random.Generator) -> Integers:
    """Random rows, among them as many independent ones as there are columns."""
    order = generator.permutation(len(matrix)).tolist()
    chosen = _independent(matrix, order)
    taken = set(chosen)
    rest = [row for row in order if row not in taken]
    return np.array([*chosen, *rest[: count - len(chosen)]], dtype=np.int64)


def _exchanged(matrix: Floats, chosen: Integers) -> Integers:
    """The rows after every exchange that makes the determinant larger."""
    chosen = chosen.copy()
    while True:
        rows = matrix[chosen]
        spread = matrix @ np.linalg.inv(rows.T @ rows)
        own = (spread * matrix).sum(axis=1)
        across = spread @ rows.T
        gain = (1 + own[:, None]) * (1 - own[chosen][None, :]) + across**2
        gain[chosen] = 0.0
        place = int(gain.argmax())
        candidate, out = divmod(place, len(chosen))
        if float(gain[candidate, out]) <= 1 + _LEAST_GAIN:
            return chosen
        chosen[out] = candidate
