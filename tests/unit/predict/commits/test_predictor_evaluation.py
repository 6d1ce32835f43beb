"""How good a predictor is on pairs that it did not learn from."""

from dataclasses import replace

import numpy as np
import pytest

from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate
from steelyard.predict.commits.evaluation_design import MOST_PARTS, EvaluationDesign
from steelyard.predict.commits.predictor_evaluation import evaluate_table, oldest
from steelyard.predict.commits.rates import rate
from steelyard.predict.wilson import wilson_interval
from tests.unit.predict.commits.pairs import pair_table, simulated


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    # R 4.2: prop.test(count, total, correct = FALSE)$conf.int
    [(95, 100, 0.8882495, 0.9784563), (0, 10, 0.0, 0.2775328), (10, 10, 0.7224672, 1.0)],
)
def test_bounds_of_a_share_are_wilsons(count, total, low, high):
    found = wilson_interval(count, total)
    assert isinstance(found, Estimate)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))


def test_micro_rates_count_rows_and_macro_rates_count_benchmarks():
    table = pair_table([[1, 0]] * 6, [1, 1, 1, 1, 0, 0], benchmarks=("a", "a", "a", "b", "a", "b"))
    run = np.array([True, True, True, False, False, True])
    found = rate(table, run)
    assert found.all.hit_rate.estimate == pytest.approx(3 / 4)
    assert found.hit_rate_macro == pytest.approx((1 + 0) / 2)
    assert found.dismiss_rate_macro == pytest.approx((1 + 0) / 2)
    assert (found.saved_s, found.total_s) == (2.0, 6.0)


def scores(table, *designs, **more):
    found = evaluate_table(table, EvaluationDesign(designs=designs, **more))
    return {(score.design, score.part, score.model): score for score in found.scores}


def test_what_was_learnt_from_everything_has_every_change():
    table, _ = simulated(300, quiet=0)
    found = scores(table, "all-learnt", models=("thresholds",))
    assert found["all-learnt", "", "thresholds"].rates.all.hit_rate.estimate == 1.0


def test_folds_answer_each_row_once_from_the_others():
    table, _ = simulated(200)
    for score in scores(table, "folds", "folds-by-benchmark", "learnt-size", folds=4).values():
        counts = score.rates.all
        assert counts.hits + counts.neutral == 200
    assert ("learnt-size", "2 folds", "chosen") in scores(table, "learnt-size", folds=4)


def test_chronological_learns_from_the_oldest_revisions_alone():
    table, _ = simulated(400)
    assert oldest(table, 0.25).sum() == 100
    found = scores(table, "chronological")["chronological", "", "chosen"]
    assert found.learnt == 100
    newest = table.changed.copy()
    newest[table.order >= 100] = 1 - newest[table.order >= 100]
    other = scores(pair_table(table.values, newest), "chronological")
    turned = other["chronological", "", "chosen"].rates.all
    # The answers are the same, so that what was caught is now what was not dismissed.
    assert turned.hits - turned.caught == found.rates.all.dismissed


def test_labels_without_any_relation_to_indicators_are_not_predicted():
    rng = np.random.default_rng(4)
    table = pair_table(rng.uniform(1, 9, (600, 2)), rng.random(600) < 0.3)
    found = scores(table, "chronological")["chronological", "", "chosen"].rates.all
    lost = found.hit_rate.estimate + found.dismiss_rate.estimate - 1
    assert abs(lost) < 0.15


def test_a_part_without_a_change_to_learn_from_has_everything_run():
    changed = [0] * 10 + [1] * 3 + [0] * 7
    rng = np.random.default_rng(1)
    table = pair_table(rng.uniform(0, 9, (20, 2)), changed)
    found = scores(table, "chronological")["chronological", "", "chosen"]
    assert found.refused == 15
    assert found.rates.all.hit_rate.estimate == 1.0
    assert found.rates.all.dismiss_rate.estimate == 0.0


def test_projects_are_predicted_from_each_other_and_distances_apart():
    table, _ = simulated(300)
    rows = np.arange(300)
    mixed = pair_table(
        table.values,
        table.changed,
        projects=tuple("pq"[row % 2] for row in rows),
        distance=1.0 + rows % 3,
    )
    found = scores(mixed, "across-projects", "distance")
    parts = {part for design, part, _ in found if design == "across-projects"}
    assert parts == {"p to q", "q to p"}
    assert {part for design, part, _ in found if design == "distance"} == {
        f"{step} commits" for step in (1, 2, 3)
    }


def test_rows_that_fewer_commits_explain_are_said_to_be_dependent():
    apart = pair_table([[1, 2], [3, 4], [5, 6], [7, 8]], [0, 1, 1, 0])
    beside = replace(apart, order=np.array([0.0, 1.0, 1.0, 2.0]))
    design = EvaluationDesign(designs=("all-learnt",), models=("thresholds",))
    codes = [[c.code for c in evaluate_table(one, design).cautions] for one in (apart, beside)]
    assert "dependent-hits" not in codes[0]
    assert "dependent-hits" in codes[1]
    message = {c.code: c.message for c in evaluate_table(beside, design).cautions}
    assert "1 commits" not in message["dependent-hits"]
    assert message["dependent-hits"].startswith("One commit can explain all 2 changed rows.")


def test_a_table_without_a_change_is_refused():
    with pytest.raises(AnalysisError, match="always say no"):
        evaluate_table(pair_table([[1, 2], [3, 4]], [0, np.nan]), EvaluationDesign())


def test_more_benchmarks_than_are_learnt_from_by_themselves_are_drawn_and_that_is_said():
    count = 4 * (MOST_PARTS + 50)
    benchmarks = tuple(f"b{row // 4:04}" for row in range(count))
    table = pair_table([[row % 4, 1] for row in range(count)], [0, 0, 1, 1] * (count // 4))
    table = replace(table, benchmarks=benchmarks)
    design = EvaluationDesign(designs=("all-learnt",), models=("thresholds",))
    found = evaluate_table(table, design)
    assert len(found.scores[0].rates.by_benchmark) == MOST_PARTS
    assert [caution.code for caution in found.cautions] == ["drawn-parts"]
    assert f"{MOST_PARTS} of {count // 4} benchmarks" in found.cautions[0].message
    again = evaluate_table(table, replace(design, seed=2))
    drawn = [dict(one.scores[0].rates.by_benchmark) for one in (found, again)]
    assert drawn[0].keys() != drawn[1].keys()


def test_of_more_pairs_of_projects_than_are_predicted_some_are_drawn():
    count = 4 * 20
    table = pair_table([[row % 4, 1] for row in range(count)], [0, 0, 1, 1] * 20)
    table = replace(table, projects=tuple(f"p{row // 4:02}" for row in range(count)))
    design = EvaluationDesign(designs=("across-projects",), models=("thresholds",))
    found = evaluate_table(table, design)
    parts = {score.part for score in found.scores}
    assert len(parts) == MOST_PARTS < 20 * 19
    assert all(len(set(part.split(" to "))) == 2 for part in parts)
    assert "drawn-parts" in {caution.code for caution in found.cautions}
