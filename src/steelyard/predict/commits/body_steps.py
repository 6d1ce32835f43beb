"""Which instructions of a function differ between two versions, and what leads to new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from steelyard.predict.commits.basic_blocks import TABLE, BodySteps
from steelyard.predict.commits.step_alignment import align_steps
from steelyard.predict.scipy_functions import strong_components

# Where there is none.
NOWHERE = -1


@dataclass(frozen=True)
class Entry:
    """How control comes to new instructions.

    Parameters
    ----------
    address : int
        The old instruction that leads there.
    otherwise : int
        The old instruction that it leads to else, if the block does not lead there too; `NOWHERE`:
        none.
    rejoins : bool
        The block leads to `otherwise` through other new ones: what is executed there says nothing
        of it.
    """

    address: int
    otherwise: int = NOWHERE
    rejoins: bool = False


@dataclass(frozen=True)
class AddedRun:
    """New instructions of one basic block.

    Parameters
    ----------
    count : int
    beside : tuple of int
        Old instructions of the same block, by address: it is executed as often as these.
    entries : tuple of Entry
        Of a block without any.
    references : range
        The numbers of its references in the new function.
    addresses : tuple of int
        Of the instructions, in the new version.
    is_loop : bool
        They are in a loop that is new as a whole.
    """

    count: int
    beside: tuple[int, ...] = ()
    entries: tuple[Entry, ...] = ()
    references: range = range(0)
    addresses: tuple[int, ...] = field(default=(), compare=False)
    is_loop: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class StepEdits:
    """How one function's instructions differ between two versions.

    Parameters
    ----------
    removed : tuple of int
        Addresses of instructions that are gone.
    added : tuple of AddedRun
    altered : tuple of int
        Addresses of instructions that have other operands, refer to other things or to data with
        other contents, or lead to another place.
    leads : tuple of int
        Addresses of those of the altered ones that lead to another place, or refer to other things.
    constants : tuple of int
        Addresses of those of the altered ones that have another constant.
    altered_references : mapping of int to int
        Of the altered ones' references in the new function, by number, the old address.
    """

    removed: tuple[int, ...] = ()
    added: tuple[AddedRun, ...] = ()
    altered: tuple[int, ...] = ()
    leads: tuple[int, ...] = ()
    constants: tuple[int, ...] = ()
    altered_references: Mapping[int, int] = field(default_factory=dict[int, int])


# Whether references of an old and a new function, by their numbers, are to the same.
SameReference = Callable[[int, int], bool]


def step_edits(old: BodySteps, new: BodySteps, same: SameReference) -> StepEdits:
    """The edits that lead from one version of a function to another.

    Where no run executes an instruction that is removed, altered, or leads to an added one, every
    run takes the same path through both versions.
    """
    equal = align_steps(old, new)
    removed = [address for place, address in enumerate(old.addresses) if place not in equal]
    leads = _leading_elsewhere(old, new, equal, same)
    constants = {one for one, there in equal.items() if old.constants[one] != new.constants[there]}
    operands = {one for one, there in equal.items() if old.tokens[one] != new.tokens[there]}
    altered = sorted(leads | constants | operands)
    references = {
        number: old.addresses[place]
        for place in altered
        for number in _references_of(new, equal[place])
    }

    def addresses(places: Iterable[int]) -> tuple[int, ...]:
        return tuple(old.addresses[place] for place in places)

    return StepEdits(
        tuple(removed),
        tuple(_added(old, new, equal)),
        addresses(altered),
        addresses(sorted(leads)),
        addresses(sorted(constants)),
        references,
    )


def _leading_elsewhere(
    old: BodySteps, new: BodySteps, equal: Mapping[int, int], same: SameReference
) -> set[int]:
    kept = set(equal.values())
    same_tables = _same_tables(old, new, equal)
    found: set[int] = set()
    for one, other in sorted(equal.items()):
        here, there = _references_of(old, one), _references_of(new, other)
        is_same = (
            _same_target(old, new, equal, (one, other), same_tables)
            and _same_next(old, equal, kept, (one, other))
            and len(here) == len(there)
            and all(same(*pair) for pair in zip(here, there, strict=True))
        )
        if not is_same:
            found.add(one)
    return found


def _same_tables(old: BodySteps, new: BodySteps, equal: Mapping[int, int]) -> bool:
    """Whether all tables of both lead to the same places; what leads out of a function is cold."""
    if len(old.table_targets) != len(new.table_targets):
        return False
    for here, there in zip(old.table_targets, new.table_targets, strict=True):
        inside = old.holds(here), new.holds(there)
        if inside[0] != inside[1]:
            return False
        if inside[0] and equal.get(old.place_of(here)) != new.place_of(there):
            return False
    return True


def _references_of(body: BodySteps, step: int) -> range:
    """The numbers of its references; the last step of a function has one more at its end."""
    return range(body.references[step], body.references[step + 1])


def _same_target(
    old: BodySteps,
    new: BodySteps,
    equal: Mapping[int, int],
    pair: tuple[int, int],
    same_tables: bool,
) -> bool:
    """Whether two jumps go to one place."""
    here, there = old.targets[pair[0]], new.targets[pair[1]]
    if not (here and there):
        return here == there
    if TABLE in (here, there):
        return here == there and same_tables
    target = old.places_of_targets[here], new.places_of_targets[there]
    at_ends = target == (len(old.addresses), len(new.addresses))
    return at_ends or equal.get(target[0]) == target[1]


def _same_next(
    old: BodySteps, equal: Mapping[int, int], kept: set[int], pair: tuple[int, int]
) -> bool:
    """Whether what follows two equal instructions is equal too, or is gone or new."""
    one, other = pair[0] + 1, pair[1] + 1
    passes = not old.never_passes[pair[0]]
    return not (passes and one in equal and other in kept and equal[one] != other)


def _added(old: BodySteps, new: BodySteps, equal: Mapping[int, int]) -> Iterator[AddedRun]:
    partner = {there: one for one, there in equal.items()}
    leads = _Leads(old, new, partner)
    looped = _new_loops(new, partner)
    for number, block in enumerate(new.blocks):
        fresh = [place for place in block if place not in partner]
        if not fresh:
            continue
        kept = [old.addresses[partner[place]] for place in block if place in partner]
        beside: tuple[int, ...] = ()
        if kept:
            beside = kept[0], kept[-1]
        elif number == 0 and old.addresses:
            beside = (old.addresses[0],)
        entries = () if beside else tuple(leads.entries(number))
        references = range(new.references[fresh[0]], new.references[fresh[-1] + 1])
        addresses = tuple(new.addresses[place] for place in fresh)
        yield AddedRun(len(fresh), beside, entries, references, addresses, number in looped)


def _new_loops(new: BodySteps, partner: Mapping[int, int]) -> set[int]:
    """The blocks of loops in which no block holds an old instruction.

    A block that compilers write behind others, since it is seldom executed, and that jumps back to
    them is in no loop by that.
    """
    fresh = {
        number
        for number, block in enumerate(new.blocks)
        if not any(place in partner for place in block)
    }
    edges = [
        (number, after) for number in fresh for after in new.successors[number] if after in fresh
    ]
    if all(after > number for number, after in edges):
        return set()
    component = strong_components(len(new.blocks), edges)
    return {
        one
        for number, after in edges
        if component[number] == component[after]
        for one in (number, after)
    }


class _Leads:
    """What leads to the blocks of a new version that hold no old instruction."""

    def __init__(self, old: BodySteps, new: BodySteps, partner: Mapping[int, int]) -> None:
        self._old, self._new, self._partner = old, new, partner
        self._before: dict[int, list[int]] = {}
        self._joins: dict[int, frozenset[int]] = {}
        for number, successors in enumerate(new.successors):
            for successor in successors:
                self._before.setdefault(successor, []).append(number)
        self._tables = [
            number
            for number, block in enumerate(new.blocks)
            if new.never_passes[block[-1]] and any(new.targets[place] == TABLE for place in block)
        ]

    def entries(self, block: int) -> list[Entry]:
        """The old instructions from which control comes there, through new blocks too."""
        found: dict[Entry, None] = {}
        waiting, seen = [block], {block}
        while waiting:
            here = waiting.pop()
            # Which table leads where is not known: to what nothing else does.
            for before in self._before.get(here) or self._tables:
                last = self._last_old(before)
                if last != NOWHERE:
                    found[self._entry(last, before, here, block)] = None
                elif before not in seen:
                    seen.add(before)
                    waiting.append(before)
        return list(found)

    def _last_old(self, block: int) -> int:
        places = [place for place in self._new.blocks[block] if place in self._partner]
        if places:
            return self._old.addresses[self._partner[places[-1]]]
        is_first = block == 0 and bool(self._old.addresses)
        return self._old.addresses[0] if is_first else NOWHERE

    def _entry(self, last: int, before: int, here: int, block: int) -> Entry:
        """From a block that holds an old instruction, to the first of the new ones that follow."""
        other = self._other(before, here)
        if other is None:
            return Entry(last)
        first = self._new.blocks[other][0]
        if first not in self._partner:
            return Entry(last)
        otherwise = self._old.addresses[self._partner[first]]
        return Entry(last, otherwise, other in self._joined_by(block))

    def _other(self, before: int, here: int) -> int | None:
        """Where control goes instead, if it does not come from the new block as well."""
        others = [one for one in self._new.successors[before] if one != here]
        if len(others) != 1 or others[0] in self._new.successors[here]:
            return None
        return others[0]

    def _joined_by(self, block: int) -> frozenset[int]:
        """The blocks with old instructions that one comes to through new blocks alone."""
        if block not in self._joins:
            seen, waiting, joined = {block}, [block], set[int]()
            while waiting:
                for after in self._new.successors[waiting.pop()]:
                    if self._last_old(after) != NOWHERE:
                        joined.add(after)
                    elif after not in seen:
                        seen.add(after)
                        waiting.append(after)
            self._joins[block] = frozenset(joined)
        return self._joins[block]
