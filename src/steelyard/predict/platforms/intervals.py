"""How far a predicted cost may lie from the true one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.conformal import conformal_quantile, jackknife_plus
from steelyard.predict.platforms.platform_model import LikeErrors, PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question

CONFORMAL = "conformal-benchmarks"
JACKKNIFE = "jackknife-plus-hosts"
# With more known hosts than this, they are left out a tenth at a time: CV+ (Barber et al. 2021,
# section 3), which promises the same.
MOST_REFITS = 20
CV_FOLDS = 10


@dataclass(frozen=True)
class CostIntervals:
    """Intervals at every host.

    Parameters
    ----------
    low, high : array, shape (h,)
        NaN where nothing bounds the cost.
    typical : array, shape (h,)
        Half the width that a benchmark of the suite of middling difficulty would have there;
        NaN where the method knows none.
    method : str
    reason, explanation : str
        Why an interval is missing; empty where none is.
    """

    low: Floats
    high: Floats
    typical: Floats
    method: str
    reason: str = ""
    explanation: str = ""

    @property
    def half_width(self) -> Floats:
        """Half the width, shape (h,)."""
        return (self.high - self.low) / 2


def cost_intervals(
    question: Question, model: PlatformModel, prediction: Prediction, confidence: float
) -> CostIntervals:
    """Intervals of the model's own kind: by benchmarks taken alike, or by hosts left out."""
    if prediction.like_errors is not None:
        return by_benchmarks(prediction, prediction.like_errors, confidence)
    return by_hosts(question, model, prediction, confidence)


def by_benchmarks(prediction: Prediction, like: LikeErrors, confidence: float) -> CostIntervals:
    """Conformal intervals from the suite's benchmarks, predicted as the application is.

    Assumes that the application is one more program like those of the suite: exchangeable with
    them once errors are over how hard each is to predict (`LikeErrors.difficulties`).
    """
    hosts = len(prediction.costs)
    half, typical = np.full(hosts, np.nan), np.full(hosts, np.nan)
    fewest = int(np.ceil(confidence / (1 - confidence) - 1e-9))
    for host in range(hosts):
        seen = np.isfinite(like.errors[:, host])
        scores = np.abs(like.errors[seen, host]) / like.difficulties[seen, host]
        quantile = conformal_quantile(scores, confidence)
        if quantile is not None:
            half[host] = quantile * like.difficulty[host]
            typical[host] = quantile * float(np.median(like.difficulties[seen, host]))
    return CostIntervals(
        prediction.costs - half,
        prediction.costs + half,
        typical,
        CONFORMAL,
        "few-benchmarks",
        f"At {confidence:.0%} the errors of at least {fewest} benchmarks, measured on the hosts "
        "where the application is known and on the one in question, bound an answer.",
    )


def by_hosts(
    question: Question, model: PlatformModel, prediction: Prediction, confidence: float
) -> CostIntervals:
    """The jackknife+: the model without each known host in turn.

    Assumes that the host in question is one more like the known ones.
    """
    known = np.flatnonzero(question.known)
    hosts = len(prediction.costs)
    fewest = int(np.ceil(confidence / (1 - confidence) - 1e-9))
    empty = np.full(hosts, np.nan)
    none = CostIntervals(
        empty,
        empty,
        empty,
        JACKKNIFE,
        "few-hosts",
        f"At {confidence:.0%} the model without each of at least {fewest} known hosts bounds an "
        f"answer; {len(known)} are known.",
    )
    if len(known) < fewest or len(known) - 1 < model.least_known:
        return none
    errors, predictions = np.zeros(len(known)), np.zeros((len(known), hosts))
    folds = np.arange(len(known)) % (len(known) if len(known) <= MOST_REFITS else CV_FOLDS)
    for fold in range(int(folds.max()) + 1):
        out = known[folds == fold]
        response = question.response.copy()
        response[out] = np.nan
        costs = model.predict(replace(question, response=response)).costs
        predictions[folds == fold] = costs
        errors[folds == fold] = np.abs(costs[out] - question.response[out])
    low, high = empty.copy(), empty.copy()
    for host in range(hosts):
        bounds = jackknife_plus(errors, predictions[:, host], confidence)
        if bounds is not None:
            low[host], high[host] = bounds
    return CostIntervals(low, high, empty, JACKKNIFE)
