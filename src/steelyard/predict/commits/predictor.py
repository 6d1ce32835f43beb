"""A predictor: the model that older revisions speak for, and where its yes begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.commits.candidate_models import MODELS
from steelyard.predict.commits.commit_model import (
    CommitModel,
    LearntModel,
    Probabilities,
    base_rate,
    share_bounds,
)
from steelyard.predict.commits.pair_table import PairTable, check_learnable, quiet_rows
from steelyard.predict.commits.threshold_shares import ThresholdShares
from steelyard.predict.commits.thresholds import Thresholds, choose_thresholds

_BLOCKS = 4


@dataclass(frozen=True)
class Trust:
    """How a model did on revisions newer than those that it had learnt from.

    Parameters
    ----------
    model : str
    log_loss : float
        Mean negative logarithm of the probability given to what happened; inf where nothing could
        be answered.
    answered : int
        Rows.
    """

    model: str
    log_loss: float
    answered: int


@dataclass(frozen=True)
class Predictor:
    """Answers rows of indicators.

    Parameters
    ----------
    model : CommitModel
    table : PairTable
        What it was learnt from.
    wanted_hit_rate : float
    cutoff : float
        Run at this probability or above it.
    thresholds : Thresholds
        Of Algorithm 1, from the same rows.
    by_thresholds : bool
        Run where a threshold is reached, as Algorithm 1 does, instead of by the cutoff.
    trusts : tuple of Trust
        The models compared, the best first.
    """

    model: CommitModel
    learnt: LearntModel = field(repr=False)
    table: PairTable = field(repr=False)
    wanted_hit_rate: float
    cutoff: float
    thresholds: Thresholds
    by_thresholds: bool = False
    trusts: tuple[Trust, ...] = ()
    cautions: tuple[Caution, ...] = ()

    def probabilities(self, asked: PairTable) -> Probabilities:
        """For each row. Rows where nothing changed have the share that such rows had."""
        found = self.learnt.probabilities(asked.values_of(self.table.indicators))
        quiet = self.table.decided()
        quiet = quiet.rows(quiet.quiet)
        hits, total = np.array([float(quiet.hits.sum())]), np.array([float(len(quiet))])
        silent = share_bounds(hits, total, base_rate(self.table) / 10)
        rows = self._quiet(asked)
        return Probabilities(
            np.where(rows, silent.estimate, found.estimate),
            np.where(rows, silent.low, found.low),
            np.where(rows, silent.high, found.high),
        )

    def run(self, asked: PairTable) -> Truths:
        """Whether to run each row's benchmark."""
        values = asked.values_of(self.table.indicators)
        if self.by_thresholds:
            yes = self.thresholds.run(values, self.table.indicators)
        else:
            yes = self.learnt.probabilities(values).estimate >= self.cutoff
        # What cannot be compared is run.
        unknown = np.isnan(values).all(axis=1)
        return (yes | unknown) & ~self._quiet(asked)

    def _quiet(self, asked: PairTable) -> Truths:
        names = self.table.indicators
        return quiet_rows(asked.values_of(names), names)


