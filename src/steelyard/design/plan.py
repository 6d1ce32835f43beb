"""A plan: the points of a design as an ordered list of trials, the order drawn from a seed."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, overload

from steelyard.core.errors import UsageError
from steelyard.core.rng import derive_seed, shuffled
from steelyard.design.design import Design

PlanOrder = Literal["blocks", "random", "sequential"]
MOST_TRIALS = 100_000_000


class PlannedPoint(NamedTuple):
    """One trial of a plan.

    Parameters
    ----------
    position : int
        Its place in the order, from 0.
    point : int
        Of `Design.points`.
    replicate : int
        Which repetition of the point, from 0.
    block : int
        Trials of one block are close in time, each point once.
    units : tuple of int
        With nested repetition, the unit at each level below the replicate, highest first.
    """

    position: int
    point: int
    replicate: int
    block: int
    units: tuple[int, ...] = ()


class Plan(Sequence[PlannedPoint]):
    """The trials in their order; made in the time of a sort, and read one by one.

    Parameters
    ----------
    design : Design
    replicates : int
        How often every point is run.
    seed : int
    order : str
        ``"blocks"``: each replicate is a block, all its points in random order. ``"random"``: all
        trials in random order. ``"sequential"``: point after point.
    nested : sequence of int
        Repetitions at each level below the replicate, such as executions of a build; they follow
        each other at once.

    Raises
    ------
    UsageError
        A count below 1, or more trials than anyone runs.
    """

    def __init__(
        self,
        design: Design,
        replicates: int,
        seed: int,
        order: PlanOrder = "blocks",
        nested: Sequence[int] = (),
    ) -> None:
        if replicates < 1 or any(count < 1 for count in nested):
            raise UsageError("Every point is run at least once.", field="replicates")
        self.design = design
        self.replicates = replicates
        self.seed = seed
        self.order: PlanOrder = order
        self.nested = tuple(nested)
        self._inside = 1
        for count in self.nested:
            self._inside *= count
        self._runs = len(design.points) * replicates
        if self._runs * self._inside > MOST_TRIALS:
            raise UsageError(
                f"The plan has {self._runs * self._inside} trials; {MOST_TRIALS} is the most.",
                field="replicates",
            )
        self._order = self._drawn()

    def _drawn(self) -> array[int]:
        """For each run, ``replicate * points + point``."""
        count = len(self.design.points)
        if self.order == "sequential":
            replicates = self.replicates
            runs = (r * count + p for p in range(count) for r in range(replicates))
            return array("Q", runs)
        if self.order == "random":
            return array("Q", shuffled(self.seed, self._runs, "plan"))
        drawn = array("Q")
        for block in range(self.replicates):
            first = block * count
            # A block is drawn by itself, so that more replicates leave the first ones as they are.
            points = shuffled(derive_seed(self.seed, "plan-block", block), count)
            drawn.extend([first + point for point in points])
        return drawn

    def __len__(self) -> int:
        return self._runs * self._inside

    @overload
    def __getitem__(self, position: int) -> PlannedPoint: ...

    @overload
    def __getitem__(self, position: slice) -> list[PlannedPoint]: ...

    def __getitem__(self, position: int | slice) -> PlannedPoint | list[PlannedPoint]:
        if isinstance(position, slice):
            return [self[place] for place in range(*position.indices(len(self)))]
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(position)
        return self._at(position)

    def __iter__(self) -> Iterator[PlannedPoint]:
        return map(self._at, range(len(self)))

    def _at(self, position: int) -> PlannedPoint:
        run, inside = divmod(position, self._inside)
        replicate, point = divmod(self._order[run], len(self.design.points))
        block = replicate if self.order == "blocks" else 0
        if not self.nested:
            return PlannedPoint(position, point, replicate, block)
        units: list[int] = []
        for count in reversed(self.nested):
            inside, unit = divmod(inside, count)
            units.append(unit)
        return PlannedPoint(position, point, replicate, block, tuple(reversed(units)))
