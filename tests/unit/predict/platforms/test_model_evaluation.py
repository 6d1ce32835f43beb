"""Evaluations: what is hidden stays hidden, intervals hold, scores add up."""

import numpy as np
import pytest

from steelyard.predict.platforms.model_evaluation import (
    Case,
    Evaluated,
    EvaluationDesign,
    evaluate_models,
    host_sets,
)
from steelyard.predict.platforms.models import PLATFORM_MODELS
from steelyard.predict.platforms.scores import blame_worst, error_by_share, score_cases
from tests.unit.predict.platforms.made_tables import low_rank_costs, table_of

STACKING = PLATFORM_MODELS.get("stacking")


def case(error, doubt=0.0, host=0, application=0, refused=False):
    return Case(application, host, error, doubt, refused, None)


def test_intervals_of_90_percent_hold_for_about_90_percent_of_simulated_programs():
    held = []
    for seed in range(6):
        table = table_of(low_rank_costs(12, 24, rank=4, noise=0.03, seed=seed))
        found = evaluate_models(table, [STACKING], EvaluationDesign((8,), subsets=4))
        held += [c.covered for c in found.evaluated[0].cases]
    assert len(held) > 2000
    assert 0.87 < np.mean(held) < 0.93


def test_stacking_errs_less_than_the_geometric_mean_where_programs_differ():
    table = table_of(low_rank_costs(14, 20))
    models = [STACKING, PLATFORM_MODELS.get("geometric-mean")]
    found = evaluate_models(table, models, EvaluationDesign())
    ours, theirs = (score_cases(one).everything[0] for one in found.evaluated)
    assert ours < theirs / 2


def test_every_benchmark_is_predicted_on_every_host_by_default():
    found = evaluate_models(table_of(low_rank_costs(6, 11)), [STACKING], EvaluationDesign())
    pairs = {(c.application, c.host) for c in found.evaluated[0].cases}
    assert len(pairs) == len(found.evaluated[0].cases) == 66


def test_sets_of_hosts_are_all_of_them_or_so_many_by_the_seed():
    assert len(list(host_sets(8, 7, 3, 1))) == 8
    assert len(list(host_sets(5, 2, 10, 1))) == 10
    drawn = [known.tolist() for known in host_sets(12, 4, 10, 1)]
    assert len(drawn) == 10
    assert all(sum(known) == 4 for known in drawn)
    assert drawn == [known.tolist() for known in host_sets(12, 4, 10, 1)]
    assert drawn != [known.tolist() for known in host_sets(12, 4, 10, 2)]


def test_the_curve_answers_the_least_doubtful_first():
    cases = [case(0.1 * k, doubt=k) for k in range(1, 11)]
    curve = error_by_share(cases)
    assert [p.error_max for p in curve[1::2]] == pytest.approx([0.1 * k for k in range(1, 11)])


def test_a_model_without_doubt_has_no_curve():
    assert error_by_share([case(0.1, float("nan"))]) == ()


def test_blame_names_hosts_and_programs_of_the_worst_tenth_and_what_leaving_them_out_does():
    cases = [case(0.01, host=h, application=a) for h in range(5) for a in range(8)]
    cases[0] = case(0.5, host=0, application=0)
    cases += [case(0.6, host=1, application=0)]
    blame = blame_worst(cases)
    assert blame.by_application[0][0] == 0
    assert blame.dropped == (0,)
    assert blame.error_max == 0.01


def test_refused_cases_count_against_the_share_and_not_against_the_errors():
    cases = (case(0.1), case(0.9, refused=True))
    score = score_cases(Evaluated(STACKING, 3, cases))
    assert score.answered_ratio == 0.5
    assert score.answered[-1] == 0.1
    assert score.everything[-1] == 0.9
