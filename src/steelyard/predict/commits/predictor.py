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
from steelyard.predict.commits.independent_changes import change_of_row
from steelyard.predict.commits.pair_table import (
    PairTable,
    check_learnable,
    quiet_rows,
    slight_rows,
)
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
    runs_slight : bool
        Run also where too little differs to change a time by the margin.
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
    runs_slight: bool = True
    by_thresholds: bool = False
    trusts: tuple[Trust, ...] = ()
    cautions: tuple[Caution, ...] = ()

    def probabilities(self, asked: PairTable) -> Probabilities:
        """For each row. Quiet rows have the share that such rows had, and so have slight ones."""
        values = asked.values_of(self.table.indicators)
        found = self.learnt.probabilities(values)
        table = self.table.decided()
        kinds = [(table.quiet, self._quiet(values))]
        if not self.runs_slight:
            kinds.append((table.slight, slight_rows(values, self.table.indicators)))
        for known, rows in kinds:
            share = _share_of(table, known)
            found = Probabilities(
                np.where(rows, share.estimate, found.estimate),
                np.where(rows, share.low, found.low),
                np.where(rows, share.high, found.high),
            )
        return found

    def run(self, asked: PairTable) -> Truths:
        """Whether to run each row's benchmark."""
        values = asked.values_of(self.table.indicators)
        if self.by_thresholds:
            yes = self.thresholds.run(values, self.table.indicators)
        else:
            yes = self.learnt.probabilities(values).estimate >= self.cutoff
            if not self.runs_slight:
                yes &= ~slight_rows(values, self.table.indicators)
        # What cannot be compared is run.
        unknown = np.isnan(values).all(axis=1)
        return (yes | unknown) & ~self._quiet(values)

    def _quiet(self, values: Floats) -> Truths:
        return quiet_rows(values, self.table.indicators)


def _share_of(table: PairTable, rows: Truths) -> Probabilities:
    """The share of hits among some rows; few of them are drawn towards a tenth of all rows'."""
    hits = np.array([float((table.hits & rows).sum())])
    return share_bounds(hits, np.array([float(rows.sum())]), base_rate(table) / 10)


def learn_predictor(
    table: PairTable, wanted_hit_rate: float = 0.95, model: CommitModel | None = None
) -> Predictor:
    """Learn from a table: the model named, or the one that its older revisions speak for.

    Models are compared, and the cutoff is set, on predictions of revisions by what was older than
    they (four blocks, each from those before it). With n changes among these, each by its least
    probable pair, the cutoff is the probability of rank
    ``floor((n + 1) (1 - wanted_hit_rate))``, so that the next change is caught at the wanted rate
    if it is like them (Vovk et al., "Algorithmic Learning in a Random World" (2005), section 4.3).
    Fewer changes than that rank takes hold no such rate: everything is run then that is neither
    quiet nor slight.
    Models learn from rows that are neither, and slight rows are not run, unless changes among them
    show that this costs the wanted rate.
    The model `thresholds`, if it is named, answers as the thesis's does, whatever the wanted rate.

    Raises
    ------
    AnalysisError
        It has no hit, or no neutral row.
    """
    check_learnable(table)
    table = table.decided()
    runs_slight = _slight_costs(table, wanted_hit_rate)
    loud = _loud(table, runs_slight)
    candidates = list(MODELS.values()) if model is None else [model]
    tried = [(one, _forward(loud, one)) for one in candidates]
    trusts = {one.name: _trust(loud, one, forward) for one, forward in tried}
    best, forward = min(tried, key=lambda pair: trusts[pair[0].name].log_loss)
    learnt = best.learn(loud)
    seen = _least_by_change(loud, forward)
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
        runs_slight,
        by_thresholds,
        ranked,
        tuple(cautions),
    )


def _slight_costs(table: PairTable, wanted_hit_rate: float) -> bool:
    """Whether too many changes have a slight pair to leave these out."""
    changes = change_of_row(table, table.hits)
    slightly = np.unique(changes[table.slight[table.hits]])
    return len(slightly) > (1 - wanted_hit_rate) * len(np.unique(changes)) / 2


def _loud(table: PairTable, with_slight: bool) -> PairTable:
    """The rows that models learn from: those that are neither quiet nor, if it is asked, slight.

    Raises
    ------
    AnalysisError
        No change is between revisions with a difference.
    """
    loud = table.rows(~table.quiet & (with_slight | ~table.slight))
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


def _least_by_change(table: PairTable, forward: Floats) -> Floats:
    """The least probability that a pair of each change was given.

    Benchmarks of one revision, and pairs that overlap, change together: they count once.
    """
    answered = table.hits & ~np.isnan(forward)
    change = change_of_row(table, answered)
    least = np.full(len(np.unique(change)), np.inf)
    np.minimum.at(least, change, forward[answered])
    return least


def _cutoff(seen: Floats, wanted: float, cautions: list[Caution]) -> float:
    rank = floor((len(seen) + 1) * (1 - wanted) + 1e-9)
    if rank < 1:
        cautions.append(
            Caution(
                "few-hits",
                f"{len(seen)} changes were predicted from older revisions: too few for "
                f"a hit rate of {wanted:g}. Every benchmark that a difference reaches is run, but "
                "where less than half of 1 % of what it executes differs.",
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
