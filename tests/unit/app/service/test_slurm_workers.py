"""Of each node of a cluster the service knows how it is; nothing is started in vain for ever."""

from __future__ import annotations

import threading

import pytest

from steelyard.app.service.slurm_place import SlurmPlace
from steelyard.app.service.slurm_workers import CLUSTER, SlurmWorkers
from steelyard.core.errors import UsageError
from steelyard.service.cluster_workers import ClusterWorker
from steelyard.service.slurm_cluster import SlurmAwayError, SlurmError, SlurmJob, SlurmNode
from tests.patience import PATIENCE_S

IDLE, NOW = SlurmNode("n", ("IDLE",), ("ib",), "t0"), 1000.0


class Cluster:
    """A cluster that does what it is told, and keeps what that was."""

    def __init__(self, node=IDLE):
        self.node, self.job, self.done, self.refusal = node, None, [], None
        self.ended_as = "FAILED"

    def nodes(self):
        return {"n": self.node}

    def jobs(self):
        return {} if self.job is None else {"n": self.job}

    def state_of(self, number):
        assert number == 7
        return self.ended_as

    def start(self, node, script, output, options):
        if self.refusal:
            raise SlurmError(self.refusal)
        self.done.append(("start", node, *options))
        self.job = SlurmJob(7, node, is_running=True)
        return 7

    def boot(self, node):
        if self.refusal:
            raise SlurmError(self.refusal)
        self.done.append(("boot", node))


class SilentCluster(Cluster):
    """A cluster whose commands give no answer until they are let."""

    def __init__(self):
        super().__init__()
        self.asked, self.let = threading.Event(), threading.Event()

    def jobs(self):
        self.asked.set()
        assert self.let.wait(PATIENCE_S)
        return super().jobs()


class KeptService:
    """The calls that a service was given."""

    def __init__(self, worker=None):
        self.worker, self.told = worker, []
        self.hosts = self

    def cluster_workers(self, names):
        assert list(names) == ["n"]
        return {} if self.worker is None else {"n": self.worker}

    def vouch_for(self, worker, cluster, status="idle"):
        assert cluster == CLUSTER
        self.told.append(status)

    def was_booted(self, worker, booted_for):
        self.told.append(f"booted for {booted_for}")

    def has_ended(self, worker, why):
        self.told.append(f"ended: {why}")

    def has_failed(self, worker, why):
        self.told.append(f"failed: {why}")


def worker(*, asked_s=None, holds=False, boot=None, booted="", status="idle"):
    return ClusterWorker(1, "n", status, asked_s, holds, boot, booted)


class Watched:
    """A cluster, a service and what looks at both, at a time that tests set."""

    def __init__(self, directory, known=None, node=IDLE):
        self.cluster, self.service = Cluster(node), KeptService(known)
        self.now_s, self.said = NOW, []
        place = SlurmPlace(str(directory))
        (directory / "workers").mkdir()
        (directory / "outputs").mkdir()
        self.output = directory / "outputs/n.txt"
        self.workers = SlurmWorkers(
            self.service, self.cluster, place, ("--mem=1G",), self.said.append, lambda: self.now_s
        )

    def look(self):
        self.service.told.clear()
        self.cluster.done.clear()
        self.workers.look()
        return self.cluster.done, self.service.told


@pytest.fixture
def watched(tmp_path):
    return lambda *words, **named: Watched(tmp_path, *words, **named)


def test_a_node_that_is_new_is_started_once_so_that_it_enrols(watched) -> None:
    seen = watched()
    assert seen.look() == ([("start", "n", "--mem=1G")], [])
    assert seen.look() == ([], [])
    seen.cluster.job = None
    seen.service.worker = worker(asked_s=NOW + 1)
    assert seen.look() == ([], ["idle"])


