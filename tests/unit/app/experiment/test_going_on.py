"""Which answers an experiment that goes on has given before."""

from dataclasses import replace

import pytest

from steelyard.app.experiment.going_on import Onward, onward_stopping
from steelyard.core.errors import UsageError
from steelyard.core.stopping_spec import PastLook, StoppingSpec
from tests.experiments import make_experiment

UNTIL_DECIDED = StoppingSpec(until="decided", budget_s=60.0)


def onward(stopping, stopped, asked=None):
    experiment = make_experiment()
    spec = replace(experiment.spec, stopping=stopping)
    ended = replace(experiment, spec=spec, stopped=stopped)
    return onward_stopping(ended, asked or Onward(budget_s=600.0), undecided=True)


@pytest.mark.parametrize("stopped", ["interrupted", "budget", None])
def test_whoever_gives_a_new_budget_may_have_seen_the_ratio_before(stopped):
    """By `report`, where the session was killed or still runs."""
    assert onward(UNTIL_DECIDED, stopped).looks == (PastLook(3, "decided"),)


def test_a_crash_on_the_way_to_a_precision_is_no_answer():
    assert onward(StoppingSpec(), None).looks == ()


@pytest.mark.parametrize("stopped", ["interrupted", "budget", None])
def test_a_fixed_number_of_runs_that_is_completed_has_one_answer(stopped):
    assert onward(StoppingSpec(runs=30), stopped).looks == ()


@pytest.mark.parametrize("stopped", ["interrupted", "budget", None])
def test_a_fixed_number_of_runs_ends_by_a_budget_that_is_asked_for(stopped):
    asked = Onward(budget_s=2.0, budget_is_asked=True)
    found = onward(StoppingSpec(runs=30), stopped, asked)
    assert (found.runs, found.budget_s, found.looks) == (30, 2.0, ())
    usual = onward(StoppingSpec(runs=30), stopped, Onward(budget_s=600.0))
    assert usual.budget_s is None


def test_a_least_number_of_runs_is_refused_where_the_number_is_fixed():
    with pytest.raises(UsageError, match="a fixed number of runs, 30"):
        onward(StoppingSpec(runs=30), "interrupted", Onward(minimum_blocks=5))
