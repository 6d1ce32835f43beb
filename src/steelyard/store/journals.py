"""Journals become part of the store: after a normal end and after a crash in the same way.

The writer of a journal holds a lock on it (flock, exclusive) for as long as it may add to it.
One without a lock has ended or was abandoned: it is saved in one transaction, then deleted.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum

from steelyard.core.errors import DataError, StoreError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.store.database import Store
from steelyard.store.store_location import JOURNAL_SUFFIX, journal_directory, work_directory

# A journal without its first line may be one that is just being made.
STARTING_S = 60.0

ReadJournal = Callable[[str], Experiment]
SalvageJournal = Callable[[str], Experiment | None]
# What saving raises where an experiment holds what no store can; of the store itself: StoreError.
_UNFIT = (ArithmeticError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class Absorbed:
    """What came of the journals beside a store.

    `live` are the experiments that a running session is adding to, as far as they are;
    `cautions` tell of journals that could not be taken, or not whole.
    """

    identifiers: tuple[str, ...] = ()
    live: tuple[Experiment, ...] = ()
    cautions: tuple[Caution, ...] = ()


class _State(Enum):
    LIVE = "live"
    ENDED = "ended"
    GONE = "gone"
    OTHER = "other"


@dataclass
class _Absorber:
    """The work of `absorb_journals` as it goes along the journals."""

    store: Store
    read: ReadJournal
    salvage: SalvageJournal
    identifiers: list[str] = field(default_factory=list)
    live: list[Experiment] = field(default_factory=list)
    cautions: list[Caution] = field(default_factory=list)

    def take(self, path: str) -> None:
        """Save one journal and delete it, unless it is live or another process's now."""
        try:
            self._take(path)
        except OSError as error:
            # Such as one of another user, which must not keep this one from the store.
            message = f"The journal {path} could not be taken in: {error.strerror}."
            self.cautions.append(Caution("journal-left", message))

    def _take(self, path: str) -> None:
        with _locked(path) as state:
            if state is _State.OTHER:
                message = f"{path} is not a regular file, so it is no journal. Move it away."
                self.cautions.append(Caution("journal-left", message))
            elif state is _State.LIVE:
                with suppress(DataError):
                    self.live.append(self.read(path))
            elif state is _State.ENDED and _has_header(path):
                self._absorb(path)
            elif state is _State.ENDED and time.time() - os.path.getmtime(path) > STARTING_S:
                _remove(self.store.path, path)

    def _absorb(self, path: str) -> None:
        try:
            experiment, damaged = self.read(path), False
        except DataError:
            salvaged, damaged = self.salvage(path), True
            if salvaged is None:
                self._warn_of_damage(path, None)
                return
            experiment = salvaged
        try:
            self.store.save(experiment)
        except _UNFIT:
            self._warn_of_damage(path, None)
            return
        self.identifiers.append(experiment.spec.identifier)
        if damaged:
            self._warn_of_damage(path, experiment)
        _remove(self.store.path, path)

    def _warn_of_damage(self, path: str, saved: Experiment | None) -> None:
        aside = _move_aside(path)
        kept = "Nothing in it could be read"
        if saved is not None:
            kept = f"{len(saved.trials)} trials of it were saved"
        self.cautions.append(
            Caution("damaged-journal", f"The journal {path} is damaged. {kept}; see {aside}.")
        )


def absorb_journals(store: Store, read: ReadJournal, salvage: SalvageJournal) -> Absorbed:
    """Save every journal beside `store` that has ended, and delete it.

    A damaged one is moved aside, and what of it can be read is saved: whatever it holds, the
    other journals and the store are read.

    Parameters
    ----------
    read : callable
        Gives the experiment that a journal holds; raises DataError where it is damaged.
    salvage : callable
        Gives the experiment of those lines of a damaged journal that can be read, or None.

    Raises
    ------
    StoreError
        The store cannot be written; the journals stay.
    """
    absorber = _Absorber(store, read, salvage)
    for path in _journals(store.path):
        if store.read_only:
            absorber.cautions.append(
                Caution(
                    "read-only-store",
                    f"The store {store.path} may not be written, so that the journal {path} is "
                    "not part of it yet.",
                )
            )
        else:
            absorber.take(path)
    return Absorbed(tuple(absorber.identifiers), tuple(absorber.live), tuple(absorber.cautions))


def _journals(store: str) -> list[str]:
    directory = journal_directory(store)
    if os.path.islink(directory):
        # What another's store brings must not name journals elsewhere, which would be taken away.
        raise StoreError(
            f"The directory {directory} of the store is a link.\nReplace it by the directory that "
            "it names, or name another file with --store.",
            field="--store",
        )
    try:
        names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"The directory {directory} of the store cannot be read: {error.strerror}. Mend its "
            "permissions.",
            field="--store",
        ) from None
    return [os.path.join(directory, name) for name in names if name.endswith(JOURNAL_SUFFIX)]


@contextmanager
def _locked(path: str) -> Iterator[_State]:
    """Whether the journal has ended; if so, nobody else takes it meanwhile."""
    try:
        # Not waiting: opening a pipe would, for somebody at its other end.
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        yield _State.GONE
        return
    try:
        yield _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> _State:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return _State.OTHER
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _State.LIVE
    # Another process may have absorbed it between the opening and the lock.
    return _State.ENDED if os.fstat(descriptor).st_nlink else _State.GONE


def _has_header(path: str) -> bool:
    with open(path, "rb") as file:
        return file.readline().endswith(b"\n")


def _remove(store: str, path: str) -> None:
    identifier = os.path.basename(path).removesuffix(JOURNAL_SUFFIX)
    shutil.rmtree(work_directory(store, identifier), ignore_errors=True)
    with suppress(FileNotFoundError):
        os.unlink(path)


def _move_aside(path: str) -> str:
    aside, number = f"{path}.damaged", 1
    while os.path.exists(aside):
        number += 1
        aside = f"{path}.damaged-{number}"
    os.rename(path, aside)
    return aside
