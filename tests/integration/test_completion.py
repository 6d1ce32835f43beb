"""What a shell that completes offers."""

from __future__ import annotations

import json

import pytest

from tests.integration.conftest import User


def offered(user: User, *words: str) -> list[str]:
    user.environment["_STEELYARD_COMPLETE"] = "bash_complete"
    user.environment["COMP_WORDS"] = "\n".join(words)
    user.environment["COMP_CWORD"] = str(len(words) - 1)
    told = user.types()
    del user.environment["_STEELYARD_COMPLETE"]
    assert told.err == ""
    return told.out.split()


def test_commands_and_options_are_offered(user):
    assert "plain,compare" in offered(user, "steelyard", "comp")
    assert "plain,--precision" in offered(user, "steelyard", "measure", "--prec")
    assert "plain,list" in offered(user, "steelyard", "history", "l")


def test_choices_metrics_and_benchmarks_are_offered(user):
    (user.home / "steelyard.toml").write_text("[bench.parse]\ncommand = 'true'\n")
    user.environment["STEELYARD_CONFIG"] = str(user.home / "steelyard.toml")
    assert offered(user, "steelyard", "measure", "--order", "s") == ["plain,sequential"]
    assert offered(user, "steelyard", "measure", "--metric", "max") == ["plain,max_rss"]
    assert offered(user, "steelyard", "compare", "--bench", "") == ["plain,parse"]
    (user.home / "steelyard.toml").write_text("[bench")
    assert offered(user, "steelyard", "compare", "--bench", "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_name_that_a_shell_would_run_is_not_offered(user, shell):
    names = ["$(touch ran)", "`touch ran`", "a;touch ran", "a\nplain,b", "-x", "a b", "'a'"]
    tables = [f"[bench.{json.dumps(name)}]\ncommand = 'true'\n" for name in names]
    tables.append("[bench.fine]\ncommand = 'true \\u001b]0;x\\u0007'\n".replace("'", '"'))
    (user.home / "steelyard.toml").write_text("".join(tables))
    user.environment["STEELYARD_CONFIG"] = str(user.home / "steelyard.toml")
    user.environment["_STEELYARD_COMPLETE"] = f"{shell}_complete"
    user.environment["COMP_WORDS"] = "steelyard compare --bench "
    user.environment["COMP_CWORD"] = "" if shell == "fish" else "3"
    told = user.types()
    assert "fine" in told.out
    assert "touch" not in told.out
    assert "\x1b" not in told.out
    assert not {"-x", "a b", "'a'", "plain,b"} & set(told.out.splitlines())


def test_experiments_are_offered(user):
    assert user.types("measure", "--runs", "2", "--", "true").status == 0
    found = offered(user, "steelyard", "report", "")
    assert found[0] == "plain,latest"
    assert len(found) == 2


def test_experiments_of_the_projects_store_are_offered(user):
    (user.home / "steelyard.toml").write_text("[defaults]\nstore = 'own.sqlite'\n")
    user.environment["STEELYARD_CONFIG"] = str(user.home / "steelyard.toml")
    assert user.types("measure", "--runs", "2", "--", "true").status == 0
    assert len(offered(user, "steelyard", "report", "")) == 2
    assert len(offered(user, "steelyard", "report", "--store", "other.sqlite", "")) == 1


@pytest.mark.parametrize("words", [("import", "x"), ("measure", "x"), ("list", "--store", "x")])
def test_files_are_offered_where_a_value_is_one(user, words):
    assert offered(user, "steelyard", *words) == ["file,x"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(user, shell):
    user.environment["_STEELYARD_COMPLETE"] = f"{shell}_source"
    told = user.types()
    assert "_STEELYARD_COMPLETE" in told.out
    assert told.err == ""
