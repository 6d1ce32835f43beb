"""What every executor keeps, over everything registered."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.design.blocks import PlannedTrial
from steelyard.design.level_positions import unit_of
from steelyard.design.plan_part import planned_trial
from steelyard.executors.executor import Executor, OpenExecutor, Workplace
from steelyard.executors.kinds import EXECUTORS
from steelyard.measure.launcher_process import launcher_path
from steelyard.measure.trial_journal import JournalWriter
from tests.plans import PLANS, spec_of

pytestmark = pytest.mark.parametrize("name", EXECUTORS.names())


@pytest.fixture(autouse=True)
def with_launcher() -> None:
    try:
        launcher_path()
    except MissingCapabilityError as error:
        pytest.skip(f"the launcher is not built: {error.message}")


def workplace(folder: Path) -> Workplace:
    return Workplace(str(folder / "work"), str(folder / "logs"))


@contextmanager
def opened(name: str, spec: ExperimentSpec, folder: Path) -> Iterator[OpenExecutor]:
    """An executor that runs parts of `spec`, its journal in `folder`."""
    executor: Executor = EXECUTORS.get(name)
    place = workplace(folder)
    with (
        executor.ready(spec, place) as ready,
        JournalWriter(
            str(folder / "journal"), spec, ready.provenance, files=place.outputs
        ) as journal,
        ready.open(journal) as running,
    ):
        yield running


def run_all(executor: OpenExecutor, parts: Sequence[Sequence[PlannedTrial]]) -> list[Trial]:
    for part in parts:
        executor.submit(part)
    ended: list[Trial] = []
    while len(ended) < sum(map(len, parts)):
        ended += executor.take()
    return ended


def in_journal(folder: Path) -> list[int]:
    """The places of the trials that the journal has."""
    lines = (folder / "journal").read_text().splitlines()
    return [line["trial"] for line in map(json.loads, lines) if "trial" in line]


def test_it_has_a_name_and_says_in_a_sentence_where_it_runs(name: str) -> None:
    executor = EXECUTORS.get(name)
    assert executor.name == name
    assert executor.description.endswith(".")


@pytest.mark.parametrize("plan", PLANS)
def test_it_runs_each_place_once_as_the_plan_says(name: str, plan: str, tmp_path: Path) -> None:
    spec = PLANS[plan]
    block = spec.trials_of_variant * len(spec.variants)
    parts = [[planned_trial(spec, first + i) for i in range(block)] for first in (0, block)]
    if spec.warmup_count:
        parts.insert(0, [planned_trial(spec, place) for place in (-1, -2, -3, -4)])
    with opened(name, spec, tmp_path) as executor:
        trials = run_all(executor, parts)
    asked = [planned for part in parts for planned in part]
    assert sorted(trial.position for trial in trials) == sorted(p.position for p in asked)
    by_place = {trial.position: trial for trial in trials}
    for planned in asked:
        trial = by_place[planned.position]
        found = PlannedTrial(trial.position, trial.block, trial.variant, trial.warmup, trial.build)
        assert found == planned
        assert trial.levels == unit_of(spec, planned.position).levels
        assert trial.status == ("failed" if plan == "failures" else "ok"), trial.details
    assert sorted(in_journal(tmp_path)) == sorted(by_place)


def test_a_trial_is_in_the_journal_before_it_is_given(name: str, tmp_path: Path) -> None:
    spec = PLANS["blocks"]
    with opened(name, spec, tmp_path) as executor:
        executor.submit([planned_trial(spec, place) for place in range(10)])
        given: list[int] = []
        while len(given) < 10:
            for trial in executor.take():
                given.append(trial.position)
                assert trial.position in in_journal(tmp_path)


def test_what_is_abandoned_gives_no_trial_and_leaves_no_program(name: str, tmp_path: Path) -> None:
    started = tmp_path / "pids"
    first = f"test $(wc -l < {started}) = 1"
    spec = spec_of(f"echo printed 1; echo $$ >> {started}; {first} || exec sleep 900")
    with opened(name, spec, tmp_path) as executor:
        executor.submit([planned_trial(spec, place) for place in range(10)])
        ended: list[Trial] = []
        while len(started.read_text().split() if started.exists() else ()) < 2:
            ended += executor.take()
        ended += executor.abandon()
    assert [trial.position for trial in ended] == [0]
    _, asleep = map(int, started.read_text().split())
    with pytest.raises(ProcessLookupError):
        os.kill(asleep, 0)


def test_what_a_trial_printed_goes_once_it_is_taken(name: str, tmp_path: Path) -> None:
    spec = PLANS["blocks"]
    with opened(name, spec, tmp_path) as executor:
        trials = run_all(executor, [[planned_trial(spec, place) for place in range(10)]])
    assert all(trial.measurements["printed"] == (3.0,) for trial in trials)
    assert not list((tmp_path / "work").glob("*.out"))


def test_a_program_that_is_not_there_is_refused_and_nothing_is_held(
    name: str, tmp_path: Path
) -> None:
    spec = PLANS["blocks"]
    lost = replace(spec.variants[1].launch, argv=(str(tmp_path / "nothing"),))
    wrong = replace(spec, variants=(spec.variants[0], replace(spec.variants[1], launch=lost)))
    with pytest.raises(UsageError, match="nothing"), opened(name, wrong, tmp_path):
        pass
    with opened(name, spec, tmp_path) as executor:
        assert len(run_all(executor, [[planned_trial(spec, 0)]])) == 1


def test_it_names_what_was_built(name: str, tmp_path: Path) -> None:
    spec = PLANS["builds"]
    with opened(name, spec, tmp_path) as executor:
        run_all(executor, [[planned_trial(spec, place) for place in range(4)]])
        assert {(line["variant"], line["build"]) for line in executor.builds} == {(0, 0), (1, 0)}
    assert not os.path.exists(tmp_path / "work" / "builds" / "000-000000")
