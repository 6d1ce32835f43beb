"""Double exponential smoothing: the same where short trends are no change."""

from __future__ import annotations

from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.forecast_alarms import FEWEST_ERRORS, forecast_alarms
from steelyard.analysis.history.series import Series
from steelyard.analysis.history.spikes import LONGEST_SPIKE


def _detect(series: Series, sensitivity: Sensitivity) -> tuple[Detection, ...]:
    return forecast_alarms(series.values, sensitivity.false_alarm_rate, trend=True)


EXTENSION = Detector(
    name="double-smoothing",
    description="Values outside the prediction interval of smoothing that follows short trends.",
    detect=_detect,
    kinds=("step", "spike"),
    least_points=FEWEST_ERRORS + 2,
    shortest_segment=LONGEST_SPIKE + 1,
    origin="thesis",
)
