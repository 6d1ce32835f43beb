"""What every platform model must keep."""

import numpy as np
import pytest

from steelyard.predict.platforms.models import PLATFORM_MODELS
from steelyard.predict.platforms.platform_model import Prediction
from steelyard.predict.platforms.platform_question import hide, make_question
from tests.unit.predict.platforms.made_tables import low_rank_costs, table_of

MODELS = list(PLATFORM_MODELS)
CLOCKS = {"clock_mhz": {f"host{h}": str(1000 + 100 * h) for h in range(14)}}


def question(known=12, seed=1, missing=False):
    costs = low_rank_costs(14, 16, seed=seed)
    if missing:
        costs[np.random.default_rng(9).random(costs.shape) < 0.2] = np.nan
    return hide(make_question(table_of(costs, attributes=CLOCKS), "b0"), np.arange(14) < known)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_it_says_what_it_is_in_one_sentence(model):
    assert model.description.endswith(".")
    assert model.least_known >= 3


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("known", [3, 7, 12])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_it_predicts_every_host_from_few_and_from_many(model, known, missing):
    found = model.predict(question(known, missing=missing))
    assert isinstance(found, Prediction)
    assert found.costs.shape == (14,)
    assert np.isfinite(found.costs).all()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_the_same_question_has_the_same_answer(model):
    asked = question()
    np.testing.assert_array_equal(model.predict(asked).costs, model.predict(asked).costs)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_another_unit_of_the_application_moves_every_prediction_by_it(model):
    from dataclasses import replace

    asked = question()
    moved = replace(asked, response=asked.response + 2)
    np.testing.assert_allclose(
        model.predict(moved).costs, model.predict(asked).costs + 2, atol=2e-3
    )


@pytest.mark.parametrize("model", [m for m in MODELS if m.needs == "suite"], ids=lambda m: m.name)
def test_a_suite_with_a_copy_of_the_application_is_better_than_nothing(model):
    costs = low_rank_costs(14, 16)
    costs[:, 5] = costs[:, 0] + 1
    asked = hide(make_question(table_of(costs), "b0"), np.arange(14) < 12)
    error = np.abs(model.predict(asked).costs - costs[:, 0])[12:]
    assert error.max() < np.ptp(costs[:, 0])
