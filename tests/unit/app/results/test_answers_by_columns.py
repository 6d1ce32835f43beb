"""From the store to the answer no object is made for a trial that has nothing of its own to say."""

from __future__ import annotations

import pytest

from steelyard.app.results.library import open_library
from steelyard.app.results.stored_answer import answered
from steelyard.core import trial_table
from steelyard.report.formats import FORMATS
from steelyard.report.kinds.experiment.document import experiment_document
from steelyard.report.kinds.experiment.text import experiment_text
from tests.experiments import failed_trial, make_experiment, make_trial


def refused(*_):
    raise AssertionError("a trial was made on the way of an answer")


def stored(path, *more):
    trials = (*map(make_trial, range(60)), *more)
    with open_library(str(path)) as library:
        library.save(make_experiment(trials=trials))
        return library.find("latest")


@pytest.mark.parametrize("name", [known.name for known in FORMATS])
def test_no_report_makes_a_trial(name, tmp_path, monkeypatch):
    identifier = stored(tmp_path / "store.sqlite")
    monkeypatch.setattr(trial_table, "Trial", refused)
    with open_library(str(tmp_path / "store.sqlite")) as library:
        experiment = library.shown(identifier, ("hidden",))
    assert FORMATS.get(name).render(answered(experiment, None, ()), experiment)


def test_what_was_run_is_shown_without_making_a_trial(tmp_path, monkeypatch):
    identifier = stored(tmp_path / "store.sqlite")
    monkeypatch.setattr(trial_table, "Trial", refused)
    with open_library(str(tmp_path / "store.sqlite")) as library:
        experiment = library.shown(identifier, ("hidden",))
    assert "30" in experiment_text(experiment, running=False, trials=False)
    assert experiment_document(experiment)["variants"][0]["trials"] == 30


def test_failed_trials_alone_are_made(tmp_path, monkeypatch):
    identifier = stored(tmp_path / "store.sqlite", failed_trial(60))
    made = []

    def counted(position, *rest):
        made.append(position)
        return real(position, *rest)

    real = trial_table.Trial
    monkeypatch.setattr(trial_table, "Trial", counted)
    with open_library(str(tmp_path / "store.sqlite")) as library:
        experiment = library.shown(identifier, ("hidden",))
    assert "failed" in FORMATS.get("text").render(answered(experiment, None, ()), experiment)
    assert set(made) == {60}
