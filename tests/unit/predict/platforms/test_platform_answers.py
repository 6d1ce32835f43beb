"""What is answered and what is refused."""

import numpy as np
import pytest

from steelyard.core.estimate import Estimate, Unbounded
from steelyard.predict.platforms.models import PLATFORM_MODELS
from steelyard.predict.platforms.platform_answers import Asked, ask_table
from steelyard.predict.platforms.refusal import Limits
from tests.unit.predict.platforms.made_tables import low_rank_costs, table_of

STACKING = PLATFORM_MODELS.get("stacking")


def reasons(answer):
    return {host.refusal.reason for host in answer.hosts if host.refusal}


def test_an_application_like_the_suite_is_answered_within_its_interval():
    answer = ask_table(table_of(low_rank_costs(20, 25)), STACKING, Asked("b0"))
    values = [host for host in answer.hosts if not host.refused]
    assert len(values) >= 15
    held = [host.value.low <= host.measured <= host.value.high for host in values]
    assert np.mean(held) >= 0.7
    assert all(isinstance(host.value, Estimate) for host in values)


def test_what_was_measured_on_a_host_changes_nothing_of_its_prediction():
    costs = low_rank_costs(15, 20)
    other = costs.copy()
    other[4, 0] += 1.0
    first = ask_table(table_of(costs), STACKING, Asked("b0")).hosts[4]
    second = ask_table(table_of(other), STACKING, Asked("b0")).hosts[4]
    assert first.value.estimate == pytest.approx(second.value.estimate, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_an_application_whose_times_were_shuffled_is_refused(seed):
    costs = low_rank_costs(16, 25)
    costs[:, 0] = np.random.default_rng(seed).permutation(costs[:, 0])
    answer = ask_table(table_of(costs), STACKING, Asked("b0"))
    assert sum(host.refused for host in answer.hosts) >= 15
    assert "unlike-benchmarks" in reasons(answer)


def test_a_host_that_behaves_like_no_other_is_refused():
    costs = low_rank_costs(15, 25)
    costs[7] += np.random.default_rng(3).normal(size=25) * 0.6
    found = ask_table(table_of(costs), STACKING, Asked("b0")).hosts[7]
    assert found.refusal.reason == "unlike-hosts"


def test_a_host_of_an_instruction_set_that_no_known_host_has_is_refused():
    isa = {f"host{h}": "riscv64" if h == 3 else "x86-64" for h in range(15)}
    table = table_of(low_rank_costs(15, 25), attributes={"isa": isa})
    answer = ask_table(table, STACKING, Asked("b0"))
    assert [h.host for h in answer.hosts if h.refusal and h.refusal.reason == "new-architecture"]
    assert answer.hosts[3].refusal.reason == "new-architecture"


@pytest.mark.parametrize("name", PLATFORM_MODELS.names())
def test_two_known_hosts_are_too_few_for_any_model(name):
    known = np.array([True, True, False, False, False])
    table = table_of(low_rank_costs(5, 12))
    answer = ask_table(table, PLATFORM_MODELS.get(name), Asked("b0"), known)
    assert reasons(answer) == {"few-hosts"}
    assert all(host.value is None for host in answer.hosts)


def test_below_nine_known_hosts_a_linear_model_has_an_unbounded_interval():
    known = np.arange(12) < 8
    model = PLATFORM_MODELS.get("geometric-mean")
    table = table_of(low_rank_costs(12, 12))
    host = ask_table(table, model, Asked("b0"), known).hosts[10]
    assert isinstance(host.value, Unbounded)
    assert host.refusal.reason == "few-hosts"
    nine = ask_table(table, model, Asked("b0"), np.arange(12) < 9).hosts[10]
    assert isinstance(nine.value, Estimate)


def test_eight_benchmarks_are_too_few_to_bound_an_answer_at_90_percent():
    costs = low_rank_costs(12, 9)
    answer = ask_table(table_of(costs), STACKING, Asked("b0"))
    assert reasons(answer) == {"few-benchmarks"}


def test_a_linear_model_below_the_threshold_on_adjusted_r_squared_is_refused():
    costs = low_rank_costs(14, 12)
    costs[:, 0] = np.random.default_rng(77).normal(size=14)
    asked = Asked("b0", limits=Limits(adjusted_r_squared=0.958))
    answer = ask_table(table_of(costs), PLATFORM_MODELS.get("geometric-mean"), asked)
    assert reasons(answer) == {"poor-fit"}


def test_a_throughput_is_predicted_as_a_throughput():
    costs = low_rank_costs(15, 20)
    table = table_of(costs)
    flipped = table_of(np.where(np.arange(20) == 0, -costs, costs), higher_is_better={"b0"})
    times, rates = (ask_table(t, STACKING, Asked("b0")).hosts for t in (table, flipped))
    for time, rate in zip(times, rates, strict=True):
        assert time.value.estimate * rate.value.estimate == pytest.approx(1)
        assert rate.value.low < rate.value.estimate < rate.value.high
