"""A host that is 30 % slower than another biases no ratio: a block stays on one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.app.service.service import Service
from steelyard.design.plan_part import planned_trial
from steelyard.service.service_database import ServiceDatabase

TRUTH, VARIATION, EXPERIMENTS = 1.05, 0.02, 5
SLOWNESS = {"fast": 1.0, "slow": 1.3}
FILE = """\
[experiment]
seed = {seed}
[[benchmark]]
name = "b"
command = "true"
[[factor]]
factor = "environment-size"
levels = [0, 64]
[hosts]
factors = {{worker = "100%"}}
replicates = {replicates}
"""


@pytest.fixture
def service(tmp_path):
    database = ServiceDatabase(str(tmp_path / "service.sqlite"))
    yield Service(database, str(tmp_path / "packages"))
    database.close()


def ratio_of(service, names, seed):
    """The ratio of the second level to the first by an experiment of 16 blocks on some hosts."""
    owner = service.access.owner()
    workers = [
        service.access.worker(service.access.enrol(owner, name, {"cpus": 1})) for name in names
    ]
    text = FILE.format(seed=seed, replicates=16 // len(names))
    if len(names) == 1:
        text += f'require = {{name = ["{names[0]}"]}}\n'
    planned = service.submit(owner, text, "e.toml")
    generator = np.random.default_rng(seed)
    for worker in workers:
        while (part := service.parts.give(worker)) is not None:
            slowness = SLOWNESS[worker.name]
            trials = [measured(planned.spec, p, slowness, generator) for p in part.positions]
            body = {"part": part.id, "attempt": part.attempt, "experiment": part.experiment}
            taken = service.parts.take(worker, {**body, "trials": trials, "provenance": {}})
            assert taken.outcome == "committed"
    found = service.experiment(owner, planned.spec.identifier)
    compared = answer(found).comparisons
    return next(each.ratio for each in compared if each.metric.name == "wall_time")


def measured(spec, position, slowness, generator):
    plan = planned_trial(spec, position)
    took_s = slowness * (TRUTH if plan.variant else 1.0) * generator.normal(1.0, VARIATION)
    return {
        **{"position": position, "block": plan.block, "variant": plan.variant, "warmup": False},
        **{"status": "ok", "reason": None, "started_unix_s": float(generator.uniform(1, 1e9))},
        **{"spent_s": 2.0, "measurements": {"wall_time": [float(took_s)]}},
    }


def test_the_ratio_is_that_of_one_host_alone_and_as_precise(service) -> None:
    both = [ratio_of(service, ("fast", "slow"), seed) for seed in range(EXPERIMENTS)]
    alone = [ratio_of(service, ("fast",), 100 + seed) for seed in range(EXPERIMENTS)]
    error = VARIATION * math.sqrt(2 / 16 / EXPERIMENTS)
    for found in (both, alone):
        estimates = [each.estimate for each in found]
        assert abs(np.mean(estimates) - TRUTH) < 4 * error
        assert sum(each.low <= TRUTH <= each.high for each in found) >= EXPERIMENTS - 1
    widths = [np.mean([each.high - each.low for each in found]) for found in (both, alone)]
    # The slow host's times are 30 % longer; blocks take that out of the ratio's interval.
    assert widths[0] < 1.6 * widths[1]
