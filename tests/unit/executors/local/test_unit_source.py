"""Trials that wait for their unit: its builds, and the commands of its levels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.repetition import RepetitionLevel
from steelyard.design.blocks import PlannedTrial
from steelyard.design.plan_part import planned_trial
from steelyard.executors.local.unit_builds import UnitBuilds
from steelyard.executors.local.unit_source import UnitSource
from steelyard.measure.trial_journal import JournalWriter
from tests.plans import PLANS, spec_of


class Machine:
    """Ends what is queued one trial at a time, and notes with which program."""

    def __init__(self) -> None:
        self.queued: list[PlannedTrial] = []
        self.programs: list[Variant] = []

    def queue(self, trial: PlannedTrial, program: Variant) -> None:
        self.queued.append(trial)
        self.programs.append(program)

    def take(self) -> Iterable[Trial]:
        yield self._ended(self.queued.pop(0))

    def abandon(self) -> list[Trial]:
        ended = [self._ended(self.queued[0])] if self.queued else []
        self.queued.clear()
        return ended

    def _ended(self, trial: PlannedTrial) -> Trial:
        return Trial(
            trial.position, trial.block, trial.variant, trial.warmup, "ok", None, 0.0, 1.0,
            {"wall_time": (1.0,)}, build=trial.build,
        )  # fmt: skip


def unit_source(spec: ExperimentSpec, folder: Path) -> tuple[UnitSource, Machine]:
    machine = Machine()
    journal = JournalWriter(str(folder / "journal"), spec, {})
    builds = UnitBuilds(spec, str(folder / "builds"), str(folder / "logs"))
    return UnitSource(spec, machine, journal, builds), machine


def run(spec: ExperimentSpec, folder: Path, *positions: int) -> tuple[list[Trial], Machine]:
    source, machine = unit_source(spec, folder)
    for position in positions:
        trial = planned_trial(spec, position)
        source.queue(trial, spec.variants[trial.variant])
    ended: list[Trial] = []
    while len(ended) < len(positions):
        ended += source.take()
    return ended, machine


def lines(folder: Path, name: str) -> list[dict[str, object]]:
    read = map(json.loads, (folder / "journal").read_text().splitlines())
    return [line for line in read if name in line]


def levelled(script: str) -> ExperimentSpec:
    """Two boots of two executions of two variants a day, with a command for each boot."""
    levels = (
        RepetitionLevel("day"),
        RepetitionLevel("boot", 2, ("/bin/sh", "-c", script)),
        RepetitionLevel("execution", 2),
    )
    return spec_of("true", levels=levels)


def test_each_repetition_of_a_level_is_entered_once_and_named_in_the_journal(
    tmp_path: Path,
) -> None:
    count = tmp_path / "count"
    trials, _ = run(levelled(f"echo >> {count}"), tmp_path, *range(16))
    assert [trial.levels for trial in trials] == [(0, 0)] * 4 + [(0, 1)] * 4 + [(1, 2)] * 4 + [
        (1, 3)
    ] * 4
    assert count.read_text() == "\n" * 4
    assert [line["entered"] for line in lines(tmp_path, "entered")] == ["boot"] * 4


def test_what_a_level_cost_is_in_its_first_trial_of_each_variant(tmp_path: Path) -> None:
    trials, _ = run(levelled("true"), tmp_path, *range(4))
    assert all(trial.details["costs_s"]["boot"] > 0 for trial in trials)


def test_where_a_levels_command_fails_its_trials_fail_and_the_next_repetition_is_tried(
    tmp_path: Path,
) -> None:
    once = tmp_path / "once"
    trials, machine = run(
        levelled(f"test -e {once} || {{ touch {once}; exit 1; }}"), tmp_path, *range(8)
    )
    assert [(trial.status, trial.reason) for trial in trials] == [("failed", "prepare")] * 4 + [
        ("ok", None)
    ] * 4
    assert len(machine.programs) == 4
    assert len(lines(tmp_path, "trial")) == 4


def test_a_program_is_launched_from_its_own_build_and_the_build_goes_with_its_unit(
    tmp_path: Path,
) -> None:
    trials, machine = run(PLANS["builds"], tmp_path, *range(8))
    scripts = [program.launch.argv[2] for program in machine.programs]
    for trial, text in zip(trials, scripts, strict=True):
        assert f"{trial.variant:03}-{trial.build:06}" in text
    assert sorted({(trial.variant, trial.build) for trial in trials}) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert not list((tmp_path / "builds").glob("*-000000"))


def test_what_waits_for_a_unit_is_never_run_after_it_was_abandoned(tmp_path: Path) -> None:
    spec = levelled("true")
    source, machine = unit_source(spec, tmp_path)
    for position in range(8):
        trial = planned_trial(spec, position)
        source.queue(trial, spec.variants[trial.variant])
    first = list(source.take())
    left = source.abandon()
    assert [trial.position for trial in (*first, *left)] == [0, 1]
    assert len(machine.programs) == 4
