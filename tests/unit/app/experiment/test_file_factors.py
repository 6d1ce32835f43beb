"""What an experiment file may randomise."""

from __future__ import annotations

import pytest

from steelyard.app.experiment.experiment_entries import FactorEntry
from steelyard.app.experiment.file_factors import nuisance_factor
from steelyard.core.errors import UsageError


def test_a_root_file_system_is_compared_and_not_randomised() -> None:
    entry = FactorEntry("root", "image", ("debian-11", "host"), where="e.toml, line 9")
    with pytest.raises(UsageError, match=r"line 9: .* Make it a \[\[factor\]\]") as caught:
        nuisance_factor(entry)
    assert caught.value.field == "nuisance"


def test_a_factor_with_levels_of_its_own_is_randomised() -> None:
    entry = FactorEntry("padding", "environment-size", ("0", "64"), where="e.toml, line 9")
    assert nuisance_factor(entry).levels == ("0", "64")