def test_a_worker_that_asked_by_a_clock_set_back_meanwhile_has_not_failed(watched) -> None:
    seen = watched(worker(asked_s=NOW, boot=""))
    assert seen.look()[0] == [("start", "n", "--mem=1G")]
    seen.cluster.job = None
    seen.service.worker = worker(asked_s=NOW - 86_400)
    assert seen.look() == ([], ["idle"])


def test_nothing_is_started_where_nothing_waits(watched) -> None:
    assert watched(worker()).look() == ([], ["idle"])


def test_a_node_with_work_is_started_and_vouched_for_until_its_worker_runs(watched) -> None:
    seen = watched(worker(boot=""))
    assert seen.look() == ([("start", "n", "--mem=1G")], ["idle"])
    seen.cluster.job = SlurmJob(7, "n", is_running=False)
    assert seen.look() == ([], ["idle"])
    seen.cluster.job = SlurmJob(7, "n", is_running=True)
    assert seen.look() == ([], [])


def test_a_part_whose_slurm_job_is_gone_is_given_back_with_its_last_words(watched) -> None:
    seen = watched(worker(asked_s=NOW, holds=True))
    seen.output.write_text("a\nslurmstepd: error: CANCELLED\n\n")
    assert seen.look() == (
        [],
        ["ended: its Slurm job has ended: slurmstepd: error: CANCELLED"],
    )


@pytest.mark.parametrize("states", [("DOWN",), ("IDLE", "DRAIN"), ("IDLE", "NOT_RESPONDING")])
def test_nobody_vouches_for_a_node_that_takes_no_jobs(watched, states) -> None:
    seen = watched(worker(boot=""), node=SlurmNode("n", states))
    assert seen.look() == ([], [])
    seen.cluster.job = SlurmJob(7, "n", is_running=False)
    assert seen.look() == ([], [])


def test_what_ends_before_it_asks_is_a_fault_and_is_tried_later_and_later(watched) -> None:
    seen = watched(worker(boot=""))
    starts = []
    for _ in range(600):
        done, told = seen.look()
        if done:
            starts.append(seen.now_s - NOW)
        seen.cluster.job = None
        assert told[0].startswith(("failed: its Slurm job 7 ended before", "idle"))
        seen.now_s += 2.0
    assert starts == [0, 12, 34, 76, 158, 320, 642]


@pytest.mark.parametrize("state", ["NODE_FAIL", "PREEMPTED", "CANCELLED"])
def test_what_slurm_takes_away_before_it_asks_is_a_fault_from_the_tenth_time_on(
    watched, state
) -> None:
    seen = watched(worker(boot=""))
    seen.cluster.ended_as = state
    faults = []
    for _ in range(4000):
        seen.cluster.job = None
        faults += [seen.now_s - NOW for line in seen.look()[1] if line.startswith("failed: ")]
        seen.now_s += 2.0
    starts = len([line for line in seen.said if "ended before it asked" in line])
    assert starts - len(faults) == 9
    assert faults


@pytest.mark.parametrize("state", ["", "FAILED", "BOOT_FAIL", "TIMEOUT", "OUT_OF_MEMORY"])
def test_what_ends_otherwise_or_is_forgotten_is_a_fault_at_once(watched, state) -> None:
    seen = watched(worker(boot=""))
    seen.cluster.ended_as = state
    seen.look()
    seen.cluster.job = None
    assert any(line.startswith("failed: ") for line in seen.look()[1])


def test_a_slurm_that_does_not_say_how_a_job_ended_is_asked_again(watched) -> None:
    seen = watched(worker(boot=""))
    seen.look()
    seen.cluster.job, kept = None, seen.cluster.state_of

    def away(number):
        raise SlurmAwayError("scontrol: Unable to contact slurm controller")

    seen.cluster.state_of = away
    with pytest.raises(SlurmAwayError):
        seen.look()
    assert seen.service.told == []
    seen.cluster.state_of = kept
    assert "failed: its Slurm job 7 ended before it asked for a part: " in seen.look()[1][0]


