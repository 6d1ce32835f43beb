import pytest

from steelyard.app.request.command_text import (
    leading_assignments,
    shell_operator,
    split_command,
    words_of_one,
)
from steelyard.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("gzip -c f > /dev/null", ">"),
        ("gzip -c f >/dev/null", ">/dev/null"),
        ("prog 2>&1", "2>&1"),
        ("a | b", "|"),
        ("cd x && make", "&&"),
        ("cd x; make", "x;"),
        ("sleep 1 &", "&"),
        ("grep '>' f", None),
        ('sh -c "a | b > c"', None),
        ('x --name="a b > c" d', None),
        (r"find . -exec ls {} \;", None),
        ("curl http://x/?a=1&b=2", None),
        ("prog a->b", None),
        ("prog '", None),
    ],
)
def test_what_only_a_shell_understands_is_found_outside_quotes(text, operator):
    assert shell_operator(text) == operator


def test_a_command_that_takes_a_shell_is_refused_with_the_option_that_gives_one():
    with pytest.raises(UsageError, match="Add --shell") as refused:
        split_command("gzip -c f > /dev/null", "command")
    assert "quote '>'" in refused.value.message


def test_variables_before_a_program_are_its_environment():
    assert leading_assignments(("A=1", "B=x=y", "./p", "C=3")) == (
        (("A", "1"), ("B", "x=y")),
        ("./p", "C=3"),
    )
    assert leading_assignments(("A=1",)) == ((), ("A=1",))
    assert leading_assignments(("./a=1", "x")) == ((), ("./a=1", "x"))


def test_a_file_whose_name_looks_like_an_assignment_is_a_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "A=1").touch()
    assert leading_assignments(("A=1", "x")) == ((), ("A=1", "x"))


def test_one_word_with_spaces_is_a_command_unless_a_file_has_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words_of_one("sleep 0.01", "command") == ("sleep", "0.01")
    (tmp_path / "my program").touch()
    assert words_of_one("my program", "command") == ("my program",)
