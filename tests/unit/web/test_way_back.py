"""Answers of a service lead back to the page of their experiment."""

from __future__ import annotations

from pathlib import Path

import steelyard.report.kinds
from steelyard.web.shown_experiment import JSON, Answer, page_answer, with_way_back

KINDS = Path(steelyard.report.kinds.__file__).parent
# Pages that no experiment of a service is answered by, and that have no head of their own.
_OTHERS = ("submission", "people", "reproduction", "experiment")


def test_a_page_leads_back_and_what_it_holds_stays() -> None:
    shown = with_way_back(page_answer("<p>Steelyard</p><p>Steelyard</p>"), '../0"1', "<x>")
    assert shown.data.decode() == (
        '<p>Steelyard <a href="../0&quot;1">&lt;x&gt;</a></p><p>Steelyard</p>'
    )


def test_a_document_stays_as_it_is() -> None:
    document = Answer(200, b"Steelyard</p>", JSON)
    assert with_way_back(document, "../01", "The experiment") == document


def test_every_page_of_an_answer_has_the_place_for_it() -> None:
    pages = [path for path in KINDS.glob("*/page.html.jinja") if path.parent.name not in _OTHERS]
    assert len(pages) > 10
    for page in pages:
        assert page.read_text().count("Steelyard</p>") == 1, page
