"""Which kinds of run may be missing from a mean."""

import pytest

from steelyard.analysis.comparison.unseen_kinds import largest_unseen_share


@pytest.mark.parametrize(("count", "share"), [(1, 0.95), (10, 0.2589), (20, 0.1391), (59, 0.0495)])
def test_a_kind_of_run_with_that_share_is_missed_by_all_runs_once_in_twenty(count, share):
    # Clopper and Pearson's upper limits of no event, two-sided tables at 90 %.
    assert largest_unseen_share(count, 0.95) == pytest.approx(share, abs=1e-4)
    assert (1 - largest_unseen_share(count, 0.95)) ** count == pytest.approx(0.05)