def test_a_start_that_asked_ends_the_waiting(watched) -> None:
    seen = watched(worker(boot=""))
    seen.look()
    seen.cluster.job = None
    seen.look()
    seen.now_s += 20
    seen.look()
    seen.service.worker = worker(boot="", asked_s=seen.now_s)
    seen.cluster.job = None
    assert seen.look()[0] == [("start", "n", "--mem=1G")]


def test_a_node_is_booted_before_what_takes_it_and_started_when_it_is_back(watched) -> None:
    seen = watched(worker(boot="E 0 0"))
    assert seen.look() == ([("boot", "n")], ["idle", "rebooting"])
    seen.cluster.node = SlurmNode("n", ("DOWN", "DRAIN", "REBOOT_ISSUED"), (), "t0")
    assert seen.look() == ([], ["rebooting"])
    seen.cluster.node = SlurmNode("n", ("IDLE",), (), "t1")
    assert seen.look() == ([], ["idle", "booted for E 0 0"])
    seen.service.worker = worker(boot="E 0 0", booted="E 0 0")
    assert seen.look()[0] == [("start", "n", "--mem=1G")]


def test_a_boot_that_was_called_off_is_a_fault_and_asked_for_again_later(watched) -> None:
    seen = watched(worker(boot="E"))
    seen.look()
    assert seen.look()[1] == ["idle", "failed: Slurm did not boot it, though it was asked to"]
    assert seen.look()[0] == []
    seen.now_s += 10
    assert seen.look()[0] == [("boot", "n")]


def test_a_node_that_slurm_refuses_to_boot_keeps_nobody_from_the_others(watched) -> None:
    seen = watched(worker(boot="E"))
    seen.cluster.refusal = "scontrol: Access/permission denied"
    assert seen.look()[1] == ["idle", "failed: scontrol: Access/permission denied"]
    assert seen.said == ["worker n: scontrol: Access/permission denied"]


def test_a_slurm_that_does_not_answer_is_told_once_and_again_when_it_does(watched) -> None:
    seen = watched(worker())

    def silent():
        raise SlurmError("scontrol: Unable to contact slurm controller")

    answers, seen.cluster.nodes = seen.cluster.nodes, silent
    seen.workers.look_once()
    seen.workers.look_once()
    seen.cluster.nodes = answers
    seen.workers.look_once()
    assert seen.said == [
        "scontrol: Unable to contact slurm controller Trying again.",
        "Slurm and the database answer again",
    ]


def test_the_directory_of_workers_is_its_owners_and_one_services_alone(tmp_path) -> None:
    place = SlurmPlace(str(tmp_path / "shared"))
    with place.kept("http://h/secret/", "token", "steelyard"):
        assert (tmp_path / "shared").stat().st_mode & 0o077 == 0
        assert (tmp_path / "shared/token").stat().st_mode & 0o077 == 0
        assert "secret" not in (tmp_path / "shared/start-worker").read_text()
        with pytest.raises(UsageError, match="Another service"), place.kept("a", "b", "c"):
            pytest.fail("it was let in")
    assert not (tmp_path / "shared/token").exists()
    (tmp_path / "file").touch()
    below = SlurmPlace(str(tmp_path / "file/below"))
    with pytest.raises(UsageError, match="Not a directory"), below.kept("a", "b", "c"):
        pytest.fail("it was let in")


def test_a_service_ends_while_slurm_gives_no_answer_and_starts_nothing_after(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("steelyard.app.service.slurm_workers.ENDING_S", 0.01)
    cluster = SilentCluster()
    place = SlurmPlace(str(tmp_path / "shared"))
    watched = SlurmWorkers(KeptService(), cluster, place, (), print)
    with watched.looking():
        assert cluster.asked.wait(PATIENCE_S)
    cluster.let.set()
    watched.look()
    assert cluster.done == []
