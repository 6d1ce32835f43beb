"""How near the gains that samplers promise come to the one that a mended build brings.

Both are of processor time, which other programs on the machine change by some hundredths or more.
"""

import os

import pytest

from tests.integration.conftest import User
from tests.integration.profiling import sampled
from tests.integration.test_profile_speedup import PART, SHARE, TURNS, build_both

GAIN = SHARE * (1 - 1 / PART)


@pytest.mark.parametrize("profiler", ["steelyard", "perf"])
def test_a_promised_gain_and_the_one_that_comes_are_near_the_truth(tmp_path, profiler):
    user = User(tmp_path, {**os.environ, "HOME": str(tmp_path)})
    before, after = build_both(tmp_path)
    told = sampled(
        user,
        *("check", "--function", "slow", "--speedup", f"{after} {TURNS}", "--runs", "4"),
        *("--profiler", profiler, "--json", "-", "--", before, TURNS),
    )
    document = told.document()
    (promise,) = document["promises"]
    assert document["gain"]["estimate"] == pytest.approx(GAIN, abs=0.1)
    assert promise["gain"]["estimate"] == pytest.approx(GAIN, abs=0.1)
