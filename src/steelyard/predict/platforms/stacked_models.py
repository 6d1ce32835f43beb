"""Average models by how well each would have predicted the suite's own benchmarks.

Every benchmark of the suite is taken in turn for an application known on the same hosts. Its cost
on the host in question is known, so each model's error there is too: these errors choose the
model for that host, together with those of the application's known hosts left out, and bound the
answer. Nothing of the application on unknown hosts is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats, Indices
from steelyard.predict.kriging import Kriged, krige
from steelyard.predict.platforms.benchmark_models import benchmark_models
from steelyard.predict.platforms.kernels import host_kernels
from steelyard.predict.platforms.platform_model import LikeErrors, Prediction
from steelyard.predict.platforms.platform_question import Question

# Benchmarks that stand in for the application: more hardly sharpen the choice, and cost time.
MOST_STAND_INS = 64
# A model's weight falls with this power of its error, so one that errs twice as much has 1/16.
WEIGHT_POWER = 4.0
# A stand-in counts less the less it is as hard to predict as the application: by a Gaussian of this
# deviation in the logarithm. A suite of near copies says little of an application that has none.
DIFFICULTY_SPREAD = 0.5
LEAST_COUNT = 1e-6
# With so many known hosts the application's own errors weigh as much as those of all stand-ins.
EVEN_KNOWN_HOSTS = 10.0
# The least difficulty, in logarithms: what rounding of published times makes of a copy.
LEAST_DIFFICULTY = 1e-4


@dataclass(frozen=True)
class Candidates:
    """What each model makes of a batch of responses: arrays of shape (m, ..., h)."""

    names: tuple[str, ...]
    values: Floats
    left_out: Floats


def predict_by_stacking(question: Question) -> Prediction:
    """The weighted average of all models, with errors on benchmarks taken alike."""
    own = _candidates(question.suite, question.response)
    stand_ins, responses = _stand_ins(question)
    if not len(stand_ins):
        return Prediction(own.values.mean(axis=0))
    others = _all_but(question.suite.shape[1], stand_ins)
    suites = np.moveaxis(question.suite[:, others], 0, 1)
    theirs = _candidates(suites, responses)
    truth = np.where(question.observed[:, stand_ins], question.suite[:, stand_ins], np.nan).T
    errors = theirs.values - truth[None]
    errors[..., question.known] = np.nan
    weights = _weights(errors, theirs, own)
    difficulties, difficulty = _difficulties(weights, theirs, own)
    return Prediction(
        (weights * own.values).sum(axis=0),
        like_errors=LikeErrors((weights[:, None] * errors).sum(axis=0), difficulties, difficulty),
        weights=_mean_weights(own.names, weights[:, ~question.known]),
    )


def _all_but(count: int, left_out: Indices) -> Indices:
    """For each place the others, shape (j, count - 1)."""
    places = np.tile(np.arange(count), (len(left_out), 1))
    return places[places != left_out[:, None]].reshape(len(left_out), count - 1)


def _candidates(suite: Floats, response: Floats) -> Candidates:
    """Every model's predictions of responses, shape (..., h), on suites (..., h, b)."""
    names: list[str] = []
    found: list[Kriged] = []
    for model in host_kernels(suite):
        kriged = krige(model.kernel, response - model.prior, model.nugget)
        names.append(model.name)
        found.append(Kriged(kriged.values + model.prior, kriged.left_out))
    for name, kriged in benchmark_models(suite, response):
        names.append(name)
        found.append(kriged)
    return Candidates(
        tuple(names),
        np.array([one.values for one in found]),
        np.array([one.left_out for one in found]),
    )


def _stand_ins(question: Question) -> tuple[Indices, Floats]:
    """Columns that are measured where the application is known, and as if only known there."""
    visible = question.observed & question.known[:, None]
    enough = visible.sum(axis=0) >= np.minimum(question.known_count, 2)
    columns = np.flatnonzero(enough) if question.suite.shape[1] > 1 else np.zeros(0, np.intp)
    if len(columns) > MOST_STAND_INS:
        columns = columns[np.linspace(0, len(columns) - 1, MOST_STAND_INS).astype(int)]
    return columns, np.where(visible[:, columns], question.suite[:, columns], np.nan).T


def _difficulty_each(of: Candidates) -> Floats:
    """Each model's mean absolute error over known hosts left out, shape (m, ...)."""
    known = np.isfinite(of.left_out)
    total = np.where(known, np.abs(of.left_out), 0.0).sum(axis=-1)
    return np.maximum(total / np.maximum(known.sum(axis=-1), 1), LEAST_DIFFICULTY)


def _weights(errors: Floats, theirs: Candidates, own: Candidates) -> Floats:
    """Each model's weight at each host, shape (m, h).

    By its mean absolute error on the stand-ins there and on the application's known hosts left
    out, each over the difficulty of what was predicted, so that no wild benchmark decides alone.
    """
    own_each = _difficulty_each(own)
    own_scale = np.median(own_each)
    scale = np.median(_difficulty_each(theirs), axis=0)
    unlike = np.log(scale / own_scale) / DIFFICULTY_SPREAD
    count = np.exp(-0.5 * unlike**2) + LEAST_COUNT
    seen = np.isfinite(errors[0]) * count[:, None]
    scaled = np.where(seen > 0, np.abs(np.nan_to_num(errors)) / scale[:, None], 0.0)
    of_suite = (scaled * seen).sum(axis=1) / np.maximum(seen.sum(axis=0), LEAST_COUNT)
    known = int(np.isfinite(own.left_out[0]).sum())
    own_share = known / (known + EVEN_KNOWN_HOSTS)
    error = (1 - own_share) * of_suite + own_share * (own_each / own_scale)[:, None]
    weights = (error / np.maximum(error.min(axis=0), 1e-300)) ** -WEIGHT_POWER
    return weights / weights.sum(axis=0)


def _difficulties(weights: Floats, theirs: Candidates, own: Candidates) -> tuple[Floats, Floats]:
    """How hard each stand-in (j, h) and the application (h,) are to predict at each host.

    The geometric mean of how much the known hosts left out err, and how much models disagree.
    """
    found: list[Floats] = []
    for of in (theirs, own):
        log_error = np.log(_difficulty_each(of))
        left_out = np.exp(np.tensordot(log_error, weights, axes=(0, 0)))
        disagreement = np.maximum(of.values.std(axis=0), LEAST_DIFFICULTY)
        found.append(np.sqrt(left_out * disagreement))
    return found[0], found[1]


def _mean_weights(names: tuple[str, ...], weights: Floats) -> tuple[tuple[str, float], ...]:
    if not weights.shape[1]:
        return ()
    pairs = zip(names, weights.mean(axis=1), strict=True)
    return tuple(sorted(((name, float(w)) for name, w in pairs), key=lambda pair: -pair[1]))
