"""What every report format keeps to, whoever wrote it."""

import re
from dataclasses import replace

import pytest

from steelyard.analysis.comparison.comparison_results import (
    Answer,
    Comparison,
    MetricResult,
    Summary,
    VariantResult,
)
from steelyard.analysis.comparison.ratio_verdict import sign
from steelyard.core.errors import UnknownNameError
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.report.formats import FORMATS

WALL_TIME = MetricSpec("wall_time", "s")
HOSTILE = "<b>|`*\udcff\x1b[31m\n</script>"
RATIO = Estimate(0.9, 0.85, 0.96, 0.95, "fieller-blocks")
NO_RATIO = Unbounded(0.9, 0.95, "fieller-blocks", "one-value", "One block. Run more.")


def result(values):
    if not values:
        return MetricResult(WALL_TIME, (), (), None, None)
    low, high = min(values), max(values)
    mean = Estimate(sum(values) / len(values), low, high, 0.95, "student-blocks")
    summary = Summary(len(values), mean, low, low, high, low, high, 0.1, 0.1, high - low, 0.1, None)
    return MetricResult(WALL_TIME, values, tuple(range(len(values))), summary, None)


def variant(name, values):
    repetitions = {"build": 1, "execution": len(values), "iteration": 1}
    return VariantResult(name, {"wall_time": result(values)}, repetitions, 1, 2.0)


def comparison(candidate, ratio, verdict):
    side = sign(ratio, WALL_TIME.direction)
    return Comparison("A", candidate, WALL_TIME, ratio, verdict, side, 0.01, False, 3, 4.0)


def answer_of(kind="comparison", candidate="B", values=(0.9, 0.8, 1.0), ratio=RATIO):
    variants = (variant("A", (1.0, 1.1, 0.9)), variant(candidate, values))
    verdict = "faster" if ratio is RATIO else "undecided"
    comparisons = (comparison(candidate, ratio, verdict),)
    if kind == "measurement":
        variants, comparisons = variants[1:], ()
    return Answer(
        kind, "01JD", WALL_TIME, variants, comparisons, (Caution("x", "Mind this."),), "runs"
    )


ANSWERS = {
    "comparison": answer_of(),
    "measurement": answer_of("measurement"),
    "unbounded": answer_of(ratio=NO_RATIO),
    "no-value": answer_of("measurement", values=()),
    "hostile-name": answer_of(candidate=HOSTILE),
    "unfinished": replace(answer_of(), stopped=None),
}


def experiment_of(answer):
    variants = tuple(Variant(v.name, LaunchSpec((v.name, "x"))) for v in answer.variants)
    spec = ExperimentSpec(answer.experiment, answer.kind, variants, (WALL_TIME,), seed=1)
    failed = Trial(0, 0, 0, False, "failed", "exit", 1.0, 0.1, {}, details={"stderr_tail": HOSTILE})
    return Experiment(spec, {"host": {"cpu": HOSTILE}}, 1.0, (failed,), answer.stopped)


@pytest.fixture(params=FORMATS.names())
def report_format(request):
    return FORMATS.get(request.param)


@pytest.fixture(params=ANSWERS)
def answer(request):
    return ANSWERS[request.param]


def test_a_format_renders_every_kind_of_answer_as_utf8(report_format, answer):
    text = report_format.render(answer, experiment_of(answer))
    assert text.encode("utf-8", "strict")
    assert text.endswith("\n") or text.endswith(">")


def test_a_format_gives_the_same_text_for_the_same_answer(report_format, answer):
    first, second = (report_format.render(answer, experiment_of(answer)) for _ in range(2))
    assert first == second


def test_a_format_names_the_variants_the_verdict_and_the_experiment(report_format):
    text = report_format.render(ANSWERS["comparison"], experiment_of(ANSWERS["comparison"]))
    for wanted in ("A", "B", "faster", "wall_time", "01JD", "Mind this."):
        assert wanted in text.replace("&#95;", "_")


def test_a_format_never_prints_what_a_terminal_obeys(report_format):
    answer = ANSWERS["hostile-name"]
    text = report_format.render(answer, experiment_of(answer))
    library = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "\x1b" not in library


def test_a_format_describes_itself(report_format):
    assert re.fullmatch(r"[a-z][a-z0-9-]*", report_format.name)
    assert re.fullmatch(r"\.[a-z]+", report_format.suffix)
    assert report_format.description


def test_suffixes_tell_formats_apart():
    suffixes = [known.suffix for known in FORMATS]
    assert len(set(suffixes)) == len(suffixes)


def test_an_unknown_format_lists_those_that_there_are():
    with pytest.raises(UnknownNameError, match="html, json, junit, markdown, text"):
        FORMATS.get("nonsense")
