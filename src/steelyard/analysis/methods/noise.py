"""The noise of a program at several setups, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.core.errors import AnalysisError

if TYPE_CHECKING:
    from steelyard.analysis.noise.noise_results import NoiseStudy
    from steelyard.analysis.tables.data_columns import Table

ALL = "all"


def analyze(table: Table, question: Question) -> NoiseStudy:
    """Compare the spread of each setup with that of the baseline."""
    from dataclasses import replace

    from steelyard.analysis.noise.noise_results import Series
    from steelyard.analysis.noise.noise_study import noise_study
    from steelyard.analysis.tables.trials_table import read_trials

    if len(question.factors) != 1:
        raise AnalysisError(
            "--method noise takes one factor, whose levels are the setups: --factors SETUP.",
            field="--factors",
        )
    extra = question.extra
    low = extra.get("baseline")
    low_text = f"{question.factors[0]}={low}" if low else ""
    also = {"block": "block"} if "block" in table.columns else {}
    if "cpu" in extra:
        also[extra["cpu"]] = "--option cpu"
    trials = read_trials(table, replace(question, extra={"low": low_text} if low else {}), (), also)
    levels = trials.factors[0].levels
    cumulative = extra.get("cumulative", ALL)
    if "cumulative" in extra and cumulative not in levels:
        raise AnalysisError(
            f"There is no setup {cumulative!r}; there are {', '.join(levels)}.",
            field="--option cumulative",
        )
    blocks = table.numbers("block", "block")[trials.rows] if "block" in table.columns else None
    cpu = table.numbers(extra["cpu"], "--option cpu")[trials.rows] if "cpu" in extra else None
    series = [
        Series(
            level,
            trials.values[there],
            None if blocks is None else blocks[there],
            None if cpu is None else cpu[there],
        )
        for code, level in enumerate(levels)
        for there in [trials.factors[0].codes == code]
    ]
    found = noise_study(
        series,
        (question.response or "", question.unit),
        cumulative if cumulative in levels else None,
        question.confidence,
    )
    return replace(found, cautions=(*trials.cautions, *found.cautions))


EXTENSION = Method(
    name="noise",
    description="Noise by setup: standard deviation, CoV, Levene's tests, and what each is worth.",
    reads="trials",
    analyze=analyze,
    needs=("response", "factors"),
    options={
        "baseline": "The setup that the others are compared with; the first one.",
        "cumulative": "The setup with all measures together; `all` where there is one.",
        "cpu": "The column of CPU times, to set beside the response.",
    },
)
