"""Blocks that two workers ran: who cannot be right is shown, and found by a third."""

from __future__ import annotations

import json
import random

import pytest

from steelyard.app.service.block_disagreements import blamed, disagreements
from steelyard.app.service.service import Service
from steelyard.core.errors import UsageError
from steelyard.core.json_codec import experiment_spec_from_json, to_json
from steelyard.design.plan_part import planned_trial
from steelyard.service.repeated_blocks import CommittedBlock
from steelyard.service.service_database import ServiceDatabase
from tests.unit.service.conftest import trial

FILE = """\
[experiment]
seed = 5
[[benchmark]]
name = "b"
command = "true"
[[factor]]
factor = "environment-size"
levels = [0, 64]
[hosts]
factors = {{worker = "100%"}}
replicates = {replicates}
redundant = "{share}"
"""
FACTS = {"architecture": "x", "cpus": 1}


class Here:
    """A service whose workers take what the test says."""

    def __init__(self, path, *names, facts=FACTS):
        self.database = ServiceDatabase(str(path / "service.sqlite"))
        self.service = Service(self.database, str(path), lambda: 1000.0)
        self.who = self.service.access.owner()
        self.tokens = {name: self.service.access.enrol(self.who, name, facts) for name in names}

    def sends(self, share="100%", replicates=4):
        file = FILE.format(share=share, replicates=replicates)
        self.planned = self.service.submit(self.who, file, "e.toml")
        return self.planned

    def runs(self, name, spent_s):
        """Whether a worker was given a block, and sent back what `spent_s` draws."""
        worker = self.service.access.worker(self.tokens[name])
        given = self.service.parts.give(worker)
        if given is None:
            return False
        spec = experiment_spec_from_json(json.loads(given.specification))
        trials = []
        for position in given.positions:
            plan = planned_trial(spec, position)
            value = spent_s()
            about = {"variant": plan.variant, "measurements": {"wall_time": (value,)}}
            trials.append(trial(position, plan.block, spent_s=2 * value, **about))
        result = {
            "part": given.id,
            "attempt": given.attempt,
            "experiment": given.experiment,
            "trials": to_json(tuple(trials)),
        }
        assert self.service.parts.take(worker, result).outcome in ("committed", "refused")
        return True

    def ends(self, **spent_s):
        """Let workers run in turn until nothing is given out."""
        going = True
        while going:
            ran = [self.runs(name, draw) for name, draw in spent_s.items()]
            going = any(ran)
        return self.service.standing(self.who, self.planned.spec.identifier).repeats, {
            worker.name: worker.status for worker in self.service.hosts.workers()
        }


@pytest.fixture
def made(tmp_path):
    found = []

    def make(*names, **facts):
        found.append(Here(tmp_path, *names, **facts))
        return found[-1]

    yield make
    for each in found:
        each.database.close()


def around(seed, middle_s=1.0, variation=0.03):
    draw = random.Random(seed)
    return lambda: middle_s * draw.lognormvariate(0.0, variation)


def test_each_block_is_committed_once_by_each_of_two_workers(made) -> None:
    here = made("a", "b", "c")
    planned = here.sends()
    assert planned.trial_count == 2 * 2 * 3 * 4
    twins = [place for place in planned.blocks if place.twin is not None]
    assert len(twins) == 12
    assert all(place.worker != planned.blocks[place.twin].worker for place in twins)
    repeats, states = here.ends(a=around(1), b=around(2), c=around(3))
    assert (repeats.pair_count, repeats.disagreements) == (12, ())
    assert set(states.values()) == {"idle"}
    sent = here.service.submission(here.who, planned.spec.identifier)
    assert (sent.state, sent.committed_count) == ("done", 48)


def test_a_share_of_the_blocks_is_repeated_and_without_another_worker_none_can_be(made) -> None:
    here = made("a", "b", "c")
    assert sum(place.twin is not None for place in here.sends("25%").blocks) == 3
    alone = Service(here.database, ".", lambda: 9000.0)
    token = alone.access.enrol(alone.access.owner(), "d", FACTS)
    assert token
    file = FILE.format(share="10%", replicates=1)
    with pytest.raises(UsageError, match="no other worker of the platform of d has what is asked"):
        alone.submit(alone.access.owner(), file, "e.toml")


@pytest.mark.parametrize("seed", range(3))
def test_who_lies_is_found_by_those_that_agree_with_each_other(made, seed) -> None:
    here = made("a", "b", "c", "liar")
    here.sends(replicates=6)
    draws = {name: around(f"{seed} {name}") for name in ("a", "b", "c")}
    repeats, states = here.ends(**draws, liar=around(f"{seed} liar", 0.25))
    assert states == {"a": "idle", "b": "idle", "c": "idle", "liar": "quarantined"}
    assert all("liar" in (d.one.worker, d.two.worker) for d in repeats.disagreements)
    assert len(repeats.disagreements) >= 3
    assert "times the first one" in repeats.disagreements[0].why


@pytest.mark.parametrize("seed", range(5))
def test_hosts_that_vary_by_a_quarter_are_not_called_liars(made, seed) -> None:
    here = made("a", "b", "c")
    here.sends(replicates=10)
    draws = {name: around(f"{seed} {name}", 1.0, 0.25) for name in ("a", "b", "c")}
    repeats, states = here.ends(**draws)
    assert len(repeats.disagreements) <= 1
    assert set(states.values()) == {"idle"}


def blocks(spec, *runs):
    """Pairs of blocks from (worker, status and value of each variant) twice."""
    found = []
    for number, pair in enumerate(runs):
        made = []
        for side, (worker, *ends) in enumerate(pair):
            trials = tuple(
                trial(
                    variant,
                    number,
                    status=status,
                    measurements={"wall_time": (value,)} if status == "ok" else {},
                )
                for variant, (status, value) in enumerate(ends)
            )
            made.append(CommittedBlock(2 * number + side, number, worker, f"w{worker}", trials))
        found.append(tuple(made))
    return found


def test_one_that_ran_where_the_other_failed_cannot_be_and_two_alone_cannot_say_who(made) -> None:
    here = made("a", "b")
    spec = here.sends().spec
    ok, failed = ("ok", 1.0), ("failed", 0.0)
    found = disagreements(spec, blocks(spec, [(1, ok, ok), (2, ok, failed)]))
    assert ["ran on w1, and failed on w2" in each.why for each in found] == [True]
    assert blamed(found, 0) is None
    assert disagreements(spec, blocks(spec, [(1, failed, ok), (2, failed, ok)])) == []
    three = blocks(spec, [(1, ok, ok), (2, ok, failed)], [(2, failed, ok), (3, ok, ok)])
    found = disagreements(spec, three)
    assert [blamed(found, part)[0] for part in (0, 3)] == [2, 2]
    assert blamed(found, 99) is None
