"""Factors of the machine in experiments: realised, recorded, put back, refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.host.host_journal import JOURNAL_VARIABLE
from tests.integration.conftest import User
from tests.integration.killing import kill_while_waiting, waiting_in

pytestmark = pytest.mark.usefixtures("alone")

OWN = """
[[factor]]
name = "speed"
factor = "command"
levels = ["slow", "fast"]
set = "echo {{level}} > {value}; echo {{level}} >> {log}"
get = "cat {value}"
"""


@pytest.fixture
def owner(user: User, tmp_path: Path) -> User:
    """A user with a host journal of their own, also where they are root."""
    environment = {**user.environment, JOURNAL_VARIABLE: str(tmp_path / "host" / "journal")}
    (tmp_path / "value").write_text("before\n")
    return User(user.home, environment)


def experiment_file(user: User, command: str, factors: str, runs: int = 2) -> str:
    value, log = user.home / "value", user.home / "log"
    text = f'[experiment]\nseed = 4\nruns = {runs}\nmetrics = ["wall_time"]\n'
    text += f'[[benchmark]]\nname = "it"\nshell = true\ncommand = "{command}"\n'
    (user.home / "file.toml").write_text(text + factors.format(value=value, log=log))
    return "file.toml"


def trials(user: User) -> list[dict[str, Any]]:
    told = user.types("show", "latest", "--trials", "--json", "-")
    return told.document()["trials"]


def test_a_level_is_in_force_during_its_trials_is_recorded_and_is_put_back(owner: User) -> None:
    seen = owner.home / "seen"
    command = f"cat {owner.home}/value >> {seen}"
    file = experiment_file(owner, command, OWN)
    assert owner.types("experiment", "run", file).status == 0
    kept = sorted(trials(owner), key=lambda trial: trial["position"])
    assert [trial["realised"]["speed"] for trial in kept] == seen.read_text().split()
    assert sorted(seen.read_text().split()) == ["fast", "fast", "slow", "slow"]
    assert (owner.home / "value").read_text() == "before\n"


def test_a_killed_run_is_put_back_by_restore_and_goes_on_where_it_stopped(
    owner: User, script: Callable[[str], str]
) -> None:
    file = experiment_file(owner, script(waiting_in(3)), OWN, runs=3)
    process = owner.start("experiment", "run", file)
    kill_while_waiting(owner, process)
    assert (owner.home / "value").read_text() != "before\n"
    restored = owner.types("host", "restore")
    assert restored.status == 0, restored
    assert (owner.home / "value").read_text() == "before\n"
    assert owner.types("experiment", "resume", "latest").status == 0
    kept = trials(owner)
    assert len(kept) == 6
    assert {trial["realised"]["speed"] for trial in kept} == {"slow", "fast"}
    assert (owner.home / "value").read_text() == "before\n"


def test_a_factor_that_this_machine_cannot_realise_is_refused_by_name_before_the_run(
    owner: User,
) -> None:
    file = experiment_file(
        owner, "touch ran", '\n[[factor]]\nfactor = "reboot"\nlevels = ["off", "on"]\n'
    )
    told = owner.types("experiment", "run", file)
    assert told.status == 4
    assert "The factor reboot cannot be realised here at 'on'" in told.err
    assert not (owner.home / "ran").exists()
    assert owner.types("list", "--json", "-").document()["experiments"] == []


def test_a_plan_names_every_factor_that_this_machine_cannot_realise(owner: User) -> None:
    factors = '\n[[factor]]\nfactor = "reboot"\nlevels = ["off", "on"]\n'
    factors += '\n[[nuisance]]\nfactor = "numa-node"\nlevels = ["0", "4095"]\n'
    file = experiment_file(owner, "touch ran", factors)
    refused = owner.types("experiment", "plan", file, "--json", "-").document()["refused"]
    assert [message.split(" cannot")[0] for message in refused] == [
        "The factor reboot",
        "The factor numa-node",
    ]
    assert refused[0] in owner.types("experiment", "plan", file).out
    dry = owner.types("experiment", "run", "--dry-run", file)
    assert dry.status == 4
    assert "touch ran" in dry.out
    assert refused[0] in dry.err
    assert not (owner.home / "ran").exists()


def test_a_command_that_fails_in_between_fails_the_trial_with_the_reason(owner: User) -> None:
    broken = OWN.replace("echo {{level}} > {value};", "test {{level}} = slow &&")
    file = experiment_file(owner, "true", broken)
    told = owner.types("experiment", "run", file)
    assert told.status == 3
    failed = [trial for trial in trials(owner) if trial["status"] == "failed"]
    assert [trial["reason"] for trial in failed] == ["prepare", "prepare"]
    assert "command = fast" in failed[0]["details"]["error"]


def test_a_command_that_cannot_be_taken_back_is_refused(owner: User) -> None:
    file = experiment_file(owner, "true", OWN.replace("get =", "cpus ="))
    told = owner.types("experiment", "plan", file)
    assert told.status == 2
    assert "takes set, get, undo beside its levels, not 'cpus'" in told.err
    lines = [line for line in OWN.splitlines(keepends=True) if not line.startswith("get")]
    told = owner.types("experiment", "plan", experiment_file(owner, "true", "".join(lines)))
    assert told.status == 2
    assert "line 13" in told.err
    assert "so that the machine can be put back" in told.err


def test_load_runs_beside_the_program_and_is_gone_afterwards(owner: User) -> None:
    # Of this experiment alone: somebody else's may run on the machine too.
    own = f"xargs -r grep -l -z ^STEELYARD_LOCK={owner.home}/lock"
    command = f"grep -l -z steelyard-load /proc/[0-9]*/environ 2>/dev/null | {own} | wc -l >> loads"
    levels = '\n[[factor]]\nfactor = "background-load"\nlevels = ["none", "memory:2"]\n'
    file = experiment_file(owner, command, levels, runs=1)
    told = owner.types("experiment", "run", file)
    assert told.status == 0, told.err
    assert {trial["realised"]["background-load"] for trial in trials(owner)} == {"none", "memory:2"}
    # The program's own processes do not have the word.
    assert sorted((owner.home / "loads").read_text().split()) == ["0", "2"]
