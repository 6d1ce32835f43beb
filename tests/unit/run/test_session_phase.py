"""What a phase knows of its blocks."""

from __future__ import annotations

import pytest

from steelyard.core.experiment_results import Trial
from steelyard.run.session_phase import Phase
from tests.plans import spec_of


@pytest.mark.parametrize(("order", "block_s"), [("blocks", 6.0), ("parallel", 3.0)])
def test_a_block_takes_as_long_as_its_trials_one_after_the_other_or_at_once(order, block_s):
    phase = Phase(spec_of("true", order=order), (0, 1), set(), followed=False)
    phase.start(())
    for variant in (0, 1):
        values = {"printed": (1.0,)}
        phase.add(Trial(variant, 0, variant, False, "ok", None, 0.0, 3.0, values))
    assert phase.block_s == block_s
