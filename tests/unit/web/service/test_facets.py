"""Facets of an experiment on a page: what the command line says of the same trials."""

from __future__ import annotations

import re
import threading
import time
from urllib.parse import urlencode

import pytest

from steelyard.analysis.tables.analysis_method import Question
from steelyard.app.results.named_analysis import analyze_experiment, chosen_method
from steelyard.app.service.facet_view import PLACES, FacetQuestion, facet_factors, first_question
from steelyard.report.kinds.analysis.tables import effects_table
from steelyard.web.service import facet_pages
from tests.patience import PATIENCE_S

FACTOR = "environment-size"


def once_drawn(browser, path):
    """The page, loaded anew as it says until its picture is there."""
    deadline_s = time.monotonic() + PATIENCE_S
    while "being drawn" in (got := browser.get(path)).text:
        assert 'http-equiv="refresh"' in got.text
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    assert 'http-equiv="refresh"' not in got.text
    return got


@pytest.fixture
def page(shared):
    """The page of an experiment with all its trials, as a function of what is asked."""
    ada = shared.account("ada")
    identifier = shared.sent(ada)
    browser = shared.browser(ada)

    def ask(**asked):
        query = f"?{urlencode(asked)}" if asked else ""
        return once_drawn(browser, f"/service/{identifier}/facets{query}")

    ask.browser, ask.path = browser, f"/service/{identifier}/facets"
    ask.experiment = shared.service.experiment(shared.service.access.owner(), identifier)
    return ask


def cells_of(text):
    """The rows of its table."""
    return [
        re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)
        for row in re.findall(r"<tr>(.*?)</tr>", text, re.S)
    ]


def test_it_begins_with_the_varied_factors_and_a_row_for_each_worker(page) -> None:
    got = page()
    assert got.status == 200, got.text
    assert "data:image/svg+xml;base64," in got.text
    assert "img-src data:" in got.text
    assert f"{FACTOR}=0, worker=w" in got.text
    assert f"--method facets --response wall_time --factors {FACTOR},worker" in got.text


def test_it_shows_the_numbers_of_the_command(page) -> None:
    question = Question("wall_time", (FACTOR, "worker"))
    result = analyze_experiment(
        page.experiment, (None, None), chosen_method("facets", question), question
    ).result
    expected = [list(row) for row in effects_table(result).rows]
    found = cells_of(page(response="wall_time", x=FACTOR, columns="worker").text)
    assert len(expected) == 2
    for row in expected:
        assert row in found, (row, found)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"x": "nothing"}, "has no column"),
        ({"x": FACTOR, "columns": FACTOR}, "named twice"),
        ({"x": FACTOR, "response": "<b>"}, "has no column"),
        ({"x": "", "columns": ""}, "needs --factors"),
        ({"x": FACTOR, "show": "pies"}, "takes one of boxes, means"),
        ({"x": FACTOR, "lines": "wall_time"}, "."),
    ],
)
def test_what_cannot_be_split_is_one_sentence_and_the_form_stays(page, asked, said) -> None:
    got = page(**asked)
    assert got.status == 422 or "lines" in asked, got.text
    assert said in got.text
    assert 'name="rows"' in got.text
    assert "<b>" not in got.text


def test_the_page_does_not_wait_for_its_picture(page, monkeypatch) -> None:
    go_on, drawing = threading.Event(), threading.Event()
    drawn = facet_pages.drawn_facets

    def slow(found):
        drawing.set()
        assert go_on.wait(PATIENCE_S)
        return drawn(found)

    monkeypatch.setattr(facet_pages, "drawn_facets", slow)
    got = page.browser.get(f"{page.path}?x={FACTOR}&show=means")
    assert drawing.wait(PATIENCE_S)
    assert (got.status, "being drawn" in got.text) == (200, True)
    assert "data:image" not in got.text
    go_on.set()
    assert "data:image" in page(x=FACTOR, show="means").text


def test_an_experiment_without_trials_says_so(shared) -> None:
    ada = shared.account("ada", "member")
    who = shared.service.access.identity(shared.token(ada, "read", "submit"), "submit")
    shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
    from tests.unit.web.service.conftest import FILE

    identifier = shared.service.submit(who, FILE, "e.toml").spec.identifier
    got = once_drawn(shared.browser(ada), f"/service/{identifier}/facets")
    assert (got.status, "has no value" in got.text) == (200, True), got.text


def test_the_factors_are_what_was_varied_and_then_the_hosts(page) -> None:
    factors = facet_factors(page.experiment)
    assert factors[:1] == [FACTOR]
    assert "worker" in factors
    assert "platform" in factors
    first = first_question(page.experiment, factors)
    assert first.places == {"x": FACTOR, "columns": "", "rows": "worker"}


def test_the_command_names_every_place() -> None:
    places = dict(zip(PLACES, ("a", "b", "c", "d"), strict=True))
    assert FacetQuestion("m", places, "means").command == (
        "--method facets --response m --factors a,b,c --option lines=d --option show=means"
    )
