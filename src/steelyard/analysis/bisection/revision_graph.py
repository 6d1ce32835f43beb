"""Revisions with merges, and which of them contain which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.core.errors import AnalysisError

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# One flag for each pair: 100 MB.
MOST_REVISIONS = 10_000


@dataclass(frozen=True)
class RevisionGraph:
    """The revisions any of which may have made the change.

    Parameters
    ----------
    revisions : tuple of str
        Each after its parents.
    contains : array, shape (n, n)
        ``contains[r, c]``: revision r has c in its history, or is c. If c made the change, r shows
        it.
    """

    revisions: tuple[str, ...]
    contains: Flags

    def __len__(self) -> int:
        return len(self.revisions)

    def index(self, revision: str) -> int:
        """Where a revision stands.

        Raises
        ------
        AnalysisError
            It is not among them.
        """
        try:
            return self.revisions.index(revision)
        except ValueError:
            raise AnalysisError(
                f"Revision {revision!r} is not between the two ends of the bisection.",
                field="revision",
            ) from None


def revision_graph(revisions: Sequence[str], parents: Sequence[Sequence[str]]) -> RevisionGraph:
    """The graph of revisions and the parents of each.

    Parameters
    ----------
    revisions : sequence of str
        In topological order, each after its parents. Those that are in the fast end's history are
        left out by the caller; parents among these count as fast.
    parents : sequence of sequence of str
        Of each revision.

    Raises
    ------
    AnalysisError
        There are no revisions, or too many; one comes twice, or before one of its parents.
    """
    count = len(revisions)
    if not 0 < count <= MOST_REVISIONS:
        raise AnalysisError(
            f"Bisection takes 1 to {MOST_REVISIONS} revisions; there are {count}.\n"
            "Name two ends that are nearer to each other.",
            field="revision",
        )
    places = {revision: index for index, revision in enumerate(revisions)}
    if len(places) < count:
        raise AnalysisError("A revision comes twice in the history.", field="revision")
    contains = np.eye(count, dtype=np.bool_)
    for index, of_it in enumerate(parents):
        for parent in of_it:
            place = places.get(parent)
            if place is None:
                continue
            if place >= index:
                raise AnalysisError(
                    f"Revision {revisions[index]!r} comes before its parent {parent!r}.",
                    field="revision",
                )
            contains[index] |= contains[place]
    return RevisionGraph(tuple(revisions), contains)
