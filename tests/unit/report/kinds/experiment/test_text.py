from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.report.kinds.experiment.text import experiment_text, listing_text, short_identifiers
from steelyard.store.database import Listed
from tests.experiments import failed_trial, make_experiment, make_trial


def listed(number=1, **changes):
    spec = make_experiment(number).spec
    return Listed(
        **{
            "spec": spec,
            "created_unix_s": 1e9,
            "stopped": None,
            "trials": 4,
            "failed": 0,
            **changes,
        }
    )


def test_short_identifiers_tell_all_apart():
    identifiers = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV5RRFFQ69G5FAV"]
    assert short_identifiers(identifiers) == {i: i[:14] for i in identifiers}
    assert short_identifiers(identifiers[:1]) == {identifiers[0]: identifiers[0][:10]}


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "unfinished"),
        ({"running": True}, "running"),
        ({"stopped": "precision"}, "precision reached"),
        ({"stopped": "interrupted"}, "interrupted"),
    ],
)
def test_the_state_of_an_experiment_is_told(changes, state):
    assert state in listing_text([listed(**changes)])


def test_a_listing_fits_a_narrow_terminal():
    spec = replace(make_experiment().spec, note="a note of some length " * 5)
    text = listing_text([listed(spec=spec)], width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert "old, new" in text


def test_failures_are_counted_by_reason_with_their_last_words():
    trials = (
        make_trial(0),
        failed_trial(1),
        failed_trial(3, details={"exit_code": 3, "stderr_tail": "first\nlast\x1b[31m\n"}),
        failed_trial(5, reason="signal", details={"signal": 9}),
    )
    text = experiment_text(make_experiment(trials=trials), running=False, trials=False)
    rows = [line.split() for line in text.splitlines()]
    assert ["new", "exit", "code", "3", "2", "last\ufffd[31m"] in rows
    assert ["new", "ended", "by", "SIGKILL", "(signal", "9)", "1"] in rows


def test_trials_are_listed_on_request_only():
    experiment = make_experiment()
    without = experiment_text(experiment, running=False, trials=False)
    assert "100.0 ms" not in without
    assert "100.0 ms" in experiment_text(experiment, running=False, trials=True)


def test_what_is_not_utf8_can_be_printed():
    text = experiment_text(make_experiment(), running=True, trials=True)
    assert text.encode()
    assert "running" in text


@pytest.mark.parametrize("created_unix_s", [1e300, -1e300, float("nan"), float("inf")])
def test_an_experiment_without_a_time_does_not_hide_the_others(created_unix_s):
    text = listing_text([listed(1), listed(2, created_unix_s=created_unix_s)])
    assert text.splitlines()[2].split()[1] == "?"
