"""The factors of a table: numbers that vary freely are no levels."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.linear.table_factor import factor_of
from steelyard.analysis.tables.data_columns import Table
from steelyard.core.errors import AnalysisError


def table(column, **orders):
    return Table("t.csv", {"f": column}, range(len(column)), orders)


def test_a_number_that_nearly_each_row_has_for_itself_is_a_covariate():
    sizes = np.concatenate([np.linspace(0, 1, 40), [0.0]])
    with pytest.raises(AnalysisError, match=r"40 levels in 41 rows.*covariates=f"):
        factor_of(table(sizes), "f")


def test_a_text_of_its_own_for_each_row_is_no_factor():
    files = tuple(f"file {place}" for place in range(30))
    with pytest.raises(AnalysisError, match=r"30 levels in 30 rows.*in common"):
        factor_of(table(files), "f")


def test_numbers_with_two_rows_each_are_levels():
    assert len(factor_of(table(np.repeat(np.arange(40.0), 2)), "f").levels) == 40


def test_a_few_levels_may_have_one_row_each():
    assert len(factor_of(table(np.arange(10.0)), "f").levels) == 10


def test_levels_that_an_experiment_names_are_levels_though_each_ran_once():
    names = tuple(f"seed {place}" for place in range(30))
    assert factor_of(table(names, f=names), "f").levels == names


def test_what_only_groups_rows_may_have_one_row_a_group():
    assert len(factor_of(table(np.arange(40.0)), "f", most_levels=None).levels) == 40
