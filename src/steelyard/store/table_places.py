"""Where the trials of a table ran: the columns of a service's workers, read into a placement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.core.placement_spec import PLACE_COLUMNS, WORKER, PlacedWorker, PlacementSpec

# A worker, and its cells in the columns of places, in their order.
Place = tuple[str | None, ...]


def place_of(cells: Mapping[str, str | None]) -> Place | None:
    """The place of a row; None without a worker, as other tables have a platform of their own."""
    return tuple(cells.get(name) for name in PLACE_COLUMNS) if cells.get(WORKER) else None


def placement_of(places: Mapping[int, Place]) -> PlacementSpec | None:
    """Which worker ran which block.

    Parameters
    ----------
    places : mapping of int to place
        By block; none for a table without workers.
    """
    if not places:
        return None
    known = sorted(set(places.values()), key=lambda place: tuple(cell or "" for cell in place))
    index = {place: number for number, place in enumerate(known)}
    count = 1 + max(places)
    # No row is of a block that is not there.
    return PlacementSpec(
        tuple(PlacedWorker(place[0] or "", _levels(place)) for place in known),
        tuple(index[places[block]] if block in places else 0 for block in range(count)),
    )


def _levels(place: Place) -> tuple[tuple[str, str], ...]:
    named = zip(PLACE_COLUMNS[1:], place[1:], strict=True)
    return tuple((name, cell) for name, cell in named if cell)


def counted_blocks(trials: Sequence[tuple[int, Place | None]]) -> list[int]:
    """Blocks of trials whose table has none: the first trial of each variant on a worker is of the
    first block there, and so on.

    Parameters
    ----------
    trials : sequence of (variant, place)
        In the order of the table.
    """
    seen: dict[tuple[int, Place | None], int] = {}
    numbers: dict[tuple[Place | None, int], int] = {}
    blocks: list[int] = []
    for variant, place in trials:
        count = seen[variant, place] = seen.get((variant, place), -1) + 1
        blocks.append(numbers.setdefault((place, count), len(numbers)))
    return blocks
