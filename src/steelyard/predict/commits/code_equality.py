"""Functions that are the same in both versions of a program, found for all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from steelyard.predict.arrays import Truths
from steelyard.predict.commits.program_code import NumberRows, ProgramCode

_Places: TypeAlias = NDArray[np.intp]


def same_code(old: ProgramCode, new: ProgramCode, partner: Sequence[int]) -> Truths:
    """Which functions surely do the same, to the same, with the same data, as their partners.

    Of the others some do as well: they refer to things that have other names or other places.

    Parameters
    ----------
    old, new : ProgramCode
    partner : sequence of int
        For each old function its place in the new program; -1 where it is gone.

    Returns
    -------
    array of bool, shape (old functions,)
    """
    partners = np.array(partner, np.intp)
    known = np.flatnonzero(partners >= 0)
    others = partners[known]
    here, there = NumberRows.of(old.references), NumberRows.of(new.references)
    begins, counts = _rows(here)
    new_begins, new_counts = _rows(there)
    alike = np.array(old.digests, np.uint64)[known] == np.array(new.digests, np.uint64)[others]
    alike &= counts[known] == new_counts[others]
    known, others = known[alike], others[alike]
    counts = counts[known]
    before = _triples(here)[_members(begins[known], counts)]
    after = _triples(there)[_members(new_begins[others], counts)]
    differing = np.flatnonzero(~_same_references(old, new, partners, before, after))
    of = np.repeat(known, counts)
    found = np.zeros(len(partners), bool)
    found[known] = True
    found[of[differing]] = False
    return found


def _rows(rows: NumberRows) -> tuple[_Places, _Places]:
    """Of each row its first reference, and how many it has."""
    ends = np.array(rows.ends, np.intp) // 3
    begins = np.concatenate((np.zeros(1, np.intp), ends))[: len(ends)]
    return begins, ends - begins


def _triples(rows: NumberRows) -> NDArray[np.unsignedinteger]:
    return np.asarray(rows.flat).reshape(-1, 3)


def _members(begins: _Places, counts: _Places) -> _Places:
    """The numbers from each begin on, as many as it has."""
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(begins, counts) + within


def _same_references(
    old: ProgramCode,
    new: ProgramCode,
    partners: _Places,
    before: NDArray[np.unsignedinteger],
    after: NDArray[np.unsignedinteger],
) -> Truths:
    """Whether references are to the same: things of both programs are numbered alike."""
    numbers = _Numbers(len(new))
    here = [partners, numbers.of(old.externals), numbers.of(_contents(old)), *numbers.others]
    there = [
        np.arange(len(new)),
        numbers.of(new.externals),
        numbers.of(_contents(new)),
        *numbers.others,
    ]
    things, rows = _of_all_kinds(here, before)
    new_things, new_rows = _of_all_kinds(there, after)
    # Without a name an object begins where it is referred to.
    has_name = np.zeros(len(things), bool)
    first = len(old) + len(old.externals)
    has_name[first : first + len(old.objects)] = [bool(name) for name in old.objects]
    moved = (before[:, 2] != after[:, 2]) & has_name[rows]
    return (things[rows] == new_things[new_rows]) & ~moved


class _Numbers:
    """Numbers for things, equal where the things are; functions have the lowest."""

    def __init__(self, functions: int) -> None:
        # What is told of texts and of places elsewhere is that they are such ones.
        self.others = [np.array([functions]), np.array([functions + 1])]
        self._next = functions + 2
        self._known: dict[object, int] = {}

    def of(self, things: Iterable[object]) -> _Places:
        found: list[int] = []
        for thing in things:
            number = self._known.setdefault(thing, self._next)
            self._next += number == self._next
            found.append(number)
        return np.array(found, np.intp)


def _contents(code: ProgramCode) -> Iterable[tuple[str, int]]:
    return zip(code.objects, code.object_digests, strict=True)


def _of_all_kinds(
    kinds: Sequence[_Places], references: NDArray[np.unsignedinteger]
) -> tuple[_Places, _Places]:
    """The things of all kinds, one kind after the other, and which of them references are to."""
    begins = np.concatenate(([0], np.cumsum([len(things) for things in kinds])))
    return np.concatenate(kinds), begins[references[:, 0]] + references[:, 1].astype(np.intp)
