"""What is shown of a store at each path of its pages: the experiments, one of them, the history."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.core.errors import AnalysisError, DataError, SteelyardError, TrialsFailedError
from steelyard.store.store_location import journal_directory

if TYPE_CHECKING:
    from steelyard.app.results.library import Library
    from steelyard.core.experiment_results import Experiment

HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
_KEPT_ANSWERS = 64


@dataclass(frozen=True)
class Answer:
    """What goes to a browser."""

    status: int
    data: bytes
    kind: str


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


def _page(text: str) -> Answer:
    return Answer(200, text.encode("utf-8", "replace"), HTML)


def _document(value: Any) -> Answer:
    return Answer(200, json.dumps(value, allow_nan=False).encode(), JSON)


def _listing(library: Library) -> Any:
    from steelyard.core.masked_experiment import masked_spec

    return tuple(replace(one, spec=masked_spec(one.spec)) for one in library.listing())


def _index(library: Library) -> Answer:
    from steelyard.app.history.stored_tracks import has_tracks
    from steelyard.report.kinds.experiment.listing_page import listing_page

    found = _listing(library)
    page = listing_page(library.store.path, found, library.cautions, has_tracks=has_tracks(library))
    return _page(page)


def _index_document(library: Library) -> Answer:
    from steelyard.report.kinds.experiment.listing_document import experiments_document

    found = _listing(library)
    return _document(experiments_document(library.store.path, found, library.cautions))


def _experiment(library: Library, prefix: str, *, as_document: bool) -> Answer:
    loaded = library.answerable(prefix)
    own = _own_answer(loaded, as_document=as_document)
    if own is not None:
        return own
    from steelyard.app.results.stored_answer import answered

    found = answered(loaded, None, ())
    if as_document:
        from steelyard.report.kinds.comparison.answer_document import answer_kind_document

        return _document(answer_kind_document(found, loaded))
    from steelyard.report.formats import FORMATS

    return _page(FORMATS.get("html").render(found, loaded))


def _own_answer(loaded: Experiment, *, as_document: bool) -> Answer | None:
    """The analysis that the experiment was made for, where it was made for one and has its data."""
    from steelyard.app.experiment.own_analysis import own_analysis
    from steelyard.report.kinds import RENDERINGS

    if loaded.spec.profiles is not None:
        return None
    try:
        own = own_analysis(loaded, None)
    except (AnalysisError, TrialsFailedError, DataError):
        return None
    if own is None:
        return None
    rendering = RENDERINGS.get(own.result.kind)
    if as_document:
        return _document(rendering.document(own.result, own.origin))
    if rendering.page is None:
        return Answer(200, rendering.text(own.result, own.origin, None).encode(), TEXT)
    return _page(rendering.page(own.result, own.origin))


def _changes(library: Library, *, keep_points: bool) -> Any:
    from steelyard.app.history.check import HistoryQuestion, changes_of_library
    from steelyard.app.history.find_changes import Question

    return changes_of_library(HistoryQuestion(question=Question(keep_points=keep_points)), library)


def _history(library: Library) -> Answer:
    from steelyard.report.kinds.changes.page import changes_page

    return _page(changes_page(_changes(library, keep_points=True)))


def _history_document(library: Library) -> Answer:
    from steelyard.report.kinds.changes.document import changes_document

    return _document(changes_document(_changes(library, keep_points=False)))
