"""An experiment as a page or a document, whichever kind of answer it was made for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from steelyard.core.errors import AnalysisError, DataError, TrialsFailedError

if TYPE_CHECKING:
    from steelyard.core.experiment_results import Experiment

# How the mark ends that every page of an answer has at its head.
_MARK = b"Steelyard</p>"
_END = b"</main>"
HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """What goes to a browser."""

    status: int
    data: bytes
    kind: str


def page_answer(text: str) -> Answer:
    """A page."""
    return Answer(200, text.encode("utf-8", "replace"), HTML)


def with_way_back(answer: Answer, address: str, name: str) -> Answer:
    """A page with a link above it to where its reader came from; other answers as they are."""
    if answer.kind != HTML:
        return answer
    link = f'Steelyard <a href="{escape(address)}">{escape(name)}</a></p>'
    data = answer.data.replace(_MARK, link.encode("utf-8", "replace"), 1)
    return Answer(answer.status, data, answer.kind)


def with_section(answer: Answer, section: str) -> Answer:
    """A page with a section of HTML below all others; other answers as they are."""
    head, end, tail = answer.data.rpartition(_END)
    if answer.kind != HTML or not end:
        return answer
    return Answer(
        answer.status, head + section.encode("utf-8", "replace") + end + tail, answer.kind
    )


def document_answer(value: Any) -> Answer:
    """A document."""
    return Answer(200, json.dumps(value, allow_nan=False).encode(), JSON)


def shown_experiment(loaded: Experiment, *, as_document: bool = False) -> Answer:
    """The answer of an experiment: the analysis that it was made for, or its comparison."""
    own = _own_answer(loaded, as_document=as_document)
    if own is not None:
        return own
    from steelyard.app.results.stored_answer import answered

    found = answered(loaded, None, ())
    if as_document:
        from steelyard.report.kinds.comparison.answer_document import answer_kind_document

        return document_answer(answer_kind_document(found, loaded))
    from steelyard.report.formats import FORMATS

    return page_answer(FORMATS.get("html").render(found, loaded))


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
        return document_answer(rendering.document(own.result, own.origin))
    if rendering.page is None:
        return Answer(200, rendering.text(own.result, own.origin, None).encode(), TEXT)
    return page_answer(rendering.page(own.result, own.origin))
