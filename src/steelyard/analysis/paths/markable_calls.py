"""Which calls of a program can be marked, and which of them are marked together.

A function that is called may leave to others by tail calls, which are called by the same caller
then. What leads from a caller to one of its callees has to be marked alike, so that the mark of
each path is known. Where a call may also come by an address, the thread carries no mark of it
then: such calls are not sure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from steelyard.analysis.paths.wrappable_calls import Call, CallRules, ProgramCalls


@dataclass(frozen=True)
class MarkableCalls:
    """Calls of one function that are marked together.

    Parameters
    ----------
    learnt : tuple of Call
        Of the paths that were learnt.
    calls : tuple of Call
        All that are known to be reached so, with those; what instructions call among them is
        marked.
    is_sure : bool
        Nothing else leads from the caller to these functions, and its calls to no others.
    """

    learnt: tuple[Call, ...]
    calls: tuple[Call, ...]
    is_sure: bool = True


def markable_calls(
    program: ProgramCalls, learnt: Collection[Call]
) -> tuple[tuple[MarkableCalls, ...], dict[Call, str]]:
    """The calls that can be marked, by those that are marked together, and why others cannot.

    Parameters
    ----------
    program : ProgramCalls
    learnt : collection of Call
        Callers and callees of paths.
    """
    rules = CallRules(program, learnt)
    callees: dict[int, set[int]] = {}
    for caller, callee in learnt:
        callees.setdefault(caller, set()).add(callee)
    found: list[MarkableCalls] = []
    refused: dict[Call, str] = {}
    for caller, reached in callees.items():
        _add_of(rules, caller, reached, found, refused)
    return tuple(found), refused


def other_calls(
    program: ProgramCalls,
    learnt: Collection[Call],
    unwatched: Collection[int] = (),
    varying: Collection[int] = (),
) -> tuple[MarkableCalls, ...]:
    """Calls to mark that no learnt path has, and those of functions whose frame varies.

    Parameters
    ----------
    program : ProgramCalls
    learnt : collection of Call
        Callers and callees of learnt paths.
    unwatched : collection of int
        Functions whose entries were not noted: that no path has them does not say that they were
        not called.
    varying : collection of int
        Functions whose frame varies. With another size their paths have other heights, which may be
        those of other paths; a mark tells them apart.
    """
    known, unseen = frozenset(learnt), frozenset(unwatched)
    every, _ = markable_calls(program, sorted({*known, *program.places_of()}))
    return tuple(
        one
        for one in every
        if (one.is_sure and one.calls[0][0] in varying)
        or (known.isdisjoint(one.calls) and unseen.isdisjoint(callee for _, callee in one.calls))
    )


def _add_of(
    rules: CallRules,
    caller: int,
    learnt: set[int],
    found: list[MarkableCalls],
    refused: dict[Call, str],
) -> None:
    direct = rules.callees.get(caller, set())
    unreached = set(learnt)
    for entries in _together(rules, direct, learnt):
        reached = _reached(rules, entries)
        seen = tuple((caller, callee) for callee in sorted(learnt & reached))
        unreached -= reached
        reason = _refusal(rules, caller, entries)
        if reason:
            refused.update(dict.fromkeys(seen, reason))
        elif seen:
            others = _reached(rules, direct - entries)
            calls = sorted((reached - others) | (learnt & reached) | entries)
            is_sure = _is_sure(rules, caller, entries, learnt)
            named = tuple((caller, callee) for callee in calls)
            found.append(MarkableCalls(seen, named, is_sure))
    for callee in unreached:
        refused[caller, callee] = "no instruction calls the function itself"


def _together(rules: CallRules, direct: Iterable[int], learnt: set[int]) -> list[set[int]]:
    """Direct callees, those together that lead to the same learnt one."""
    groups: list[tuple[set[int], set[int]]] = []
    for entry in sorted(direct):
        entries, reached = {entry}, set(rules.reach(entry).functions & learnt)
        apart: list[tuple[set[int], set[int]]] = []
        for group in groups:
            if group[1] & reached:
                entries |= group[0]
                reached |= group[1]
            else:
                apart.append(group)
        groups = [*apart, (entries, reached)]
    return [entries for entries, _ in groups]


def _reached(rules: CallRules, entries: Iterable[int]) -> set[int]:
    return {one for entry in entries for one in rules.reach(entry).functions}


def _refusal(rules: CallRules, caller: int, entries: set[int]) -> str:
    """Why these calls of a caller cannot be marked together; empty: they can be."""
    if caller not in rules.functions:
        return "its caller is not known"
    for entry in sorted(entries):
        passes_none = all(place.passes_no_stack for place in rules.places[caller, entry])
        reason = "" if passes_none else rules.stack_use(entry)
        if reason:
            return reason
    return ""


def _is_sure(rules: CallRules, caller: int, entries: set[int], learnt: set[int]) -> bool:
    """Whether these callees are called by these instructions alone, and lead to no others."""
    reached = _reached(rules, entries)
    if learnt & reached & rules.by_address and rules.calls_unknown(caller):
        return False
    leads_on = any(rules.reach(entry).unknown for entry in entries)
    return not (leads_on and learnt & (rules.by_address - reached))
