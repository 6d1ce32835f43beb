"""`steelyard import --as`: files of other tools, and stored experiments, compared."""

from __future__ import annotations

import pytest

from tests.integration.conftest import validate


def go_text(*times_ns: float) -> str:
    lines = [f"BenchmarkX-1 10 {time} ns/op\nBenchmarkY-1 10 {9 * time} ns/op" for time in times_ns]
    return "pkg: p\n" + "\n".join([*lines, "PASS\n"])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "old.txt").write_text(go_text(100, 101, 102, 101))
    (tmp_path / "new.txt").write_text(go_text(120, 121, 122, 121))
    return str(tmp_path / "old.txt"), str(tmp_path / "new.txt")


def test_two_files_are_compared_kept_and_gated(user, files):
    old, new = files
    told = user.types(
        "import", "--as", "base", old, "--as", "head", new, "--fail-if", "slower", "--json", "-"
    )
    assert told.status == 1, told.err
    document = told.document()
    validate(document)
    assert [(c["benchmark"], c["verdict"]) for c in document["comparisons"]] == [
        ("X-1", "slower"),
        ("Y-1", "slower"),
    ]
    again = user.types("report", "latest", "--format", "json").document()
    assert again["comparisons"] == document["comparisons"]
    for form in ("text", "markdown"):
        assert "head is slower" in user.types("report", "latest", "--format", form).out


def test_stored_experiments_are_compared_with_files(user, files):
    old, new = files
    stored = user.types("import", old).out.strip()
    told = user.types("import", "--as", "base", stored, "--as", "head", new)
    assert told.status == 0, told.err
    assert "X-1: head is slower than base" in told.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "import needs a FILE"),
        (("--as", "base", "OLD"), "--as needs two names or more"),
        (("--as", "base", "OLD", "--as", "base", "NEW"), "--as needs two names or more"),
        (("--as", "base", "OLD", "--as", "head", "none.txt"), "neither a file nor an experiment"),
        (("--as", "base", "OLD", "--as", "head", "NEW", "OLD"), "--as names every file"),
        (("--as", " ", "OLD", "--as", "head", "NEW"), "--as takes a name"),
        (("--margin", "2%", "OLD"), "--margin goes with --as"),
        (("--fail-if", "slower", "OLD"), "--fail-if goes with --as"),
    ],
)
def test_a_wrong_call_is_one_clear_error(user, files, arguments, said):
    known = dict(zip(("OLD", "NEW"), files, strict=True))
    told = user.types("import", *(known.get(word, word) for word in arguments))
    assert told.status == 2
    assert said in told.err
    assert told.err.count("steelyard: error") == 1
