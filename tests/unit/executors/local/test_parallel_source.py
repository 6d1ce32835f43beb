"""Blocks whose trials run at the same time, each on CPUs of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.experiment_results import Trial
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.design.blocks import plan_block, plan_warmups
from steelyard.design.schedule import Schedule
from steelyard.executors.local.parallel_source import (
    Lane,
    OnCpus,
    ParallelSource,
    check_parallel,
    lane_cpus,
)
from steelyard.host.system_files import HostFiles
from tests.plans import spec_of

PARALLEL = spec_of("true", order="parallel")


def machine(folder: Path, *cores: str) -> HostFiles:
    """One whose CPUs are hardware threads of these cores."""
    for core in cores:
        for cpu in core.split(","):
            topology = folder / "sys/devices/system/cpu" / f"cpu{cpu}" / "topology"
            topology.mkdir(parents=True)
            (topology / "thread_siblings_list").write_text(core)
    return HostFiles(str(folder))


@pytest.mark.parametrize(
    ("cores", "lanes", "found"),
    [
        (("0", "1"), 2, [(0,), (1,)]),
        (("0,4", "1,5", "2,6", "3,7"), 2, [(0, 4, 1, 5), (2, 6, 3, 7)]),
        (("0,4", "1,5", "2,6", "3,7"), 3, [(0, 4), (1, 5), (2, 6)]),
        (("0,1",), 2, [(0,), (1,)]),
        (("0,2", "1"), 2, [(0,), (1,)]),
    ],
)
def test_each_lane_has_as_many_cpus_and_whole_cores_where_there_are_enough(
    tmp_path, cores, lanes, found
):
    cpus = [int(cpu) for core in cores for cpu in core.split(",")]
    assert lane_cpus(cpus, lanes, machine(tmp_path, *cores)) == found


def test_fewer_cpus_than_programs_are_refused():
    with pytest.raises(MissingCapabilityError, match="a CPU for each program: 3, and 2 may"):
        lane_cpus((0, 1), 3)


def test_one_program_and_steps_of_trials_are_refused():
    with pytest.raises(UsageError, match="two programs or more"):
        check_parallel(replace(PARALLEL, variants=PARALLEL.variants[:1]))
    prepared = tuple(replace(variant, prepare=("true",)) for variant in PARALLEL.variants)
    with pytest.raises(UsageError, match="--prepare"):
        check_parallel(replace(PARALLEL, variants=prepared))


def test_a_program_stays_one_value_on_its_cpus():
    program = PARALLEL.variants[0]
    trial, placing = plan_block(0, 0, 1)[0], OnCpus((3,))
    assert placing(program, trial).launch.cpus == (3,)
    assert placing(program, trial) is placing(program, trial)


class Lanes:
    """Lanes that end what they run when they are told to, and what was begun in them."""

    def __init__(self, count: int) -> None:
        self.begun: list[list[int]] = [[] for _ in range(count)]
        self.ended: list[list[Trial]] = [[] for _ in range(count)]
        self.sent = 0

    def lane(self, number: int) -> Lane:
        outer = self

        class Source:
            def queue(self, trial, program):
                outer.begun[number].append(trial.position)

            def take(self):
                ended, outer.ended[number] = outer.ended[number], []
                return ended

            def abandon(self):
                return self.take()

        class Launcher:
            def send(self):
                outer.sent += 1

        return Lane(Launcher(), Source())  # type: ignore[arg-type]

    def end(self, number: int) -> None:
        position = self.begun[number][-1]
        self.ended[number].append(
            Trial(position, 0, 0, False, "ok", None, 0.0, 1.0, {"wall_time": (1.0,)})
        )


def test_a_block_begins_in_all_lanes_at_once_and_the_next_when_all_have_ended():
    spec, lanes = PARALLEL, Lanes(2)
    source = ParallelSource([lanes.lane(0), lanes.lane(1)])
    for block in range(2):
        for trial in plan_block(spec.seed, block, 2):
            source.queue(trial, spec.variants[trial.variant])
    assert list(source.take()) == []
    assert lanes.begun == [[0], [1]]
    lanes.end(1)
    assert list(source.take()) == []  # It waits for the first lane.
    lanes.end(0)
    assert [trial.position for trial in source.take()] == [0]
    assert lanes.begun == [[0], [1]]
    assert [trial.position for trial in source.take()] == [1]
    assert lanes.begun == [[0, 2], [1, 3]]


def test_warm_ups_are_blocks_too_and_none_shares_lanes_with_a_trial():
    spec, lanes = PARALLEL, Lanes(2)
    source = ParallelSource([lanes.lane(0), lanes.lane(1)])
    for trial in [*plan_warmups(spec.seed, 0, 2, 1), *plan_block(spec.seed, 0, 2)]:
        source.queue(trial, spec.variants[trial.variant])
    list(source.take())
    assert lanes.begun == [[-1], [-2]]
    for number in (0, 1):
        lanes.end(number)
    for _ in (0, 1):
        list(source.take())
    assert lanes.begun == [[-1, 0], [-2, 1]]


def test_what_ended_before_it_was_abandoned_is_given_and_nothing_else_begins():
    spec, lanes = PARALLEL, Lanes(2)
    source = ParallelSource([lanes.lane(0), lanes.lane(1)])
    for trial in plan_block(spec.seed, 0, 2):
        source.queue(trial, spec.variants[trial.variant])
    list(source.take())
    lanes.end(1)
    assert [trial.position for trial in source.abandon()] == [1]
    assert list(source.take()) == []


def test_half_a_parallel_block_of_a_killed_session_is_not_made_up_for_alone():
    spec = spec_of("true", order="parallel", stopping=StoppingSpec(runs=3))
    schedule = Schedule(spec, (0, 1), {0, 1, 2})
    assert [trial.position for trial in schedule.next_block()] == [4, 5]
    assert schedule.next_block() == []
