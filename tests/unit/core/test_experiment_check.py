from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.core.errors import DataError
from steelyard.core.experiment_check import check_experiment
from steelyard.core.experiment_spec import MetricSpec
from tests.experiments import make_experiment, make_trial


def _of(metrics, trials, each):
    """Trials that measure some of many metrics each."""
    names = [f"m{number}" for number in range(metrics)]
    made = tuple(
        make_trial(n, measurements={names[(n * each + i) % metrics]: (1.0,) for i in range(each)})
        for n in range(trials)
    )
    experiment = make_experiment(trials=made)
    specs = tuple(MetricSpec(name, "s") for name in names)
    return replace(experiment, spec=replace(experiment.spec, metrics=specs))


def test_metrics_of_which_each_trial_has_one_are_refused_where_they_would_fill_the_memory():
    with pytest.raises(DataError, match="metrics that many trials measure"):
        check_experiment(_of(metrics=3000, trials=3000, each=1))


@pytest.mark.parametrize(("metrics", "trials", "each"), [(1000, 1000, 1), (3000, 3000, 50)])
def test_few_metrics_and_those_that_many_trials_have_are_read(metrics, trials, each):
    check_experiment(_of(metrics, trials, each))
