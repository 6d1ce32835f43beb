"""Labels of pairs from documents of comparisons."""

import json

import pytest

from steelyard.app.predict.commit_verdicts import read_verdicts
from steelyard.core.errors import DataError, UsageError


def compared(folder, *verdicts, kind="comparison"):
    path = folder / "compared.json"
    found = [{"baseline": "A", "candidate": "B", "verdict": verdict} for verdict in verdicts]
    path.write_text(json.dumps({"kind": kind, "comparisons": found}))
    return path


@pytest.mark.parametrize("verdict", ["faster", "slower", "equivalent", "undecided"])
def test_the_verdict_of_a_comparison_is_the_label_of_its_benchmark(tmp_path, verdict):
    path = compared(tmp_path, verdict)
    assert read_verdicts([f"add={path}"], ("add", "diff")) == {"add": verdict}


@pytest.mark.parametrize("given", ["add", "=x", "add=", "other=x"])
def test_an_option_that_names_no_benchmark_or_no_file_is_refused(given):
    with pytest.raises(UsageError, match="--verdict"):
        read_verdicts([given], ("add",))


def test_a_benchmark_has_one_verdict(tmp_path):
    path = compared(tmp_path, "faster")
    with pytest.raises(UsageError, match="named twice"):
        read_verdicts([f"add={path}"] * 2, ("add",))


@pytest.mark.parametrize(
    ("verdicts", "kind", "words"),
    [
        ([], "comparison", "has 0 comparisons"),
        (["faster", "slower"], "comparison", "has 2 comparisons"),
        (["faster"], "measurement", "is no comparison"),
        (["sooner"], "comparison", "is no comparison"),
        ([3], "comparison", "is no comparison"),
    ],
)
def test_a_document_without_one_comparison_is_refused(tmp_path, verdicts, kind, words):
    path = compared(tmp_path, *verdicts, kind=kind)
    with pytest.raises(DataError, match=words):
        read_verdicts([f"add={path}"], ("add",))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"kind": "comparison"}', "\x00"])
def test_a_file_that_is_no_document_is_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(DataError, match="is no comparison"):
        read_verdicts([f"add={path}"], ("add",))