def learn_predictor(
    table: PairTable, wanted_hit_rate: float = 0.95, model: CommitModel | None = None
) -> Predictor:
    """Learn from a table: the model named, or the one that its older revisions speak for.

    Models are compared, and the cutoff is set, on predictions of revisions by what was older than
    they (four blocks, each from those before it). With n revisions that changed a benchmark among
    these, each by its least probable change, the cutoff is the probability of rank
    ``floor((n + 1) (1 - wanted_hit_rate))``, so that the next change is caught at the wanted rate
    if it is like them (Vovk et al., "Algorithmic Learning in a Random World" (2005), section 4.3).
    Fewer changes than that rank takes hold no such rate: everything that is not quiet is run then.
    The model `thresholds`, if it is named, answers as the thesis's does, whatever the wanted rate.

    Raises
    ------
    AnalysisError
        It has no hit, or no neutral row.
    """
    check_learnable(table)
    table = table.decided()
    loud = _loud(table)
    candidates = list(MODELS.values()) if model is None else [model]
    tried = [(one, _forward(loud, one)) for one in candidates]
    trusts = {one.name: _trust(loud, one, forward) for one, forward in tried}
    best, forward = min(tried, key=lambda pair: trusts[pair[0].name].log_loss)
    learnt = best.learn(loud)
    seen = _least_by_revision(loud, forward)
    by_thresholds = model is not None and isinstance(learnt, ThresholdShares)
    cautions: list[Caution] = []
    cutoff = 0.0 if by_thresholds else _cutoff(seen, wanted_hit_rate, cautions)
    _note_labels(table, cautions)
    ranked = tuple(sorted(trusts.values(), key=lambda trust: trust.log_loss))
    thresholds = (
        learnt.thresholds if isinstance(learnt, ThresholdShares) else choose_thresholds(loud)
    )
    return Predictor(
        best,
        learnt,
        table,
        wanted_hit_rate,
        cutoff,
        thresholds,
        by_thresholds,
        ranked,
        tuple(cautions),
    )


def _loud(table: PairTable) -> PairTable:
    """The rows that models learn from: those with a difference, of which the quiet ones have none.

    Raises
    ------
    AnalysisError
        No change is between revisions with a difference.
    """
    loud = table.rows(~table.quiet)
    if not loud.hits.any():
        raise AnalysisError(
            f"{table.source}: none of {int(table.hits.sum())} changes has an indicator above 0.\n"
            "Nothing can be learnt from changes that no indicator sees.",
            field="changed",
        )
    return loud if loud.neutral.any() else table


def _forward(table: PairTable, model: CommitModel) -> Floats:
    """Probabilities of rows by revisions older than theirs; NaN for the oldest block."""
    found = np.full(len(table), np.nan)
    borders = np.quantile(table.order, np.arange(1, _BLOCKS) / _BLOCKS)
    block = np.searchsorted(borders, table.order, side="right")
    for number in range(1, _BLOCKS):
        older, here = table.rows(block < number), block == number
        if older.hits.any() and older.neutral.any() and here.any():
            found[here] = model.learn(older).probabilities(table.values[here]).estimate
    return found


def _trust(table: PairTable, model: CommitModel, forward: Floats) -> Trust:
    answered = ~np.isnan(forward)
    if not answered.any():
        return Trust(model.name, float("inf"), 0)
    given = np.clip(forward[answered], 1e-6, 1 - 1e-6)
    loss = -np.where(table.hits[answered], np.log(given), np.log1p(-given))
    return Trust(model.name, float(loss.mean()), int(answered.sum()))


def _least_by_revision(table: PairTable, forward: Floats) -> Floats:
    """The least probability that a hit of each revision was given.

    Benchmarks of one revision, and pairs that end in it, change together: they count once.
    """
    answered = table.hits & ~np.isnan(forward)
    revisions, place = np.unique(table.order[answered], return_inverse=True)
    least = np.full(len(revisions), np.inf)
    np.minimum.at(least, place, forward[answered])
    return least


def _cutoff(seen: Floats, wanted: float, cautions: list[Caution]) -> float:
    rank = floor((len(seen) + 1) * (1 - wanted) + 1e-9)
    if rank < 1:
        cautions.append(
            Caution(
                "few-hits",
                f"{len(seen)} revisions with a change were predicted from older ones: too few for "
                f"a hit rate of {wanted:g}. Every benchmark that a difference reaches is run.",
            )
        )
        return 0.0
    return float(np.sort(seen)[rank - 1])


def _note_labels(table: PairTable, cautions: list[Caution]) -> None:
    silent = int((table.hits & table.quiet).sum())
    if silent:
        cautions.append(
            Caution(
                "unexplained-hits",
                f"{silent} of {int(table.hits.sum())} changes are between pairs without any "
                "difference that the indicators see. Noise in labels, or a cause outside the "
                "program: no predictor can cover them.",
            )
        )
