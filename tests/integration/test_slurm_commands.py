"""What Slurm's own commands say of a job's end, and of a controller that is away."""

from __future__ import annotations

import pytest

from steelyard.service.slurm_cluster import (
    TAKEN_AWAY,
    SlurmAwayError,
    SlurmCluster,
    SlurmError,
)
from tests.slurm import slurm

LASTS = "#!/bin/sh\ntouch {begun}\nexec sleep 600\n"


@pytest.fixture(scope="module")
def here():
    with slurm() as running:
        yield running


@pytest.fixture
def cluster(here, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", here.environment["SLURM_CONF"])
    return SlurmCluster("", "steelyard-asked")


@pytest.fixture
def starts(here, cluster, tmp_path):
    """Send a Slurm job that does what a script says, and wait until it has begun; its number."""

    def start(text: str) -> int:
        script, begun = tmp_path / "script", tmp_path / "begun"
        script.write_text(text.format(begun=begun))
        number = cluster.start("w1", str(script), f"{here.root}/asked.txt")
        here.wait_for(begun.exists, "the job runs")
        return number

    return start


def test_a_job_that_is_cancelled_is_taken_away(here, cluster, starts) -> None:
    number = starts(LASTS)
    here.told("scancel", str(number))
    here.wait_for(lambda: not cluster.jobs(), "it has ended")
    assert cluster.state_of(number) == "CANCELLED"
    assert "CANCELLED" in TAKEN_AWAY


def test_a_job_whose_script_fails_is_not(here, cluster, starts) -> None:
    number = starts("#!/bin/sh\ntouch {begun}\nexit 3\n")
    here.wait_for(lambda: not cluster.jobs(), "it has ended")
    assert cluster.state_of(number) == "FAILED"
    assert "FAILED" not in TAKEN_AWAY


def test_a_job_whose_node_loses_power_is_taken_away(here, cluster, starts) -> None:
    number = starts(LASTS)
    here.power_off("w1")
    here.power_on("w1")
    here.wait_for(lambda: not cluster.jobs(), "it has ended")
    assert cluster.state_of(number) == "NODE_FAIL"
    assert "NODE_FAIL" in TAKEN_AWAY


def test_of_a_job_that_slurm_does_not_know_it_says_nothing(cluster) -> None:
    assert cluster.state_of(999_999) == ""


def test_a_controller_that_is_away_is_told_apart_from_a_refusal(here, cluster) -> None:
    with pytest.raises(SlurmError) as refused:
        cluster.boot("nowhere")
    assert not isinstance(refused.value, SlurmAwayError)
    here.kill_controller()
    try:
        with pytest.raises(SlurmAwayError):
            cluster.state_of(1)
    finally:
        here.start_controller()
