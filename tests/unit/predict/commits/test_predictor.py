"""What is learnt, and how far its probabilities hold."""

import numpy as np
import pytest

from steelyard.core.errors import AnalysisError
from steelyard.predict.commits.candidate_models import MODELS
from steelyard.predict.commits.commit_answers import ask_predictor
from steelyard.predict.commits.pair_table import MOST_INDICATORS, PairTable
from steelyard.predict.commits.predictor import learn_predictor
from tests.unit.predict.commits.pairs import pair_table, simulated


@pytest.mark.parametrize("model", list(MODELS.values()), ids=lambda m: m.name)
def test_probabilities_hold_on_pairs_that_were_not_learnt_from(model):
    """Where a model says a share p on average, the share of changes is p."""
    asked, truth = simulated(4000, seed=2)
    predictor = learn_predictor(simulated(600, seed=1)[0], model=model)
    found = predictor.probabilities(asked).estimate
    loud = ~asked.quiet
    for low, high in ((0.0, 0.1), (0.5, 1.01)):
        here = loud & (found >= low) & (found < high)
        assert here.sum() > 50
        assert found[here].mean() == pytest.approx(truth[here].mean(), abs=0.15)


@pytest.mark.parametrize("model", list(MODELS.values()), ids=lambda m: m.name)
def test_bounds_enclose_the_probability_and_narrow_with_data(model):
    asked, _ = simulated(200, seed=5)
    widths = []
    for count in (150, 3000):
        found = learn_predictor(simulated(count, seed=6)[0], model=model).probabilities(asked)
        assert (found.low <= found.estimate + 1e-12).all()
        assert (found.estimate <= found.high + 1e-12).all()
        assert found.low.min() >= 0
        assert found.high.max() <= 1
        widths.append((found.high - found.low)[~asked.quiet].mean())
    assert widths[1] < widths[0]


def test_changes_are_caught_at_the_wanted_rate_on_later_revisions():
    """Over 15 histories the mean hit rate is the wanted one; runs are saved."""
    caught, hits, dismissed, neutral = 0, 0, 0, 0
    for seed in range(15):
        table, _ = simulated(800, seed=seed)
        run = learn_predictor(table.rows(table.order < 500), 0.9).run(
            asked := table.rows(table.order >= 500)
        )
        caught += int((run & asked.hits).sum())
        hits += int(asked.hits.sum())
        dismissed += int((~run & asked.neutral).sum())
        neutral += int(asked.neutral.sum())
    assert caught / hits == pytest.approx(0.9, abs=0.05)
    assert dismissed / neutral > 0.9


def test_newer_revisions_have_no_part_in_the_choice():
    """Labels of the newest block alone cannot be what the oldest were predicted by."""
    table, _ = simulated(400, seed=8)
    predictor = learn_predictor(table)
    assert all(trust.answered <= 300 for trust in predictor.trusts)
    assert [t.log_loss for t in predictor.trusts] == sorted(t.log_loss for t in predictor.trusts)


def test_a_pair_without_any_difference_is_not_run_even_if_noise_called_one_changed():
    table, _ = simulated(300, seed=3)
    noisy = table.changed.copy()
    noisy[np.flatnonzero(table.quiet)[:2]] = 1.0
    predictor = learn_predictor(pair_table(table.values, noisy))
    assert not predictor.run(table)[table.quiet].any()
    assert "unexplained-hits" in {caution.code for caution in predictor.cautions}
    assert 0 < predictor.probabilities(table).estimate[table.quiet].max() < 0.1


def test_a_pair_of_which_nothing_is_known_is_run():
    predictor = learn_predictor(simulated(300, seed=3)[0])
    asked = pair_table([[np.nan, np.nan]], [np.nan])
    assert predictor.run(asked).all()


def test_with_few_changes_everything_with_a_difference_is_run_and_that_is_said():
    table, _ = simulated(60, seed=4)
    predictor = learn_predictor(table)
    assert "few-hits" in {caution.code for caution in predictor.cautions}
    np.testing.assert_array_equal(predictor.run(table), ~table.quiet)


def test_changes_of_one_revision_count_once_towards_the_wanted_rate():
    table, _ = simulated(800, seed=4)
    apart = learn_predictor(table)
    together = learn_predictor(
        pair_table(table.values, table.changed, order=np.floor(table.order / 50))
    )
    assert "few-hits" not in {caution.code for caution in apart.cautions}
    assert "few-hits" in {caution.code for caution in together.cautions}


def test_thresholds_by_name_answer_as_algorithm_1_does_with_few_changes_too():
    table, _ = simulated(60, seed=4)
    predictor = learn_predictor(table, model=MODELS["thresholds"])
    run = predictor.run(table)
    np.testing.assert_array_equal(run, predictor.thresholds.run(table.values, table.indicators))
    assert run.sum() < (~table.quiet).sum()


@pytest.mark.parametrize(
    ("changed", "words"),
    [([0, 0, 0], "always say no"), ([1, 1, 1], "always say yes"), ([1, 0, 0], "above 0")],
)
def test_what_cannot_be_learnt_from_is_refused(changed, words):
    with pytest.raises(AnalysisError, match=words):
        learn_predictor(pair_table([[0, 0], [1, 0], [2, 0]], changed))


def test_the_order_of_rows_changes_no_answer():
    table, _ = simulated(300, seed=9)
    mixed = np.random.default_rng(1).permutation(300)
    other = pair_table(table.values[mixed], table.changed[mixed], order=table.order[mixed])
    one, two = learn_predictor(table), learn_predictor(other)
    assert one.model.name == two.model.name
    np.testing.assert_allclose(
        one.probabilities(table).estimate, two.probabilities(table).estimate, atol=1e-4
    )


def test_more_indicators_than_a_model_can_weigh_are_refused():
    count = MOST_INDICATORS + 1
    names = tuple(f"i{place}" for place in range(count))
    table = pair_table([[1.0] * count, [0.0] * count], [1, 0], indicators=names)
    with pytest.raises(AnalysisError, match=r"257 indicators, at most 256 .*\n.*--drop"):
        learn_predictor(table)


def test_asking_of_many_rows_reads_the_learnt_pairs_a_fixed_number_of_times(monkeypatch):
    table, _ = simulated(400)
    predictor = learn_predictor(table)
    reads = []
    neutral = PairTable.neutral.fget
    monkeypatch.setattr(
        PairTable, "neutral", property(lambda self: reads.append(1) or neutral(self))
    )
    found = ask_predictor(predictor, table)
    assert len(found.benchmarks) == 400
    assert len(reads) < 10
