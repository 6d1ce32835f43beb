"""What a study says of setups whose noise is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.noise.noise_results import NoiseStudy, Series
from steelyard.analysis.noise.noise_study import noise_study
from steelyard.analysis.noise.setup_spread import spread_of, spread_ratio
from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Unbounded

RUNS = 30
ABOUT = ("wall_time", "s")


def drawn(seed: int, deviation: float, mean: float = 1.0, count: int = RUNS) -> np.ndarray:
    return mean + deviation * np.random.default_rng(seed).standard_normal(count)


def series(name: str, values: np.ndarray, cpu: np.ndarray | None = None) -> Series:
    return Series(name, values, np.arange(float(len(values))), cpu)


def study(*setups: Series) -> NoiseStudy:
    return noise_study(setups, ABOUT, "all")


@pytest.fixture(scope="module")
def known() -> NoiseStudy:
    """The baseline, one that is quiet, one that is noisy, one that changes nothing."""
    baseline = drawn(1, 0.02)
    return study(
        series("baseline", baseline, 0.9 + 0.001 * drawn(5, 1.0)),
        series("all", drawn(2, 0.004)),
        series("same", drawn(3, 0.02)),
        series("loud", drawn(4, 0.1)),
        series("fast", baseline / 4),
    )


def test_what_is_steadier_noisier_or_neither_is_said(known: NoiseStudy) -> None:
    effects = {setup.name: setup.effect for setup in known.setups}
    assert effects == {
        "baseline": "baseline",
        "all": "steadier",
        "same": "no effect shown",
        "loud": "noisier",
        "fast": "no effect shown",
    }


def test_setups_are_ranked_by_the_spread_that_they_take_away(known: NoiseStudy) -> None:
    assert known.ranking[-1] == "loud"
    assert set(known.ranking) == {"same", "fast", "loud"}
    ratio = known.setup("all").spread_ratio
    assert isinstance(ratio, Estimate)
    assert ratio.low < 0.2 < ratio.high


def test_a_setup_that_only_makes_the_program_faster_is_not_steadier(known: NoiseStudy) -> None:
    fast = known.setup("fast")
    assert isinstance(fast.spread_ratio, Estimate)
    assert fast.spread_ratio.estimate == pytest.approx(1.0)
    assert fast.baseline_p == pytest.approx(1.0)
    assert isinstance(fast.mean_ratio, Estimate)
    assert fast.mean_ratio.estimate == pytest.approx(0.25)


def test_the_columns_of_the_tables_are_those_of_larres(known: NoiseStudy) -> None:
    values, setup = drawn(3, 0.02), known.setup("same")
    mean = values.mean()
    assert setup.standard_deviation == pytest.approx(values.std(ddof=1))
    assert setup.variation == pytest.approx(values.std(ddof=1) / mean)
    assert setup.max_difference_ratio == pytest.approx((values.max() - values.min()) / mean)
    assert setup.max_from_mean_ratio == pytest.approx(np.abs(values - mean).max() / mean)
    assert setup.normality_p == pytest.approx(stats.shapiro(values).pvalue, abs=1e-4)


def test_tests_are_levenes_with_medians_on_relative_values(known: NoiseStudy) -> None:
    others = {"baseline": drawn(1, 0.02), "all": drawn(2, 0.004)}
    own = drawn(3, 0.02)
    found = known.setup("same")
    for p, other in ((found.baseline_p, others["baseline"]), (found.cumulative_p, others["all"])):
        wanted = stats.levene(own / np.median(own), other / np.median(other), center="median")
        assert p == pytest.approx(wanted.pvalue, rel=1e-9)


def test_p_values_are_corrected_for_the_number_of_setups(known: NoiseStudy) -> None:
    raw = sorted(setup.baseline_p or 0.0 for setup in known.setups[1:])
    adjusted = sorted(setup.adjusted_p or 0.0 for setup in known.setups[1:])
    assert adjusted[0] == pytest.approx(4 * raw[0])
    assert all(high >= low for low, high in zip(raw, adjusted, strict=True))


def test_cpu_time_is_set_beside_the_time_of_the_clock(known: NoiseStudy) -> None:
    baseline = known.setup("baseline")
    assert baseline.cpu_variation == pytest.approx(0.001 / 0.9, rel=0.5)
    assert baseline.cpu_p is not None
    assert baseline.cpu_p < 0.001
    assert known.setup("all").cpu_variation is None


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("shape", ["normal", "lognormal"])
def test_the_interval_of_the_spread_ratio_holds_the_truth_as_often_as_it_says(
    paired: bool, shape: str
) -> None:
    generator = np.random.default_rng(7)

    def sample(scale: float, count: int) -> np.ndarray:
        if shape == "normal":
            return 1 + 0.01 * scale * generator.standard_normal(count)
        return 1 + 0.01 * scale * generator.lognormal(0.0, 0.5, count)

    truth = spread_of(sample(2, 400_000)) / spread_of(sample(1, 400_000))
    held = 0
    for _ in range(400):
        ratio = spread_ratio(sample(1, RUNS), sample(2, RUNS), 0.95, paired=paired)
        assert isinstance(ratio, Estimate)
        held += ratio.low <= truth <= ratio.high
    # 400 intervals of 95 %: three standard deviations are 13. The jackknife is a little wide.
    assert 400 * 0.95 - 13 <= held <= 400 * 0.975 + 10


def test_values_that_are_all_alike_have_a_typed_answer() -> None:
    found = study(series("baseline", drawn(1, 0.01)), series("v8", np.ones(RUNS)))
    flat = found.setup("v8")
    assert flat.standard_deviation == 0
    assert isinstance(flat.spread_ratio, Unbounded)
    assert flat.normality_p is None
    assert flat.effect == "steadier"


def test_pairs_are_taken_by_block_and_a_block_without_its_pair_is_left_out() -> None:
    baseline = drawn(1, 0.02)
    shuffled = np.random.default_rng(3).permutation(RUNS)[1:]
    other = Series("other", 2 * baseline[shuffled], shuffled.astype(float))
    ratio = study(series("baseline", baseline), other).setup("other").mean_ratio
    assert isinstance(ratio, Estimate)
    assert ratio.low == pytest.approx(2.0)
    assert ratio.high == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("setups", "message"),
    [
        ((series("baseline", drawn(1, 0.1)),), "only one"),
        ((series("baseline", drawn(1, 0.1)), series("few", np.ones(2))), "few has 2 values"),
    ],
)
def test_what_cannot_be_compared_is_an_error(setups: tuple[Series, ...], message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        study(*setups)


def test_few_runs_are_told() -> None:
    found = study(series("baseline", drawn(1, 0.1, count=5)), series("b", drawn(2, 0.1, count=5)))
    assert "few-runs" in {caution.code for caution in found.cautions}


def test_what_all_setups_of_a_block_share_is_told_as_drift() -> None:
    drift = drawn(9, 0.02)
    steady = [drawn(seed, 0.01) for seed in range(4)]
    told = study(*(series(f"s{i}", own * drift) for i, own in enumerate(steady)))
    (caution,) = [caution for caution in told.cautions if caution.code == "drift"]
    # Variances are 0.02² in common and 0.01² of each run: 80 %.
    assert 0.6 < float(caution.message.split(" %")[0]) / 100 < 0.9
    quiet = study(*(series(f"s{i}", own) for i, own in enumerate(steady)))
    assert "drift" not in {caution.code for caution in quiet.cautions}


def test_a_setup_that_is_not_there_is_named() -> None:
    columns = {"setup": ("a", "b") * 5, "time": drawn(1, 0.1, count=10)}
    question = Question("time", ("setup",), extra={"cumulative": "every"})
    with pytest.raises(AnalysisError, match="There is no setup 'every'; there are a, b"):
        ANALYSES.get("noise").analyze(Table("t.csv", columns, range(10)), question)
