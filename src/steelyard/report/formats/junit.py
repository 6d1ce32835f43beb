"""JUnit XML, which servers of continuous integration show as tests: one test a comparison.

Elements and attributes as the schema of Jenkins' xUnit plugin has them (junit-10.xsd): a suite an
experiment, a case a comparison. With gates a case is a check of one and fails with it; without any
no case fails, and the verdict is in its output.
"""

from __future__ import annotations

from xml.etree import ElementTree

from steelyard.analysis.comparison.comparison_results import Answer, Comparison
from steelyard.core.experiment_results import Experiment
from steelyard.report.formats import ReportFormat
from steelyard.report.kinds.comparison.gate_sentences import check_sentence
from steelyard.report.kinds.comparison.sentences import verdict_sentence
from steelyard.report.texts.labels import labels
from steelyard.report.texts.readable import caution_text, one_line

SUITE = "steelyard"


def render(answer: Answer, experiment: Experiment) -> str:
    """The whole document."""
    names = labels(variant.name for variant in answer.variants)
    found = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(found, "testsuite", name=SUITE, id=answer.experiment)
    for check in answer.gates:
        case = _case(suite, check.comparison, f"{check.gate.option} {check.gate.text}")
        told = check_sentence(check, names)
        if not check.passed:
            failure = ElementTree.SubElement(case, "failure", type="gate", message=_plain(told))
            failure.text = _plain(told)
        else:
            ElementTree.SubElement(case, "system-out").text = _plain(told)
    if not answer.gates:
        for comparison in answer.comparisons:
            if comparison.metric.name == answer.metric.name:
                case = _case(suite, comparison, comparison.metric.name)
                told = verdict_sentence(comparison, names)
                ElementTree.SubElement(case, "system-out").text = _plain(told)
    failures = sum(not check.passed for check in answer.gates)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures))
    suite.set("errors", "0")
    suite.set("time", f"{sum(variant.spent_s for variant in answer.variants):.3f}")
    warnings = "\n".join(caution_text(caution.message) for caution in answer.cautions)
    ElementTree.SubElement(suite, "system-err").text = _plain(warnings)
    ElementTree.indent(found)
    text = ElementTree.tostring(found, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, comparison: Comparison, about: str) -> ElementTree.Element:
    benchmark = one_line(comparison.benchmark)
    name = f"{one_line(comparison.candidate)} against {one_line(comparison.baseline)}"
    if benchmark:
        name = " against ".join(map(one_line, reversed(comparison.sides)))
    return ElementTree.SubElement(
        suite,
        "testcase",
        classname=_plain(f"{SUITE}.{benchmark}" if benchmark else SUITE),
        name=_plain(f"{name} ({about})"),
    )


def _plain(text: str) -> str:
    """`text` with what XML 1.0 has no place for replaced."""
    return "".join(
        c
        if c in "\n\t" or "\u0020" <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff"
        else "\ufffd"
        for c in text
    )


EXTENSION = ReportFormat("junit", ".xml", "tests for a server that shows JUnit XML", False, render)
