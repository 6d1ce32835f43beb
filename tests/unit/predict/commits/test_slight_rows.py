"""Pairs where too little differs to change a time by the margin."""

import numpy as np
import pytest

from steelyard.predict.commits.pair_table import slight_rows
from steelyard.predict.commits.predictor import learn_predictor
from tests.unit.predict.commits.pairs import pair_table

NAMES = (
    *("executed-edits", "altered-operands", "altered-leads", "altered-constants"),
    *("entered-functions", "data-changed", "flags-changed"),
)
SLIGHT = (0.4, 20.0, 0.1, 0.0, 0.0, 0.0, 0.0)
LOUD = (30.0, 20.0, 5.0, 2.0, 0.0, 0.0, 0.0)


def test_little_that_differs_is_slight_whatever_registers_were_taken():
    assert slight_rows(np.array([SLIGHT]), NAMES).tolist() == [True]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("executed-edits", 0.6),
        ("altered-leads", 0.6),
        ("altered-constants", 1),
        ("entered-functions", 1),
        ("data-changed", 0.01),
        ("flags-changed", 1),
        ("executed-edits", np.nan),
        ("altered-constants", np.nan),
    ],
)
def test_more_or_what_steers_other_code_or_is_unknown_is_not_slight(name, value):
    row = np.array([SLIGHT])
    row[0, NAMES.index(name)] = value
    assert slight_rows(row, NAMES).tolist() == [False]


def test_nothing_that_differs_is_quiet_and_not_slight():
    assert slight_rows(np.zeros((1, len(NAMES))), NAMES).tolist() == [False]


def test_a_table_without_edits_of_instructions_has_no_slight_rows():
    assert slight_rows(np.array([[0.1]]), ("executed-edits",)).tolist() == [False]


def history(slight_changes):
    """Every fourth row is loud, and half of these changed; the others are slight."""
    count = 80
    values = [LOUD if row % 4 == 0 else SLIGHT for row in range(count)]
    changed = [row % 8 == 0 for row in range(count)]
    for row in range(slight_changes):
        changed[4 * row + 1] = True
    return pair_table(values, changed, NAMES)


def test_with_few_changes_slight_rows_are_not_run_and_that_is_said():
    predictor = learn_predictor(history(0))
    assert predictor.run(history(0)).tolist() == [row % 4 == 0 for row in range(80)]
    assert any("less than half of 1 %" in caution.message for caution in predictor.cautions)
    slight = predictor.probabilities(history(0)).estimate[1]
    assert slight < 0.01


def test_slight_rows_are_run_where_changes_among_them_would_cost_the_wanted_rate():
    predictor = learn_predictor(history(3))
    assert predictor.runs_slight
    assert predictor.run(history(3)).all()


def test_a_kept_share_of_changes_may_be_among_slight_rows():
    assert not learn_predictor(history(1), wanted_hit_rate=0.8).runs_slight
