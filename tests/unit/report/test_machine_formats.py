"""Markdown and JUnit XML: what servers of continuous integration show."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.core.experiment_results import Experiment
from steelyard.core.gate_spec import parse_gates
from steelyard.report.formats import FORMATS
from steelyard.report.formats.markdown import escaped
from tests.experiments import make_experiment, make_trial


def compared(*fail_if: str) -> Experiment:
    trials = tuple(
        make_trial(
            position,
            measurements={
                "wall_time": ((1 + 0.001 * (position % 3)) * (1.05 if position % 2 else 1.0),),
                "max_rss": (0.0,),
            },
        )
        for position in range(40)
    )
    made = make_experiment(trials=trials)
    return replace(made, spec=replace(made.spec, gates=parse_gates(fail_if, [])))


def rendered(name: str, experiment: Experiment) -> str:
    return FORMATS.get(name).render(answer(experiment), experiment)


def test_a_case_fails_with_its_gate() -> None:
    suite = ElementTree.fromstring(rendered("junit", compared("slower:2%", "slower:9%")))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failed, passed = suite.findall("testcase")
    assert failed.get("name") == "new against old (--fail-if slower:2%)"
    assert "new is slower than old by 4.995 %" in (failed[0].get("message") or "")
    assert [child.tag for child in passed] == ["system-out"]


def test_without_gates_each_verdict_is_a_case_that_passes() -> None:
    suite = ElementTree.fromstring(rendered("junit", compared()))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


def test_markdown_leads_with_failed_gates_and_leaves_out_what_says_nothing() -> None:
    text = rendered("markdown", compared("slower:2%"))
    assert text.startswith("- **gate failed: new is slower than old by 4.995 %")
    assert "unbounded" not in text
    assert "max_rss" not in text
    assert "&#95;" not in text
    assert "| wall_time [s] |" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("wall_time", "wall_time"),
        ("0.998 (95 %)", "0.998 (95 %)"),
        ("--delay 1", "--delay 1"),
        ("a|b", "a&#124;b"),
        ("<b>", "&#60;b&#62;"),
        ("_start and end_", "&#95;start and end&#95;"),
        ("*x*", "&#42;x&#42;"),
        ("[a](b)", "&#91;a&#93;(b)"),
        ("x [a](b)", "x [a&#93;(b)"),
        ("x [a][b]: c", "x [a&#93;[b&#93;: c"),
        ("[x] done", "&#91;x] done"),
        ("0.9 [0.8, 1.1] (95 %)", "0.9 [0.8, 1.1] (95 %)"),
        ("![a](b)", "&#33;[a&#93;(b)"),
        ("@me", "&#64;me"),
        ("a #12", "a &#35;12"),
        ("# title", "&#35; title"),
        ("&lt;", "&#38;lt;"),
        ("`x`", "&#96;x&#96;"),
        ("- item", "&#45; item"),
    ],
)
def test_only_what_is_markup_where_it_stands_is_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown
