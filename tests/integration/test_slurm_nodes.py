"""Nodes of Slurm that join later, and the programs that Slurm runs before and after a job."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.integration.test_service import sent, written
from tests.integration.test_slurm import (
    ON_BOTH,
    committed,
    served,  # noqa: F401 - a fixture
)
from tests.slurm import slurm

EXAMPLES = Path(__file__).parents[2] / "examples" / "service"
PROLOG, EPILOG = (EXAMPLES / f"slurm-{name}.sh" for name in ("prolog", "epilog"))
SWAPPINESS, MODULES = "proc/sys/vm/swappiness", "proc/modules"


@pytest.fixture
def host(tmp_path: Path) -> dict[str, str]:
    """A host as `node-state.sh` sees it, however busy this one is."""
    (tmp_path / "root/proc/sys/vm").mkdir(parents=True)
    (tmp_path / "root" / SWAPPINESS).write_text("60\n")
    (tmp_path / "root" / MODULES).write_text("ext4 1 0 - Live\n")
    return {
        "PATH": os.environ["PATH"],
        "STEELYARD_NODE_ROOT": str(tmp_path / "root"),
        "STEELYARD_NODE_STATE": str(tmp_path / "state"),
        "STEELYARD_NODE_BUSY_PERCENT": "100",
        "SLURM_JOB_ID": "7",
    }


def ran(program: Path, host: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program], env=host, capture_output=True, text=True, check=False)


def test_a_node_that_is_as_it_was_is_taken_again(host):
    for _ in range(2):
        assert ran(PROLOG, host).returncode == 0
        told = ran(EPILOG, host)
        assert (told.returncode, told.stderr) == (0, "")


def test_a_node_whose_settings_or_modules_changed_is_set_aside_and_told(host):
    root = Path(host["STEELYARD_NODE_ROOT"])
    assert ran(PROLOG, host).returncode == 0
    (root / SWAPPINESS).write_text("10\n")
    (root / MODULES).write_text("ext4 1 0 - Live\nmsr 1 0 - Live\n")
    told = ran(EPILOG, host)
    assert told.returncode == 1
    assert f"< /{SWAPPINESS} is 60\n" in told.stderr
    assert f"> /{SWAPPINESS} is 10\n" in told.stderr
    assert "> the module msr is loaded\n" in told.stderr
    # What was noted is gone, so that the next job begins anew.
    assert ran(EPILOG, host).returncode == 0


def test_a_node_on_which_something_else_runs_is_not_taken(host):
    told = ran(PROLOG, {**host, "STEELYARD_NODE_BUSY_PERCENT": "-1"})
    assert told.returncode == 1
    assert "something else runs on this node" in told.stderr
    assert not Path(host["STEELYARD_NODE_STATE"]).exists()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A Slurm with the programs of the examples, of a host of its own, that nodes may join."""
    root = tmp_path_factory.mktemp("host")
    (root / "proc/sys/vm").mkdir(parents=True)
    (root / SWAPPINESS).write_text("60\n")
    settings = []
    for name, program in (("Prolog", PROLOG), ("Epilog", EPILOG)):
        path = root / name
        path.write_text(
            f"#!/bin/sh\nexport STEELYARD_NODE_ROOT={root} STEELYARD_NODE_STATE={root}/state "
            f"STEELYARD_NODE_BUSY_PERCENT=100\nexec {program}\n"
        )
        path.chmod(0o700)
        settings.append(f"{name}={path}")
    with slurm(("w1",), joins=True, more=settings) as running:
        running.environment["TEST_HOST"] = str(root)
        yield running


def test_a_node_that_joins_later_is_enrolled_and_runs_what_is_sent(user, here, served) -> None:  # noqa: F811
    service = served()

    def workers() -> list[str]:
        return sorted(each["worker"] for each in service.gets("api/workers")["workers"])

    here.wait_for(lambda: workers() == ["w1"], "the node is enrolled")
    with here.joined("d1"):
        here.wait_for(lambda: workers() == ["d1", "w1"], "the node that joined is enrolled")
        identifier = sent(user, written(user, hosts=ON_BOTH))["experiment"]
        assert committed(service, identifier) == list(range(8))
        here.wait_for(lambda: not here.told("squeue", "-h"), "all Slurm jobs have ended")


def test_a_job_that_changes_its_node_has_it_set_aside(here) -> None:
    def state() -> str:
        return here.told("sinfo", "-h", "-n", "w1", "-o", "%T").strip()

    changed = Path(here.environment["TEST_HOST"]) / SWAPPINESS
    words = ["sbatch", "-p", "bench", "-w", "w1", "-o", "/dev/null", "--wrap"]
    here.told(*words, "true")
    here.wait_for(lambda: not here.told("squeue", "-h"), "the job has ended")
    here.wait_for(lambda: state() == "idle", "the node is as it was")
    here.told(*words, f"echo 10 > {changed}")
    here.wait_for(lambda: state().startswith("drain"), "the node is set aside")
