import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.report.texts.labels import full_names, labels
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.table import Table


def labelled(*names, limit=48):
    return list(labels(names, limit).values())


def test_short_names_stay_as_they_are():
    assert labelled("gzip -6 f", "gzip -1 f") == ["gzip -6 f", "gzip -1 f"]


LONG = "./a-long-path/of-a/program --input some/file/in/a/folder.txt"


def test_two_long_commands_are_called_by_the_option_that_differs():
    assert labelled(f"{LONG} --delay 1", f"{LONG} --delay 2") == ["--delay 1", "--delay 2"]
    assert labelled(f"{LONG} --delay=1 -q", f"{LONG} --delay=2 -q") == ["--delay=1", "--delay=2"]


def test_an_option_that_only_one_has_is_named_and_the_other_by_its_last_word():
    assert labelled(LONG, f"{LONG} --fast") == ["some/file/in/a/folder.txt", (
        "some/file/in/a/folder.txt --fast"
    )]  # fmt: skip


def test_layouts_and_parameters_are_called_by_their_levels():
    names = [f"{LONG} (layout=none)", f"{LONG} (layout=all@500ms)"]
    assert labelled(*names) == ["layout=none", "layout=all@500ms"]


def test_levels_are_labels_also_of_names_that_are_short():
    names = [f"gzip -{level} f (level={level})" for level in (1, 9)]
    assert labelled(*names) == ["level=1", "level=9"]
    assert full_names(labels(names)) == [("level=1", names[0])]


def test_of_several_factors_those_that_differ_are_named():
    cells = [f"{LONG} (opt=-O{o}, link=static, size={s})" for o in (1, 2) for s in (0, 4096)]
    assert labelled(*cells) == [
        "opt=-O1, size=0", "opt=-O1, size=4096", "opt=-O2, size=0", "opt=-O2, size=4096",
    ]  # fmt: skip


def test_builds_in_two_folders_are_called_by_the_folders():
    folder = "/home/somebody/work/with/a/very/long/path/builds"
    assert labelled(f"{folder}/old/prog", f"{folder}/new/prog") == ["old/prog", "new/prog"]


def test_words_that_differ_in_several_places_are_all_named():
    names = [f"{LONG} --size {n} --mode fast --delay {n + 1}" for n in range(3)]
    assert labelled(*names)[0] == "--size 0 --delay 1"


def test_a_narrow_table_names_its_rows_by_what_differs():
    rows = tuple((f"gzip -{n} -c some-data.txt", "1.0 ± 0.1") for n in (1, 6))
    lines = plain_table(Table(("variant", "mean"), rows), 24)
    assert [line.split()[0] for line in lines[1:]] == ["-1", "-6"]


def test_labels_stay_different_when_they_are_shortened():
    names = [f"{'a' * 60}{n}{'b' * 60}" for n in range(3)]
    assert len(set(labels(names).values())) == 3


def test_a_name_of_100_kb_gives_a_short_label():
    name = "x" * 100_000
    assert len(labels([name])[name]) <= 48


def test_an_empty_name_is_visible():
    assert labels([""]) == {"": "(empty name)"}


@pytest.mark.parametrize("limit", [12, 28, 48])
@given(st.lists(st.text("ab -=/(),1", max_size=80), unique=True, max_size=6))
def test_any_names_get_different_labels(limit, names):
    found = labels(names, limit)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    assert all(found.values())


def test_labels_that_say_less_are_explained_by_the_full_names():
    names = [f"{LONG} --delay 1", f"{LONG} --delay 2"]
    assert full_names(labels(names)) == [("--delay 1", names[0]), ("--delay 2", names[1])]
    assert full_names(labels(["short"])) == []
