"""Basic blocks of a function's instructions, and how control passes between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

# A jump by a table, or what reads its address.
TABLE = 1


@dataclass(frozen=True)
class BodySteps:
    """The instructions of one function, those that do nothing left out.

    Parameters
    ----------
    addresses, operations, tokens : sequence of int, of one length
        Equal operations do the same; equal tokens do it to operands of the same kinds.
    targets : sequence of int
        The address in this function that each jumps to; 0: none, 1: by a table, or it reads the
        address of one.
    never_passes : sequence of int
        1 where what follows is reached by jumps alone.
    constants : sequence of int
        Equal where a number in it is equal that is no address; 0: there is none.
    references : sequence of int, one longer
        How many of the function's references come before each, and how many it has.
    table_targets : sequence of int
        Where its tables lead, one after the other.
    """

    addresses: Sequence[int]
    operations: Sequence[int]
    tokens: Sequence[int]
    targets: Sequence[int]
    never_passes: Sequence[int]
    constants: Sequence[int]
    references: Sequence[int]
    table_targets: Sequence[int] = ()

    @cached_property
    def blocks(self) -> list[range]:
        """Its basic blocks, in order: each is entered at its first instruction alone."""
        starts = {0, *self.places_of_targets.values()}
        starts |= {self.place_of(one) for one in self.table_targets if self.holds(one)}
        for place, target in enumerate(self.targets):
            if target > TABLE or self.never_passes[place]:
                starts.add(place + 1)
        count = len(self.addresses)
        borders = [*sorted(start for start in starts if start < count), count]
        return [range(*pair) for pair in pairwise(borders)]

    @cached_property
    def block_at(self) -> list[int]:
        """The block of each instruction."""
        return [number for number, block in enumerate(self.blocks) for _ in block]

    @cached_property
    def places_of_targets(self) -> dict[int, int]:
        """The instruction that each jump leads to; one that does nothing leads to the next."""
        return {target: self.place_of(target) for target in self.targets if target > TABLE}

    def place_of(self, address: int) -> int:
        """The first instruction at an address or behind it."""
        return bisect_left(self.addresses, address)

    @cached_property
    def successors(self) -> list[tuple[int, ...]]:
        """The blocks that each block leads to, within the function; those of tables left out."""
        found: list[tuple[int, ...]] = []
        count = len(self.addresses)
        for block in self.blocks:
            last = block[-1]
            next_places: list[int] = []
            if self.targets[last] > TABLE:
                next_places.append(self.places_of_targets[self.targets[last]])
            if not self.never_passes[last]:
                next_places.append(last + 1)
            found.append(
                tuple(dict.fromkeys(self.block_at[one] for one in next_places if one < count))
            )
        return found

    def holds(self, address: int) -> bool:
        """Whether an address is in the function."""
        return bool(self.addresses) and self.addresses[0] <= address <= self.addresses[-1]

    def content(self, block: int) -> tuple[int, ...]:
        """What the instructions of a block do, without operands."""
        here = self.blocks[block]
        return tuple(self.operations[here.start : here.stop])
