"""What Slurm's commands print is understood, and what they say when they fail is passed on."""

from __future__ import annotations

import os

import pytest

from steelyard.service.slurm_cluster import SlurmCluster, SlurmError, missing_commands

NODES = """\
NodeName=a Arch=x86_64 AvailableFeatures=ib,big OS=Linux 6.1 #1 SMP State=IDLE Partitions=p,q  \
BootTime=2026-01-01T00:00:00 Reason=x y [root@2026-01-01T00:00:00]
NodeName=b AvailableFeatures=(null) State=MIXED* Partitions=q BootTime=None
NodeName=c State=DOWN+DRAIN+REBOOT_ISSUED Partitions=p
NodeName=d State=FUTURE
"""
ECHO = '#!/bin/sh\necho "$0 $*" >> {log}\nenv >> {log}.environment\n'


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Commands of Slurm that print what a test says."""

    def make(**printed):
        for name, text in printed.items():
            path = tmp_path / name
            (tmp_path / f"{name}.out").write_text(text)
            path.write_text(ECHO.format(log=tmp_path / "log") + 'cat "$0.out"\n')
            path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return tmp_path

    return make


def test_the_nodes_of_a_partition_are_known_with_their_states_and_features(commands) -> None:
    commands(scontrol=NODES)
    found = SlurmCluster("p", "j").nodes()
    assert list(found) == ["a", "c"]
    assert (found["a"].is_up, found["a"].is_booting) == (True, False)
    assert (found["c"].is_up, found["c"].is_booting) == (False, True)
    assert found["a"].features == ("ib", "big")
    assert found["a"].boot_time == "2026-01-01T00:00:00"
    silent = SlurmCluster("q", "j").nodes()["b"]
    assert (silent.is_up, silent.features) == (False, ())


def test_a_node_that_joined_by_itself_takes_jobs_as_any_other(commands) -> None:
    nodes = (("d", "IDLE+DYNAMIC_NORM"), ("e", "IDLE+DRAIN"))
    commands(scontrol="\n".join(f"NodeName={name} State={at} Partitions=p" for name, at in nodes))
    found = SlurmCluster("p", "j").nodes()
    assert [found[name].is_up for name in ("d", "e")] == [True, False]


def test_the_default_partition_is_looked_up(commands) -> None:
    commands(scontrol=f"{NODES}PartitionName=q Default=YES Nodes=a\n")
    assert list(SlurmCluster("", "j").nodes()) == ["a", "b"]
    commands(scontrol="PartitionName=q Default=NO\n")
    with pytest.raises(SlurmError, match="no default partition"):
        SlurmCluster("", "j").nodes()


def test_jobs_are_known_by_the_node_that_they_are_for(commands) -> None:
    commands(squeue="7|a|RUNNING\n8|b|PENDING\n9|c|COMPLETING\n")
    found = SlurmCluster("p", "j").jobs()
    assert [(each.number, each.is_running) for each in found.values()] == [
        (7, True),
        (8, False),
        (9, True),
    ]


def test_a_job_is_sent_without_any_secret_of_the_environment(commands, monkeypatch) -> None:
    monkeypatch.setenv("STEELYARD_TOKEN", "hush")
    monkeypatch.setenv("PGPASSWORD", "hush")
    monkeypatch.setenv("SLURM_CONF", "/here")
    where = commands(sbatch="12;cluster\n")
    assert SlurmCluster("p", "j").start("a", "script", "out", ["--mem=1G"]) == 12
    words = (where / "log").read_text()
    assert "--partition p --nodelist a" in words
    assert words.rstrip().endswith("--mem=1G script")
    told = (where / "log.environment").read_text()
    assert "SLURM_CONF=/here" in told
    assert "hush" not in told


def test_what_a_command_says_when_it_fails_is_passed_on(commands) -> None:
    where = commands(scontrol="")
    (where / "scontrol").write_text("#!/bin/sh\necho no luck >&2\nexit 1\n")
    with pytest.raises(SlurmError, match="scontrol: no luck"):
        SlurmCluster("p", "j").boot("a")


def test_commands_that_are_missing_are_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_commands() == ["scontrol", "squeue", "sbatch"]
    with pytest.raises(SlurmError, match="apt-get install slurm-client"):
        SlurmCluster("p", "j").jobs()
