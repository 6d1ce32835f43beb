"""A program whose calls are led through wrappers, which make the stack higher or mark paths, or to
clones of functions.

A wrapper is called instead of the function, lowers the stack pointer, calls the function, and
puts the stack pointer back. It changes no other register and no flag.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from steelyard.analysis.paths.wrappable_calls import (
    Call,
    CalledFunction,
    CallPlace,
    ProgramCalls,
)
from steelyard.core.errors import DataError
from steelyard.profile.paths.added_code import AddedFunction, GrowingProgram
from steelyard.profile.paths.clone_notes import ORIGINAL_SECTION
from steelyard.profile.paths.cloned_program import AddedClones
from steelyard.profile.paths.frame_table_copy import CodeFrame, FrameChange
from steelyard.profile.paths.marked_program import (
    MARK_SECTION,
    CallCode,
    mark_rows,
    marking,
    passing_routine,
)
from steelyard.profile.paths.planner_output import planner_lines

# The return address of the wrapper's own call is a part of what it puts between.
_WORD_BYTES = 8
_CALL, _RETURN, _CALL_BYTES = 0xE8, 0xC3, 5
_ALIGN_BYTES = 16
_SHORT_LIMIT = 128
_TRAP = b"\xcc"
_ROUTINE = "passing.steelyard"


def read_calls(program: str) -> ProgramCalls:
    """The calls of a program.

    Raises
    ------
    UsageError
        It is no program that can be read.
    MissingCapabilityError
        The planner was not built.
    """
    lines = planner_lines("--calls", program, "calls", "--program")
    places: list[CallPlace] = []
    functions: dict[int, CalledFunction] = {}
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "c":
            places.append(_place(rest))
        else:
            address, function = _function(rest)
            functions[address] = function
    return ProgramCalls(tuple(places), functions)


def _place(text: str) -> CallPlace:
    offset, address, caller, callee, distance, passes_none = text.split()
    return CallPlace(
        int(offset),
        int(address, 16),
        int(caller, 16),
        int(callee, 16),
        int(distance),
        passes_none == "1",
    )


def _function(text: str) -> tuple[int, CalledFunction]:
    facts, _, reason = text.partition("\t")
    address, leaves, calls, named, targets = facts.split()
    leaves_to = tuple(int(target, 16) for target in targets.rstrip("-").split(",") if target)
    return int(address, 16), CalledFunction(
        leaves_to, leaves == "1", calls == "1", named == "1", reason
    )


def with_wrappers(
    data: bytes,
    calls: ProgramCalls,
    sizes: Mapping[Call, int],
    names: Mapping[int, str],
    numbers: Mapping[Call, int] | None = None,
    added: AddedClones | None = None,
) -> bytearray:
    """The file of a program with wrapped and marked calls, and cloned functions.

    Parameters
    ----------
    data : bytes
    calls : ProgramCalls
        Of the program, with those of its clones.
    sizes : mapping of (int, int) to int
        What is put between a caller and its callee, a multiple of 16.
    names : mapping of int to str
        Symbols of functions.
    numbers : mapping of (int, int) to int, optional
        What marked calls add to the value of their thread.
    added : AddedClones, optional

    Raises
    ------
    DataError
        The program cannot be given more code.
    """
    numbers = numbers or {}
    clones = () if added is None else added.functions
    by_call = calls.places_of()
    places = [place for call in sorted({*sizes, *numbers}) for place in by_call.get(call, ())]
    program = GrowingProgram(data)
    at = program.code_place()[0] + sum(len(clone.code) for clone in clones)
    found: list[AddedFunction] = []
    routine = at if numbers else 0
    if routine:
        code = passing_routine()
        found.append(AddedFunction(_ROUTINE, _padded(code), CodeFrame(at, len(code), ())))
        at += len(found[-1].code)
    for place in places:
        call = place.caller, place.callee
        around = _around(sizes.get(call, 0), numbers.get(call))
        wrapper = _wrapper(at, place.callee, around, routine if call in numbers else 0)
        name = names.get(place.callee, f"{place.callee:x}")
        # Numbers keep symbols different.
        found.append(AddedFunction(f"{name}.steelyard{len(found)}", wrapper[0], wrapper[1]))
        at += len(wrapper[0])
    notes = {MARK_SECTION: mark_rows(numbers)} if numbers else {}
    if added is not None:
        notes[ORIGINAL_SECTION] = added.note
    changed = program.with_code(found, notes, clones)
    targets = {place: place.callee for place in _of_clones(by_call, added)}
    wrappers = found[len(found) - len(places) :]
    for place, wrapper in zip(places, wrappers, strict=True):
        targets[place] = wrapper.frame.start
    for place, target in targets.items():
        if changed[place.offset] != _CALL:
            raise DataError("The program has other calls than were read.", field="program")
        changed[place.offset + 1 : place.offset + _CALL_BYTES] = _distance(
            place.address + _CALL_BYTES, target
        )
    return changed


def _of_clones(
    by_call: Mapping[Call, Sequence[CallPlace]], added: AddedClones | None
) -> Iterator[CallPlace]:
    """The calls that go to clones."""
    if added is None:
        return
    for (caller, _), clone in added.clones.targets.items():
        yield from by_call.get((caller, clone), ())


def _around(size: int, number: int | None) -> CallCode:
    """What stands around a call that is wrapped, marked or both."""
    if number is None:
        return _wrapping(size - _WORD_BYTES, size)
    if not size:
        return marking(number)
    outer, inner = _wrapping(size, size + _WORD_BYTES), marking(number)
    first, last = inner.changes
    changes = (
        outer.changes[0],
        replace(first, offset_bytes=first.offset_bytes + size),
        replace(last, offset_bytes=last.offset_bytes + size),
        FrameChange(len(outer.behind) - 1, _WORD_BYTES),
    )
    # The return of the inner one is that of the outer.
    return CallCode(outer.before + inner.before, inner.behind[:-1] + outer.behind, changes)


def _wrapping(amount: int, offset: int) -> CallCode:
    lower, raise_again = _add_to_stack(-amount), _add_to_stack(amount)
    changes = (
        FrameChange(len(lower), offset),
        FrameChange(_CALL_BYTES + len(raise_again), _WORD_BYTES),
    )
    return CallCode(lower, raise_again + bytes([_RETURN]), changes)


def _wrapper(at: int, callee: int, around: CallCode, routine: int) -> tuple[bytes, CodeFrame]:
    called_at = at + len(around.before)
    code = around.before + bytes([_CALL]) + _distance(called_at + _CALL_BYTES, callee)
    code += around.behind
    return _padded(code), CodeFrame(at, len(code), around.changes, routine)


def _padded(code: bytes) -> bytes:
    return code.ljust(-(-len(code) // _ALIGN_BYTES) * _ALIGN_BYTES, _TRAP)


def _add_to_stack(amount: int) -> bytes:
    """`lea amount(%rsp), %rsp`, which leaves flags alone."""
    if -_SHORT_LIMIT <= amount < _SHORT_LIMIT:
        return b"\x48\x8d\x64\x24" + struct.pack("<b", amount)
    return b"\x48\x8d\xa4\x24" + struct.pack("<i", amount)


def _distance(start: int, end: int) -> bytes:
    try:
        return struct.pack("<i", end - start)
    except struct.error:
        raise DataError("The program is too large to wrap its calls.", field="program") from None
