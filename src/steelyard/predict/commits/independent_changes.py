"""How many changes a table of pairs can be sure to show, where its pairs overlap.

A commit that makes a benchmark slower changes every pair that it lies between. Pairs of fifteen
commits each show it fifteen times, and so do all benchmarks that it slows. Such rows say one thing
once.
"""

from __future__ import annotations

import numpy as np

from steelyard.predict.arrays import Floats, Indices, Truths
from steelyard.predict.commits.pair_table import PairTable


def change_of_row(table: PairTable, chosen: Truths) -> Indices:
    """A number for each chosen row: equal where one commit can explain the changes of both.

    The numbers are as few as can be: the fewest commits such that each pair has one of them after
    its known revision and not after its unknown one. That is the most pairs of which no two
    overlap, found greedily by their ends. Histories of two projects share no commit.

    Parameters
    ----------
    table : PairTable
    chosen : array, shape (n,)
        The m rows with a change that are counted.

    Returns
    -------
    array, shape (m,)
        From 0, the oldest of each project first.
    """
    projects = [table.projects[row] for row in np.flatnonzero(chosen)]
    begins, ends = _begins(table)[chosen], table.order[chosen]
    found = np.zeros(len(projects), int)
    number, project, last = -1, None, -np.inf
    for row in sorted(range(len(projects)), key=lambda one: (projects[one], ends[one])):
        if projects[row] != project or begins[row] >= last:
            number, project, last = number + 1, projects[row], ends[row]
        found[row] = number
    return found


def _begins(table: PairTable) -> Floats:
    """The place of each row's known revision in the order.

    One that the table does not ask about is as many commits before the unknown one as the distance
    says, and one commit where nothing does.
    """
    named = zip(table.projects, table.unknown, strict=True)
    places = dict(zip(named, table.order.tolist(), strict=True))
    back = table.order - np.where(np.isnan(table.distance), 1.0, table.distance)
    known = zip(table.projects, table.known, strict=True)
    begins = [places.get(one, far) for one, far in zip(known, back.tolist(), strict=True)]
    return np.minimum(begins, table.order)
