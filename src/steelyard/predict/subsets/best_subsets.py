"""The best subset of each size, by exhaustive search."""

from __future__ import annotations

from steelyard.predict.arrays import Floats
from steelyard.predict.subsets.branch_and_bound import search_by_dropping
from steelyard.predict.subsets.enumeration import search_by_adding
from steelyard.predict.subsets.problem import Subsets, finish, make_problem


def best_subsets(x: Floats, y: Floats, limit: int | None = None) -> Subsets:
    """For each number of predictors the subset of least residual sum of squares.

    Parameters
    ----------
    x : array, shape (n, p)
        Predictors, no missing values.
    y : array, shape (n,)
        The response.
    limit : int, optional
        At most this many predictors.

    Returns
    -------
    Subsets
        Sizes 0 to the largest that leaves a residual degree of freedom. With more predictors
        than degrees of freedom nothing can be bounded, so every subset is looked at, up to the
        size that `search_by_adding` can afford. `exhaustive` is False where the search met its
        limit of work; the subsets are then the best that it met.

    Notes
    -----
    Agrees with `regsubsets` of R's package leaps (tests/reference).
    """
    problem = make_problem(x, y)
    if problem.predictors < problem.degrees:
        chosen, whole = search_by_dropping(problem, limit)
    else:
        chosen, whole = search_by_adding(problem, limit)
    return finish(problem, chosen, exhaustive=whole)
