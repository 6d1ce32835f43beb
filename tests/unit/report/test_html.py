import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from steelyard.core.experiment_results import Caution
from steelyard.report.kinds.comparison.page import html_page, page_title, page_view
from steelyard.report.pages.plotly_script import BUNDLE

HOSTILE = "</script><b>x</b> \"'<!-- \udcff\x00"


class Reader(HTMLParser):
    """The text, the elements and the scripts of a page."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.scripts, self.text, self.attributes = [], [], "", []
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.inside = tag
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.text += data

    def handle_endtag(self, tag):
        self.inside = ""

    def value(self, tag, name):
        return [value for t, n, value in self.attributes if (t, n) == (tag, name)]


def read(samples, answer, **provenance):
    return Reader(html_page(answer, samples.experiment(answer, **provenance)))


def test_the_verdict_comes_before_everything_else(samples):
    page = read(samples, samples.two())
    assert page.elements.index("h1") < page.elements.index("table")
    assert "B is faster than A: 1.058 times as fast, 5.5\xa0%\xa0± 2.5\xa0% less time" in page.text


def test_no_address_of_anything_outside_is_in_the_page(samples):
    page = read(samples, samples.five())
    for name in ("src", "srcset", "action", "data", "poster"):
        assert not [value for _, n, value in page.attributes if n == name]
    assert all(value.startswith("#") for _, n, value in page.attributes if n == "href")
    assert not {"link", "iframe", "object", "embed", "img", "form", "base"} & set(page.elements)


def test_the_policy_allows_the_scripts_of_the_page_and_no_connection(samples):
    page = read(samples, samples.two())
    (policy,) = [value for value in page.value("meta", "content") if "default-src" in value]
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy
    executed = page.scripts[1:]
    assert len(executed) == 2
    for script in executed:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_every_figure_has_a_place_and_every_place_a_figure(samples):
    page = read(samples, samples.five())
    figures = json.loads(page.scripts[0])["figures"]
    places = [v for t, n, v in page.attributes if t == "div" and n == "id"]
    assert list(figures) == places
    assert len(places) == 2 + 1 + 1 + 3 * 5


def test_hostile_text_stays_text(samples):
    variant = samples.variant(HOSTILE)
    answer = replace(
        samples.two(),
        variants=(samples.variant("A"), variant),
        comparisons=(samples.comparison("faster", candidate=HOSTILE),),
        cautions=(Caution("x", HOSTILE),),
    )
    page = read(samples, answer, host={HOSTILE: HOSTILE}, note=[HOSTILE])
    assert "b" not in page.elements[page.elements.index("main") : page.elements.index("dl")]
    assert len(page.scripts) == 3
    assert page.text.count("</script><b>x</b>") >= 5
    json.loads(page.scripts[0])


def test_a_page_is_always_utf8(samples):
    answer = replace(samples.one(), variants=(samples.variant("\udc80"),))
    page = html_page(answer, samples.experiment(answer))
    other = html_page(samples.one(), samples.experiment(samples.one()))
    assert '<meta charset="utf-8">' in page
    shown = page.encode("utf-8", "strict").decode("utf-8").count("\ufffd")
    assert shown > other.count("\ufffd")


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_values_make_a_page(samples, count):
    page = read(samples, samples.one(count))
    assert page.elements.count("main") == 1


def test_one_value_is_shown_without_an_interval_and_with_the_reason(samples):
    page = read(samples, samples.one(1))
    assert "no interval" in page.text
    assert "One value has no spread. Run more." in page.text


def test_an_unbounded_ratio_is_explained(samples):
    unbounded = samples.comparison("undecided", samples.unbounded())
    page = read(samples, replace(samples.two(), comparisons=(unbounded,)))
    assert "These measurements cannot bound the difference." in page.text
    assert "The baseline's mean cannot be told from 0" in page.text


def test_an_undecided_verdict_says_how_to_go_on(samples):
    page = read(samples, samples.two("undecided"))
    assert f"would decide it: steelyard resume {samples.IDENTIFIER}" in page.text


def test_failed_trials_are_listed_with_their_last_words(samples):
    page = read(samples, samples.five())
    assert "2 failed. They are kept" in page.text
    assert "exit code 3" in page.text
    assert "no such table" in page.text


def test_warnings_stand_before_the_numbers(samples):
    page = read(samples, samples.five())
    assert page.text.index("The executions of C") < page.text.index("Numbers")


def test_many_warnings_of_a_kind_are_folded_and_none_is_lost(samples):
    cautions = [Caution("alike", f"Mind the {n}th.") for n in range(9)]
    told = replace(samples.two(), cautions=(*cautions, Caution("alone", "Mind this one.")))
    page = html_page(told, samples.experiment(told))
    shown, _, folded = page.partition("8 more of this kind")
    assert "Mind the 0th." in shown
    assert "Mind the 1th." not in shown
    assert all(f"Mind the {n}th." in folded for n in range(1, 9))
    assert "Mind this one." in folded.partition("</details>")[2]


def test_every_interval_says_how_it_was_made(samples):
    page = read(samples, samples.two())
    for method in ("student-blocks", "fieller-blocks"):
        assert method in page.text
    assert page.text.count("Assumes:") == 2


def test_every_plot_is_a_table_as_well(samples):
    page = read(samples, samples.two())
    assert page.text.count("The same as a table") == 6


def test_several_verdicts_are_counted_in_the_title(samples):
    view = page_view(samples.five(), samples.experiment(samples.five()))
    assert view["title"] == "Against A: 1 faster, 1 slower, 1 equivalent, 1 undecided"


def test_a_measurement_is_titled_by_its_variants(samples):
    names = {name: name for name in "ABCDE"}
    assert page_title([], samples.five(), names) == "Measurement of A, B, C and 2 more"


def test_provenance_is_shown_to_its_leaves(samples):
    page = read(samples, samples.two(), host={"cpu": {"model": "X1", "flags": ["a", "b"]}, "n": 0})
    assert re.search(r"cpu / model\s*X1", page.text)
    assert "a, b" in page.text


def test_a_page_is_small_enough_to_send_and_holds_the_licence_of_its_library(samples):
    page = html_page(samples.five(), samples.experiment(samples.five()))
    assert len(page.encode()) < 1_500_000
    assert "plotly.js (basic - minified)" in page
    assert "Licensed under the MIT license" in page
    with open(f"{BUNDLE.removesuffix('.min.js')}.LICENSE", encoding="utf-8") as file:
        assert "Permission is hereby granted" in file.read()


def test_the_library_is_the_one_that_its_script_fetches():
    with open(BUNDLE, "rb") as library, open("tools/plotly_basic.sh", encoding="utf-8") as script:
        digest = hashlib.sha256(library.read()).hexdigest()
        assert f"digest={digest}" in script.read()


def test_figures_use_only_what_the_bundle_draws(samples):
    view = page_view(samples.five(), samples.experiment(samples.five()))
    figures = json.loads(str(view["figures"]))["figures"].values()
    kinds = {trace["type"] for figure in figures for trace in figure["data"]}
    assert kinds <= {"scatter", "bar"}
