"""What a platform model is asked: an application, known on some hosts, wanted on others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.matrix_completion import complete_table
from steelyard.predict.platforms.host_table import PlatformTable

# Columns whose standard deviation is below this share say nothing about hosts.
SMALLEST_DEVIATION = 1e-9
CLOCK_ATTRIBUTES = ("clock", "clock_mhz", "clock_ghz", "mhz", "ghz")


@dataclass(frozen=True)
class Question:
    """An application on hosts whose benchmarks are known.

    Parameters
    ----------
    suite : array, shape (h, b)
        Costs of the benchmarks, the application not among them; gaps filled.
    observed : array of bool, shape (h, b)
        Which of them were measured.
    response : array, shape (h,)
        Costs of the application, NaN where they are not known.
    benchmarks : tuple of str
        Names of the suite's columns.
    noise_variance : float or None
        Of a known cost of the application, by its replicates.
    clock : array, shape (h,), or None
        Logarithms of clock rates, where the table has them for every host.
    limit : int or None
        The most predictors that a model may choose.
    representatives : tuple of int
        Columns that stand for the suite, where the caller chose them.
    """

    suite: Floats
    observed: Truths
    response: Floats
    benchmarks: tuple[str, ...]
    noise_variance: float | None = None
    clock: Floats | None = None
    limit: int | None = None
    representatives: tuple[int, ...] = ()

    @property
    def known(self) -> Truths:
        """The hosts on which the application is known, shape (h,)."""
        return np.isfinite(self.response)

    @property
    def known_count(self) -> int:
        """On how many hosts the application is known."""
        return int(self.known.sum())


def hide(question: Question, known: Truths) -> Question:
    """The question with the application's costs hidden on all but some hosts, shape (h,)."""
    return replace(question, response=np.where(known, question.response, np.nan))


def make_question(
    table: PlatformTable,
    application: str,
    limit: int | None = None,
    representatives: tuple[str, ...] = (),
) -> Question:
    """The question about a benchmark of the table, known wherever it was measured.

    Parameters
    ----------
    table : PlatformTable
    application : str
        One of its benchmarks.
    limit : int, optional
    representatives : tuple of str
        Benchmarks; the application among them is passed over.
    """
    place = table.place_of(application)
    rest = table.without(benchmarks=[place])
    observed = np.isfinite(rest.costs)
    spread = np.array(
        [
            np.ptp(column[np.isfinite(column)]) if np.isfinite(column).any() else 0.0
            for column in rest.costs.T
        ]
    )
    kept = np.flatnonzero(spread > SMALLEST_DEVIATION)
    suite = complete_table(rest.costs[:, kept]).values if len(kept) else rest.costs[:, kept]
    response = table.costs[:, place].copy()
    here = np.isfinite(response)
    variances = table.variances[here, place]
    noise = float(variances.mean()) if here.any() and np.isfinite(variances).all() else None
    names = tuple(rest.benchmarks[column] for column in kept)
    wanted = {table.place_of(name): name for name in representatives}
    return Question(
        suite=suite,
        observed=observed[:, kept],
        response=response,
        benchmarks=names,
        noise_variance=noise,
        clock=clock_of(table),
        limit=limit,
        representatives=tuple(names.index(name) for name in wanted.values() if name in names),
    )


def clock_of(table: PlatformTable) -> Floats | None:
    """Logarithms of the hosts' clock rates; None where the table lacks one."""
    for name in CLOCK_ATTRIBUTES:
        if name in table.attributes:
            try:
                rates = np.array([float(text) for text in table.attributes[name]])
            except ValueError:
                return None
            return np.log(rates) if (rates > 0).all() else None
    return None
