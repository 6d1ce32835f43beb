"""Where others disturb the wall time, the answer says how well the processor time is known."""

import random
from dataclasses import replace

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.report.kinds.comparison.sentences import steadier_sentence
from tests.experiments import make_experiment, make_trial

METRICS = (MetricSpec("wall_time", "s"), MetricSpec("cpu_time", "s"))


def measured(wall_noise, cpu_s=0.3, cpu_noise=0.01):
    draw = random.Random(1)
    trials = tuple(
        make_trial(
            position,
            block=position,
            variant=0,
            measurements={
                "wall_time": (0.3 + wall_noise * draw.random(),),
                "cpu_time": (cpu_s * (1 + cpu_noise * draw.random()),),
            },
        )
        for position in range(30)
    )
    spec = make_experiment().spec
    spec = replace(
        spec,
        kind="measurement",
        variants=spec.variants[:1],
        metrics=METRICS,
        stopping=StoppingSpec(budget_s=15.0),
    )
    return answer(make_experiment(spec=spec, trials=trials, stopped="budget"))


def test_a_disturbed_program_that_computes_has_its_processor_time_told():
    told = steadier_sentence(measured(wall_noise=0.3))
    assert told.startswith("cpu_time is known better: 301.")
    assert "± 0." in told
    assert "--metric cpu_time" in told


def test_a_program_that_waits_has_not():
    assert steadier_sentence(measured(wall_noise=0.3, cpu_s=0.001)) is None


def test_processor_time_that_is_no_better_known_is_not_told():
    assert steadier_sentence(measured(wall_noise=0.3, cpu_noise=1.0)) is None
