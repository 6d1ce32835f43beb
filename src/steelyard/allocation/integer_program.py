"""scipy's integer programming, with types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class IntegerProgram:
    """Minimise `costs` x for whole numbers x from 0 to `upper`, `matrix` x from `low` to `high`.

    Parameters
    ----------
    costs, upper : ndarray, shape (columns,)
    matrix : ndarray, shape (rows, columns)
    low, high : ndarray, shape (rows,)
    """

    costs: np.ndarray
    upper: np.ndarray
    matrix: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class IntegerSolution:
    """Whole numbers that meet a program, and what no others fall below; None where not known."""

    values: tuple[int, ...]
    bound: float | None


def minimise(program: IntegerProgram, node_limit: int | None = None) -> IntegerSolution | None:
    """What costs least, by HiGHS; None where nothing was found in so many nodes."""
    import numpy as np
    from scipy import optimize as untyped  # pyright: ignore[reportMissingTypeStubs]
    from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

    optimize = cast("Any", untyped)
    matrix = cast("Any", sparse).csc_array(program.matrix)
    found = optimize.milp(
        program.costs,
        integrality=np.ones(len(program.costs)),
        bounds=optimize.Bounds(np.zeros(len(program.costs)), program.upper),
        constraints=[(matrix, program.low, program.high)],
        options={"mip_rel_gap": 0.0} | ({} if node_limit is None else {"node_limit": node_limit}),
    )
    if found.x is None:
        return None
    bound = found.mip_dual_bound
    return IntegerSolution(
        tuple(round(float(value)) for value in found.x), None if bound is None else float(bound)
    )
