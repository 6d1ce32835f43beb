"""What is shown of a store at each path of its pages: the experiments, one of them, the history."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.core.errors import SteelyardError
from steelyard.store.store_location import journal_directory
from steelyard.web.shown_experiment import (
    TEXT,
    Answer,
    document_answer,
    page_answer,
    shown_experiment,
)

if TYPE_CHECKING:
    from steelyard.app.results.library import Library

_KEPT_ANSWERS = 64


class StoreSite:
    """The pages of a store, each made when it is first asked for after the store has changed.

    Whatever is shown is without secrets, as in `steelyard report`.

    Parameters
    ----------
    path : str
        The store's file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._made: dict[str, Answer] = {}
        self._stamp: object = None

    def answer(self, path: str) -> Answer:
        """What lies at `path`, such as ``history`` or ``experiments/01JD.json``."""
        make = _maker(path)
        if make is None:
            return Answer(404, b"There is no such page.\n", TEXT)
        with self._lock:
            stamp = _stamp(self._path)
            if stamp != self._stamp or len(self._made) >= _KEPT_ANSWERS:
                self._made.clear()
            self._stamp = stamp
            if path not in self._made:
                self._made[path] = self._made_by(make)
            return self._made[path]

    def _made_by(self, make: Callable[[Library], Answer]) -> Answer:
        from steelyard.app.results.library import open_library

        try:
            with open_library(self._path) as library:
                return make(library)
        except SteelyardError as error:
            status = 404 if error.field in ("experiment", "--benchmark") else 500
            return Answer(status, f"{error.message}\n".encode("utf-8", "replace"), TEXT)


def _maker(path: str) -> Callable[[Library], Answer] | None:
    known: dict[str, Callable[[Library], Answer]] = {
        "": _index,
        "experiments.json": _index_document,
        "history": _history,
        "history.json": _history_document,
    }
    if path in known:
        return known[path]
    named = re.fullmatch(r"experiments/([0-9A-Za-z]{1,26})(\.json)?", path)
    if named is None:
        return None
    return lambda library: _experiment(library, named[1], as_document=named[2] is not None)


def _stamp(store: str) -> tuple[tuple[str, int, int], ...]:
    """What changes with the store: it, what is not in it yet, and journals beside it."""
    found: list[tuple[str, int, int]] = []
    directory = journal_directory(store)
    try:
        journals = [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
    except OSError:
        journals = []
    for path in (store, f"{store}-wal", *journals):
        try:
            status = os.stat(path)
        except OSError:
            continue
        found.append((path, status.st_mtime_ns, status.st_size))
    return tuple(found)


def _listing(library: Library) -> Any:
    from steelyard.core.masked_experiment import masked_spec

    return tuple(replace(one, spec=masked_spec(one.spec)) for one in library.listing())


def _index(library: Library) -> Answer:
    from steelyard.app.history.stored_tracks import has_tracks
    from steelyard.report.kinds.experiment.listing_page import listing_page

    found = _listing(library)
    page = listing_page(library.store.path, found, library.cautions, has_tracks=has_tracks(library))
    return page_answer(page)


def _index_document(library: Library) -> Answer:
    from steelyard.report.kinds.experiment.listing_document import experiments_document

    found = _listing(library)
    return document_answer(experiments_document(library.store.path, found, library.cautions))


def _experiment(library: Library, prefix: str, *, as_document: bool) -> Answer:
    loaded = library.answerable(prefix)
    return shown_experiment(loaded, as_document=as_document)


def _changes(library: Library, *, keep_points: bool) -> Any:
    from steelyard.app.history.find_changes import Question
    from steelyard.app.history.history_check import HistoryQuestion, changes_of_library

    return changes_of_library(HistoryQuestion(question=Question(keep_points=keep_points)), library)


def _history(library: Library) -> Answer:
    from steelyard.report.kinds.changes.page import changes_page

    return page_answer(changes_page(_changes(library, keep_points=True)))


def _history_document(library: Library) -> Answer:
    from steelyard.report.kinds.changes.document import changes_document

    return document_answer(changes_document(_changes(library, keep_points=False)))
