"""Trials as columns say what the trials themselves say."""

from __future__ import annotations

import random
from array import array

import pytest

from steelyard.core import trial_columns
from steelyard.core.experiment_results import Trial
from steelyard.core.json_codec import to_json
from steelyard.core.trial_table import TrialTable

SIZES = (0, 1, 2, 40)


def drawn_trial(draw: random.Random, position: int) -> Trial:
    """Any trial: several iterations, metrics that it lacks, levels, details of its own."""
    failed = draw.random() < 0.3
    counts = {"wall_time": draw.choice((1, 1, 3, 20)), "max_rss": draw.choice((0, 1))}
    return Trial(
        position=position,
        block=draw.randrange(5),
        variant=draw.randrange(2),
        warmup=draw.random() < 0.2,
        status="failed" if failed else "ok",
        reason="timeout" if failed else None,
        started_unix_s=1e9 + position,
        spent_s=draw.random(),
        measurements={
            name: tuple(draw.random() for _ in range(count))
            if count <= trial_columns.ARRAY_COUNT
            else array("d", [draw.random() for _ in range(count)])
            for name, count in counts.items()
            if draw.random() < 0.9
        },
        build=draw.randrange(3),
        realised={"aslr": draw.choice(("on", "off"))},
        details={"exit_code": draw.randrange(3)},
        levels=draw.choice(((), (1, 2))),
    )


def drawn_trials(count: int, seed: int = 5) -> list[Trial]:
    draw = random.Random(seed)
    return [drawn_trial(draw, position) for position in range(count)]


@pytest.mark.parametrize("count", SIZES)
def test_a_table_gives_the_trials_that_it_was_made_of(count):
    trials = drawn_trials(count)
    table = TrialTable.of(trials)
    assert list(table) == trials
    assert table == tuple(trials)
    assert TrialTable.of(table) is table
    assert [table[place] for place in range(-count, count)] == trials + trials
    assert to_json(table) == to_json(trials)


def test_a_place_beyond_the_end_is_none():
    with pytest.raises(IndexError):
        _ = TrialTable.of(drawn_trials(3))[3]


@pytest.mark.parametrize("count", SIZES)
def test_trials_are_chosen_by_variant_warmup_and_status(count):
    trials = drawn_trials(count)
    table = TrialTable.of(trials)
    assert table.only() == trials
    assert table.only(1) == [t for t in trials if t.variant == 1]
    assert table.only(warmup=True) == [t for t in trials if t.warmup]
    assert table.only(0, warmup=False, failed=True) == [
        t for t in trials if t.variant == 0 and not t.warmup and t.status == "failed"
    ]


def test_what_was_chosen_is_chosen_once_and_not_kept_by_a_changed_table():
    table = TrialTable.of(drawn_trials(40))
    assert table.only(1) is table.only(1)
    changed = table.mapped(dict, lambda _: {"new": 1})
    assert all(trial.details == {"new": 1} for trial in changed.only(1))


def test_trials_come_into_the_order_of_their_positions():
    trials = drawn_trials(30)
    mixed = random.Random(3).sample(trials, len(trials))
    assert TrialTable.of(mixed).in_order() == trials
    assert TrialTable.of(trials)[3:20:4] == trials[3:20:4]


@pytest.mark.parametrize("cuts", [(0, 0), (0, 7), (7, 7), (7, 40), (3, 11)])
def test_joined_tables_are_one_after_the_other(cuts):
    trials = drawn_trials(40)
    first, second = cuts
    parts = (trials[:first], trials[first:second], trials[second:])
    assert TrialTable.joined(map(TrialTable.of, parts)) == trials


def test_a_metric_that_comes_late_or_ends_early_is_absent_from_the_others():
    plain = {"wall_time": (1.0,)}
    rows = [
        *[Trial(p, p, 0, False, "ok", None, 1.0, 1.0, plain) for p in range(3)],
        *[Trial(p, p, 0, False, "ok", None, 1.0, 1.0, {"cpu_time": (2.0,)}) for p in range(3, 5)],
    ]
    joined = TrialTable.joined([TrialTable.of(rows[:3]), TrialTable.of(rows[3:])])
    assert joined == rows
    assert joined.picked([4, 0]) == [rows[4], rows[0]]


def test_what_many_trials_share_is_changed_once():
    seen: list[object] = []
    shared = {"exit_code": 0}
    rows = [Trial(p, p, 0, False, "ok", None, 1.0, 1.0, {}, details=shared) for p in range(50)]
    changed = TrialTable.of(rows).mapped(dict, lambda details: seen.append(details) or {"x": 1})
    assert len(seen) == 1
    assert all(trial.details == {"x": 1} for trial in changed)
