"""What each of several setups of a machine does to the noise of one program.

Larres (2012), chapters 3 and 4: a baseline, setups with one measure each, and one with all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.intervals.corrections import holm
from steelyard.analysis.intervals.fieller import paired_fieller, unpaired_fieller
from steelyard.analysis.intervals.mean import mean_interval
from steelyard.analysis.noise.noise_cautions import drift_cautions, setup_cautions
from steelyard.analysis.noise.noise_results import Effect, NoiseStudy, Series, SetupNoise
from steelyard.analysis.noise.setup_spread import spread_of, spread_ratio
from steelyard.analysis.tables.figure_values import MarkedViolin, ViolinFigure
from steelyard.analysis.tests.equal_variances import levene
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Interval

Floats = NDArray[np.float64]
_FEWEST = 3


def noise_study(
    series: Sequence[Series],
    about: tuple[str, str],
    cumulative: str | None,
    confidence: float = 0.95,
) -> NoiseStudy:
    """Compare the spread of setups with that of the first one.

    Parameters
    ----------
    series : sequence of Series
        The baseline first.
    about : pair of str
        What was measured, and its unit.
    cumulative : str or None
        The setup with all measures together.

    Raises
    ------
    AnalysisError
        There are fewer than two setups, or one has fewer than three values.
    """
    _check(series)
    by_name = {item.name: item for item in series}
    together = by_name.get(cumulative or "")
    tests = {item.name: _levene(series[0], item) for item in series[1:]}
    known = [name for name, p in tests.items() if p is not None]
    adjusted = dict(zip(known, holm([tests[name] or 0.0 for name in known]), strict=True))
    setups = tuple(
        _noise(
            item, series[0], together, (tests.get(item.name), adjusted.get(item.name)), confidence
        )
        for item in series
    )
    single = [setup for setup in setups[1:] if together is None or setup.name != together.name]
    return NoiseStudy(
        response=about[0],
        unit=about[1],
        confidence=confidence,
        baseline=series[0].name,
        cumulative=None if together is None else together.name,
        setups=setups,
        ranking=tuple(setup.name for setup in sorted(single, key=_worth)),
        figures=_figures(series, about),
        cautions=(*drift_cautions(series), *setup_cautions(setups)),
    )


def _check(series: Sequence[Series]) -> None:
    if len(series) < 2:
        raise AnalysisError(
            "A study of noise compares setups, and there is only one.", field="--factors"
        )
    for item in series:
        if len(item.values) < _FEWEST:
            raise AnalysisError(
                f"The setup {item.name} has {len(item.values)} values; {_FEWEST} are needed.",
                field="--factors",
            )


def _noise(
    item: Series,
    baseline: Series,
    together: Series | None,
    tests: tuple[float | None, float | None],
    confidence: float,
) -> SetupNoise:
    values = item.values
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    normality = shapiro_wilk(values.tolist())
    is_baseline = item is baseline
    spread = None if is_baseline else _spread_ratio(baseline, item, confidence)
    cpu_variation, cpu_p = _cpu(item)
    return SetupNoise(
        name=item.name,
        count=len(values),
        mean=mean_interval(values.tolist(), confidence),
        standard_deviation=deviation,
        variation=_relative(deviation, mean),
        spread=spread_of(values),
        max_difference_ratio=_relative(float(np.ptp(values)), mean),
        max_from_mean_ratio=_relative(float(np.abs(values - mean).max()), mean),
        normality_p=None if normality is None else normality.p,
        baseline_p=tests[0],
        cumulative_p=None if together is None or item is together else _levene(together, item),
        adjusted_p=tests[1],
        spread_ratio=spread,
        mean_ratio=None if is_baseline else _mean_ratio(baseline, item, confidence),
        effect="baseline" if is_baseline else _effect(baseline, item, tests[1], confidence),
        cpu_variation=cpu_variation,
        cpu_p=cpu_p,
    )


def _cpu(item: Series) -> tuple[float | None, float | None]:
    """The CoV of CPU time, and p of Levene's test between it and the values."""
    cpu = item.cpu_values
    if cpu is None or not float(np.abs(cpu).min()) > 0:
        return None, None
    variation = _relative(float(cpu.std(ddof=1)), float(cpu.mean()))
    return variation, _levene(item, Series(item.name, cpu))


def _relative(value: float, mean: float) -> float:
    return value / abs(mean) if mean else 0.0


def _effect(baseline: Series, item: Series, adjusted_p: float | None, confidence: float) -> Effect:
    if adjusted_p is None or adjusted_p >= 1 - confidence:
        return "no effect shown"
    return "steadier" if spread_of(item.values) < spread_of(baseline.values) else "noisier"


def _levene(first: Series, second: Series) -> float | None:
    """The p value; None where the test has no answer."""
    relative = [item.values / (float(np.median(item.values)) or 1.0) for item in (first, second)]
    group = np.repeat(np.arange(2, dtype=np.int64), [len(values) for values in relative])
    test = levene(np.concatenate(relative), group, "median")
    return None if test is None else test.p


def _same_blocks(first: Series, second: Series) -> tuple[Floats, Floats] | None:
    """The values of the blocks that have both; None where blocks are not known."""
    if first.blocks is None or second.blocks is None:
        return None
    shared, here, there = np.intersect1d(first.blocks, second.blocks, return_indices=True)
    if len(shared) < _FEWEST or len(shared) < min(len(first.values), len(second.values)) / 2:
        return None
    return first.values[here], second.values[there]


def _spread_ratio(baseline: Series, item: Series, confidence: float) -> Interval:
    pairs = _same_blocks(baseline, item)
    if pairs is None:
        return spread_ratio(baseline.values, item.values, confidence, paired=False)
    return spread_ratio(*pairs, confidence, paired=True)


def _mean_ratio(baseline: Series, item: Series, confidence: float) -> Interval:
    pairs = _same_blocks(baseline, item)
    if pairs is None:
        return unpaired_fieller(baseline.values.tolist(), item.values.tolist(), confidence)
    return paired_fieller(pairs[0].tolist(), pairs[1].tolist(), confidence)


def _worth(setup: SetupNoise) -> tuple[bool, float]:
    ratio = setup.spread_ratio
    return (False, ratio.estimate) if isinstance(ratio, Estimate) else (True, 0.0)


def _figures(series: Sequence[Series], about: tuple[str, str]) -> tuple[ViolinFigure, ...]:
    """His Figures 3.1 and 3.3: relative to each setup's mean, and as measured."""
    name, unit = about
    relative = tuple(
        MarkedViolin(item.name, tuple((100 * item.values / item.values.mean()).tolist()))
        for item in series
        if item.values.mean()
    )
    absolute = tuple(MarkedViolin(item.name, tuple(item.values.tolist())) for item in series)
    label = f"{name} [{unit}]" if unit else name
    return (
        ViolinFigure(f"{name} by setup, relative to its mean", "% of the mean", relative, 100.0),
        ViolinFigure(f"{name} by setup", label, absolute, float(np.median(series[0].values))),
    )
