"""Slurm starts a service's workers on its nodes and boots these; the service keeps the rest."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from tests.integration.test_service import Served, sent, written
from tests.patience import line_of
from tests.slurm import slurm


@pytest.fixture(scope="module")
def here():
    with slurm() as running:
        yield running


@pytest.fixture
def served(user, here):
    """A service whose workers are nodes of the Slurm."""
    started = []
    directory = tempfile.mkdtemp(prefix="shared-", dir=here.root)

    def serve(**settings):
        user.environment["SLURM_CONF"] = here.environment["SLURM_CONF"]
        own = ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "STEELYARD_LOCK")
        words = [f"{name}={user.environment[name]}" for name in own]
        command = ["env", *words, sys.executable, "-m", "steelyard.cli.main"]
        fields = {"directory": directory, "command": shlex.join(command), **settings}
        lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
        config = user.home / "service.toml"
        config.write_text("[service]\nworker = false\n[slurm]\n" + "\n".join(lines) + "\n")
        started.append(Served(user, "--config", str(config)))
        return started[-1]

    yield serve
    for each in started:
        if each.process.poll() is None:
            each.ends()
    here.wait_for(lambda: not here.told("squeue", "-h"), "all Slurm jobs have ended")


def enrolled(service, here):
    """Wait until all nodes are workers of Slurm and no Slurm job runs any more."""

    def is_so():
        found = service.gets("api/workers")["workers"]
        return [each["cluster"] for each in found] == ["slurm"] * len(here.nodes)

    here.wait_for(is_so, "the nodes are enrolled")
    here.wait_for(lambda: not here.told("squeue", "-h"), "their Slurm jobs have ended")


def shared(user):
    """The directory that the service and the nodes share."""
    text = (user.home / "service.toml").read_text()
    return Path(tomllib.loads(text)["slurm"]["directory"])


def committed(service, identifier):
    """The experiment's end, and its trials by their places."""
    assert service.ended(identifier)["state"] == "done"
    trials = service.gets(f"api/experiments/{identifier}/trials")["trials"]
    return sorted(trial["position"] for trial in trials)


ON_BOTH = 'factors = {worker = "100%"}'


def test_nodes_enrol_by_themselves_and_run_what_is_sent(user, here, served) -> None:
    service = served()
    enrolled(service, here)
    workers = service.gets("api/workers")["workers"]
    tags = {each["worker"]: each["facts"]["tags"] for each in workers}
    assert tags == {"w1": ["f-w1"], "w2": ["f-w2"]}
    identifier = sent(user, written(user, hosts=ON_BOTH))["experiment"]
    assert committed(service, identifier) == list(range(8))
    assert here.reboots == []


def test_a_host_is_booted_anew_before_each_block_where_that_is_asked(user, here, served) -> None:
    service = served()
    enrolled(service, here)
    before = len(here.reboots)
    identifier = sent(user, written(user, hosts=f'{ON_BOTH}\nreboot = "block"'))["experiment"]
    assert committed(service, identifier) == list(range(8))
    assert sorted(here.reboots[before:]) == ["w1", "w1", "w2", "w2"]


def test_a_slurm_job_that_is_cancelled_gives_its_block_back_at_once(user, here, served) -> None:
    service = served()
    enrolled(service, here)
    begun, go = user.home / "begun", user.home / "go"
    command = f"sh -c 'touch {begun}; while [ ! -e {go} ]; do sleep 0.05; done'"
    file = written(user, json.dumps(command), 1, 'require = {name = "w1"}')
    identifier = sent(user, file)["experiment"]
    here.wait_for(begun.exists, "a trial runs")
    here.told("scancel", "--signal=KILL", "--full", *here.told("squeue", "-h", "-o", "%i").split())
    go.touch()
    assert committed(service, identifier) == [0, 1]
    page = service.asks("GET", f"service/{identifier}")[1]
    assert "its Slurm job has ended" in page


def test_what_ran_while_the_service_was_killed_is_taken_by_the_next_one(user, here, served) -> None:
    service = served()
    enrolled(service, here)
    begun, go = user.home / "begun", user.home / "go"
    command = f"sh -c 'touch {begun}; while [ ! -e {go} ]; do sleep 0.05; done'"
    identifier = sent(user, written(user, json.dumps(command), 1, 'require = {name = "w2"}'))[
        "experiment"
    ]
    here.wait_for(begun.exists, "a trial runs")
    service.ends(signal.SIGKILL)
    go.touch()
    again = served()
    assert committed(again, identifier) == [0, 1]


def test_a_command_that_nodes_lack_is_told_with_what_it_said(user, here, served) -> None:
    service = served(command="/nonexistent/steelyard")
    line = line_of(service.process, "stderr").decode()
    assert "its Slurm job" in line
    assert "/nonexistent/steelyard: not found" in line


def test_an_unknown_partition_is_told_once_by_its_name(user, here, served) -> None:
    service = served(partition="none")
    assert "Slurm has no partition 'none'" in line_of(service.process, "stderr").decode()


def test_two_services_cannot_share_the_directory_of_their_workers(user, here, served) -> None:
    served()
    config = str(user.home / "service.toml")
    told = user.types("serve", "--port", "0", "--config", config, "--store", "other.sqlite")
    assert told.status == 2
    assert "Another service uses" in told.err


def test_without_the_commands_of_slurm_the_message_says_how_to_get_them(user, tmp_path) -> None:
    config = tmp_path / "s.toml"
    config.write_text(f'[slurm]\ndirectory = "{tmp_path}/shared"\n')
    user.environment["PATH"] = str(tmp_path)
    told = user.types("serve", "--port", "0", "--config", str(config))
    assert told.status == 4
    assert "apt-get install slurm-client" in told.err


def test_a_host_is_booted_anew_before_each_trial_by_slurm_where_that_is_the_level(
    user, here, served
) -> None:
    service = served()
    enrolled(service, here)
    before = len(here.reboots)
    hosts = 'require = {name = "w1"}\nfactors = {reboot = ["never", "trial"]}'
    identifier = sent(user, written(user, runs=1, hosts=hosts))["experiment"]
    assert committed(service, identifier) == list(range(4))
    assert here.reboots[before:] == ["w1", "w1"]
    placement = service.gets(f"api/experiments/{identifier}/trials")["experiment"]["placement"]
    assert sorted(dict(each["levels"])["reboot"] for each in placement["workers"]) == [
        "never",
        "trial",
    ]
