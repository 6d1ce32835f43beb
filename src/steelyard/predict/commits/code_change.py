"""What changed between two versions of a program, function by function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from steelyard.core.errors import AnalysisError
from steelyard.predict.commits.code_equality import same_code
from steelyard.predict.commits.matching import match_functions
from steelyard.predict.commits.program_code import (
    DATA,
    ELSEWHERE,
    EXTERNAL,
    FUNCTION,
    TEXT,
    ProgramCode,
    plain_object,
)

_COMMENTS = ("GCC: ", "Linker: ")
_NO_CODE = ("-g", "-fdebug-prefix-map", "-ffile-prefix-map", "-fmacro-prefix-map")


@dataclass(frozen=True)
class CodeChange:
    """The functions of an old program beside those of a new one.

    Parameters
    ----------
    old, new : ProgramCode
    partner : list of int
        For each old function its place in the new program; -1 where it is gone.
    changed : frozenset of int
        Old functions that do something else, or call something else.
    data : mapping of int to tuple of str
        Old functions whose data has other contents, and the names of that data.
    loops : frozenset of int
        Old functions with a loop that does something else.
    added : frozenset of int
        Functions of the new program that the old one has not.
    flags : tuple of str
        Parameters of compilers and libraries that differ, in words.
    """

    old: ProgramCode = field(repr=False)
    new: ProgramCode = field(repr=False)
    partner: list[int] = field(repr=False)
    changed: frozenset[int]
    data: Mapping[int, tuple[str, ...]]
    loops: frozenset[int]
    added: frozenset[int]
    flags: tuple[str, ...]

    @property
    def deleted(self) -> frozenset[int]:
        """Old functions that are gone."""
        return frozenset(place for place, other in enumerate(self.partner) if other < 0)

    def length_change(self, function: int) -> float:
        """By how many percent an old function's number of instructions changed; 0 if gone."""
        other = self.partner[function]
        if other < 0:
            return 0.0
        before, after = self.old.instructions[function], self.new.instructions[other]
        return 100 * abs(after - before) / max(before, 1)


def compare_programs(old: ProgramCode, new: ProgramCode) -> CodeChange:
    """What changed from one program to another.

    Raises
    ------
    AnalysisError
        They are for different machines.
    """
    if old.machine != new.machine:
        raise AnalysisError(
            f"The old program is for {old.machine}, the new one for {new.machine}.\nBuild both for "
            f"one machine: {old.source}, {new.source}.",
            field="--new",
        )
    partner = match_functions(old, new)
    changed: set[int] = set()
    data: dict[int, tuple[str, ...]] = {}
    alike = same_code(old, new, partner)
    for one, other in enumerate(partner):
        if other < 0 or alike[one]:
            continue
        names = None
        if old.digests[one] == new.digests[other]:
            names = _changed_data(old, new, partner, (one, other))
        if names is None:
            changed.add(one)
        elif names:
            data[one] = names
    loops = {one for one in changed if old.loop_digests[one] != new.loop_digests[partner[one]]}
    added = frozenset(range(len(new))) - frozenset(partner)
    flags = _flags(old, new)
    return CodeChange(old, new, partner, frozenset(changed), data, frozenset(loops), added, flags)


def _changed_data(
    old: ProgramCode, new: ProgramCode, partner: list[int], pair: tuple[int, int]
) -> tuple[str, ...] | None:
    """Data with other contents that both versions of a function refer to.

    None: they refer to different things.
    """
    here, there = old.references[pair[0]], new.references[pair[1]]
    if len(here) != len(there):
        return None
    names: dict[str, None] = {}
    for at in range(0, len(here), 3):
        kind, one, other = here[at], here[at + 1], there[at + 1]
        both = here[at : at + 3], there[at : at + 3]
        if not _same_reference(old, new, partner, both):
            return None
        if kind == there[at] == DATA and _differs(old, new, one, other):
            names[old.objects[one] or "data without a name"] = None
    return tuple(names)


def _same_reference(
    old: ProgramCode,
    new: ProgramCode,
    partner: list[int],
    pair: tuple[Sequence[int], Sequence[int]],
) -> bool:
    """Whether two references are to versions of one thing."""
    (kind, one, offset), (new_kind, other, new_offset) = pair
    if kind != new_kind:
        # An object with a name may hold a text, and a function may have no entry in tables of
        # unwinding: without names they are only a text, and a place in code.
        alike = {kind, new_kind} in ({DATA, TEXT}, {FUNCTION, ELSEWHERE})
        return alike and old.stripped != new.stripped
    if kind == FUNCTION:
        # Of functions with equal bodies either may be the other's partner.
        return partner[one] == other or old.digests[one] == new.digests[other]
    if kind == EXTERNAL:
        return old.externals[one] == new.externals[other]
    if kind == DATA:
        # Without a name an object begins where it is referred to.
        named = bool(old.objects[one] and new.objects[other])
        return (not named or offset == new_offset) and _same_object(old, new, one, other)
    return True


def same_references(change: CodeChange, function: int) -> Callable[[int, int], bool]:
    """Whether two references of both versions of a function are to the same.

    They are told by their numbers. Data is the same if its contents are.
    """
    old, new, partner = change.old, change.new, change.partner
    here, there = old.references[function], new.references[partner[function]]

    def same(one: int, other: int) -> bool:
        both = here[3 * one : 3 * one + 3], there[3 * other : 3 * other + 3]
        if not _same_reference(old, new, partner, both):
            return False
        (kind, place, _), (new_kind, new_place, _) = both
        return not (kind == new_kind == DATA and _differs(old, new, place, new_place))

    return same


def _differs(old: ProgramCode, new: ProgramCode, one: int, other: int) -> bool:
    """Whether the contents of two versions of an object differ.

    Without a name an object ends where the next one begins: of one that seems to have another size
    then, nothing is known.
    """
    if old.object_digests[one] == new.object_digests[other]:
        return False
    named = bool(old.objects[one] and new.objects[other])
    return named or old.object_sizes_bytes[one] == new.object_sizes_bytes[other]


def _same_object(old: ProgramCode, new: ProgramCode, one: int, other: int) -> bool:
    """Whether two objects can be versions of one: a name that is missing says nothing."""
    here, there = old.objects[one], new.objects[other]
    if here == there or not here or not there or plain_object(here) == plain_object(there):
        return True
    return old.object_digests[one] == new.object_digests[other]


def _flags(old: ProgramCode, new: ProgramCode) -> tuple[str, ...]:
    words: list[str] = []
    (names, parameters), (new_names, new_parameters) = _compilers(old), _compilers(new)
    for what, here, there in (
        ("library", old.libraries, new.libraries),
        ("compiler", names, new_names),
        ("compiler", parameters, new_parameters),
    ):
        # A program without any says nothing of its compiler: it was stripped.
        if what == "compiler" and not (here and there):
            continue
        words += [f"{what} {name} is new" for name in there if name not in here]
        words += [f"{what} {name} is gone" for name in here if name not in there]
    return tuple(words)


def _compilers(code: ProgramCode) -> tuple[list[str], list[str]]:
    """Names of compilers (`.comment`), and their parameters (DW_AT_producer).

    Parameters that only ask for debugging information, or name folders, change no code.
    """
    names = [text for text in code.producers if text.startswith(_COMMENTS)]
    parameters = [
        " ".join(word for word in text.split() if not word.startswith(_NO_CODE))
        for text in code.producers
        if not text.startswith(_COMMENTS)
    ]
    return names, list(dict.fromkeys(parameters))
