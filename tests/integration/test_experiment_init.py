"""`steelyard experiment init` writes files that can be planned and run as they stand."""

from dataclasses import replace

import pytest

from steelyard.app.experiment.first_file import KINDS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", [(), ("--", "true", "a b", '"')])
def test_each_kind_of_file_can_be_planned(user, kind, command):
    told = user.types("experiment", "init", "first.toml", "--kind", kind, *command)
    assert told.status == 0, told.err
    before = (user.home / "first.toml").read_text()
    (user.home / "first.toml").unlink()
    told = user.types("experiment", "init", "--kind", kind, "first.toml", *command)
    assert told.status == 0, told.err
    assert (user.home / "first.toml").read_text() == before
    assert "--kind" not in before
    assert "next: steelyard experiment plan first.toml" in told.err
    plan = user.types("experiment", "plan", "--json", "-", "first.toml").document()
    assert plan["trials"] > 0


def test_the_usual_file_runs_and_is_reported(user):
    assert user.types("experiment", "init", "first.toml", "--", "true").status == 0
    told = user.types("experiment", "run", "first.toml")
    assert told.status == 0, told.err
    assert "environment-size" in user.types("report", "--format", "text").out


def test_flags_are_compared_by_the_file_for_flags(user):
    project = user.home / "project"
    project.mkdir()
    (project / "program.c").write_text("int main(void) { return 0; }")
    user = replace(user, home=project)
    assert user.types("experiment", "init", "--kind", "flags", "first.toml").status == 0
    told = user.types("experiment", "run", "first.toml")
    assert told.status == 0, told.err


def test_a_file_that_is_there_is_left_alone(user):
    (user.home / "first.toml").write_text("mine")
    told = user.types("experiment", "init", "first.toml")
    assert told.status == 2
    assert "is there already" in told.err
    assert (user.home / "first.toml").read_text() == "mine"
