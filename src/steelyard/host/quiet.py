"""A quiet host while something is measured, and the host as it was afterwards."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from steelyard.core.errors import HostError
from steelyard.host.host_journal import HostJournal, default_journal_path
from steelyard.host.knob import Knob, Request
from steelyard.host.restore import Restored, restore_changes
from steelyard.host.session import SessionLock
from steelyard.host.system import Host

# Signals that end a process and for which Python does not unwind the stack by itself.
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_HELD_BACK = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class QuietState:
    """What a quiet session did.

    Parameters
    ----------
    launch_changes : dict
        Fields to replace in the launch specification of each measured program.
    applied : dict
        Per knob ``{"before": ..., "after": ...}``, as kept in the provenance.
    refused : dict
        Per knob that could not be set: the reason.
    notes : dict
        Per knob that was set: sentences about the parts that the kernel did not allow.
    recovered : Restored
        What an earlier session had left behind and was put back first.
    restored : Restored or None
        What was put back at the end; None before it.
    journal : HostJournal or None
        For further changes, which are put back with these.
    """

    launch_changes: dict[str, Any] = field(default_factory=dict)
    applied: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    recovered: Restored = field(default_factory=Restored)
    restored: Restored | None = None
    journal: HostJournal | None = None


@contextmanager
def quiet(
    names: Sequence[str] | None = None,
    request: Request | None = None,
    *,
    journal_path: str | None = None,
    host: Host | None = None,
) -> Iterator[QuietState]:
    """Set knobs of the host while the context lasts, then put back exactly what was read.

    Parameters
    ----------
    names : sequence of str, optional
        Which knobs; None for the default set (`default_knobs`).
    request : Request, optional
        CPUs, services and priority for the knobs.
    journal_path : str, optional
        Where changes are recorded before they are made; by default `default_journal_path`.
    host : Host, optional
        The machine; by default this one.

    Yields
    ------
    QuietState
        What was set, what was refused and why, and what the launch specification must take.
        A knob that this machine or this user cannot set is never an error.

    Raises
    ------
    UnknownNameError
        A name is no knob.
    BusyError
        Another quiet session is under way.
    HostError
        The journal cannot be used.
    """
    host = host or Host()
    path = journal_path or default_journal_path()
    # Not to be guessed: it names folders where other users may write.
    request = replace(request or Request(), session=f"{os.getpid()}-{os.urandom(6).hex()}")
    knobs = ordered_knobs(names)
    state = QuietState()
    with SessionLock(path, host), _unwinding_signals():
        journal = HostJournal(path)
        try:
            with signals_held_back():
                state.recovered = restore_changes(host, journal, journal.pending)
            first = len(journal.pending)
            state.journal = journal
            try:
                for knob in knobs:
                    set_knob(knob, host, request, journal, state)
                yield state
            finally:
                with signals_held_back():
                    changes = journal.pending[first:]
                    state.restored = restore_changes(host, journal, changes)
        finally:
            journal.close()


def ordered_knobs(names: Sequence[str] | None) -> list[Knob]:
    """The knobs of `names`, or the default set, in the order in which they are applied.

    The names ``default`` and ``all`` stand for these sets.
    """
    from steelyard.host.properties import KNOBS, default_knobs

    chosen: dict[str, None] = {}
    for name in ("default",) if names is None else names:
        if name == "default":
            chosen.update(dict.fromkeys(default_knobs()))
        elif name == "all":
            chosen.update(dict.fromkeys(KNOBS.names()))
        else:
            chosen[name] = None
    return sorted((KNOBS.get(name) for name in chosen), key=lambda knob: knob.order)


def set_knob(
    knob: Knob, host: Host, request: Request, journal: HostJournal, state: QuietState
) -> None:
    """Read, journal, apply and verify one knob; undo it at once when that fails."""
    reason = knob.available(host, request)
    if reason is not None:
        state.refused[knob.name] = reason
        return
    previous = knob.read(host, request)
    wanted = knob.wanted(host, request, previous)
    notes: tuple[str, ...] = ()
    if not knob.changes_host:
        notes, reason = _apply(knob, host, wanted)
    elif wanted != previous:
        with signals_held_back():
            change = journal.announce(knob.name, previous, wanted, host.boot_id())
            notes, reason = _apply(knob, host, wanted)
            if reason is not None:
                for _, failure in restore_changes(host, journal, (change,)).failures:
                    reason += f"; it could not be undone: {failure}"
    if reason is not None:
        state.refused[knob.name] = reason
        return
    if notes:
        state.notes[knob.name] = notes
    state.applied[knob.name] = {
        "before": knob.summary(previous),
        "after": knob.summary(wanted),
    }
    state.launch_changes.update(knob.launch_changes(wanted))


def _apply(knob: Knob, host: Host, wanted: Any) -> tuple[tuple[str, ...], str | None]:
    try:
        notes = knob.apply(host, wanted)
        return notes, knob.verify(host, wanted)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return (), f"{error.strerror}{where}"
    except HostError as error:
        return (), error.message


def _end(number: int, _frame: FrameType | None) -> None:
    # The shell's status for a process that a signal ended.
    raise SystemExit(128 + number)


@contextmanager
def _unwinding_signals() -> Iterator[None]:
    """Let signals that end the process run `finally` first, where nobody handles them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {
        number: signal.getsignal(number)
        for number in _ENDING_SIGNALS
        if signal.getsignal(number) is signal.SIG_DFL
    }
    for number in former:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


@contextmanager
def signals_held_back() -> Iterator[None]:
    """Deliver signals that end the process only after the block."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
