"""Put back what was changed on the host, newest change first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.core.errors import HostError, UnknownNameError
from steelyard.host.host_journal import Change, HostJournal, default_journal_path
from steelyard.host.knob import Knob
from steelyard.host.session import SessionLock
from steelyard.host.setting import JOURNAL_PREFIX, Setting
from steelyard.host.system import Host


@dataclass(frozen=True)
class Restored:
    """What a restoration did: the knobs put back, and the reasons for those that were not."""

    knobs: tuple[str, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()


def restore_changes(host: Host, journal: HostJournal, changes: Sequence[Change]) -> Restored:
    """Put back `changes` in the reverse of their order. One that fails stops no other."""
    done: list[str] = []
    failures: list[tuple[str, str]] = []
    boot_id = host.boot_id()
    if changes:
        journal.open()  # What cannot be recorded is not begun.
    for change in reversed(changes):
        try:
            _restore_change(host, change, boot_id)
        except (OSError, HostError, UnknownNameError) as error:
            reason = str(error)
            journal.postpone(change, reason)
            failures.append((change.knob, reason))
            continue
        journal.settle(change)
        done.append(change.knob)
    return Restored(tuple(done), tuple(failures))


def _restore_change(host: Host, change: Change, boot_id: str) -> None:
    maker = _maker(change.knob)
    _refuse_foreign(maker, host, change)
    previous = change.previous
    if change.boot_id != boot_id:
        previous = maker.left_by_boot(host, change.previous, change.wanted)
        if previous is None:
            return
    maker.restore(host, previous, change.wanted)


def _refuse_foreign(maker: Knob | Setting, host: Host, change: Change) -> None:
    """Believe nothing of an entry that its knob would not have written."""
    try:
        reason = maker.foreign(host, change.previous, change.wanted)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        reason = "its state has parts of another kind"
    if reason is not None:
        raise HostError(f"the journal's entry is not of {change.knob}: {reason}")


def _maker(name: str) -> Knob | Setting:
    """What made a change: a knob, or a setting under its name in the journal."""
    if name.startswith(JOURNAL_PREFIX):
        from steelyard.host.properties import SETTINGS

        return SETTINGS.get(name.removeprefix(JOURNAL_PREFIX))
    from steelyard.host.properties import KNOBS

    return KNOBS.get(name)


def restore_host(journal_path: str | None = None, host: Host | None = None) -> Restored:
    """Put back whatever a session that ended badly left behind.

    Raises
    ------
    BusyError
        A session is under way; it restores the host itself.
    HostError
        The journal cannot be read or written.
    """
    host = host or Host()
    path = journal_path or default_journal_path()
    with SessionLock(path, host):
        journal = HostJournal(path)
        try:
            return restore_changes(host, journal, journal.pending)
        finally:
            journal.close()
