"""What is answered about pairs that nobody has measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Floats
from steelyard.predict.commits.commit_model import CONFIDENCE
from steelyard.predict.commits.pair_table import PairTable, quiet_rows
from steelyard.predict.commits.predictor import Predictor

_MOST_REASONS = 3


@dataclass(frozen=True)
class BenchmarkAnswer:
    """Whether one benchmark needs to run for one revision.

    Parameters
    ----------
    benchmark, known, unknown : str
        What is asked about: `unknown` against `known`.
    probability : Estimate
        That its time changes.
    run : bool
    reasons : tuple of str
        The strongest first. At least one.
    cost_s : float or None
        What running it takes.
    quiet : bool
        Nothing that it reaches differs.
    """

    benchmark: str
    known: str
    unknown: str
    probability: Estimate
    run: bool
    reasons: tuple[str, ...]
    cost_s: float | None = None
    quiet: bool = False


@dataclass(frozen=True)
class CommitAnswer:
    """The answers for all benchmarks of the rows asked about."""

    benchmarks: tuple[BenchmarkAnswer, ...]
    predictor: Predictor
    cautions: tuple[Caution, ...]
    kind: str = "commit-prediction"

    @property
    def to_run(self) -> tuple[BenchmarkAnswer, ...]:
        """Those that need to run, the most probable change first."""
        chosen = [one for one in self.benchmarks if one.run]
        return tuple(sorted(chosen, key=lambda one: -one.probability.estimate))


@dataclass(frozen=True)
class _IndicatorReasons:
    """The indicators of each row that are rarest among neutral pairs.

    Parameters
    ----------
    names : tuple of str, length k
    values : array, shape (n, k)
        Of the rows that are asked about.
    shares : array, shape (n, k)
        Of neutral pairs with a lower value; -1 where the indicator says nothing.
    """

    names: tuple[str, ...]
    values: Floats
    shares: Floats

    @staticmethod
    def of(predictor: Predictor, values: Floats) -> _IndicatorReasons:
        """For all rows at once: each by itself would read all neutral pairs."""
        neutral = predictor.table.values[predictor.table.neutral]
        shares = np.full(values.shape, -1.0)
        for column in range(values.shape[1]):
            known = np.sort(neutral[~np.isnan(neutral[:, column]), column])
            above = values[:, column] > 0
            if len(known):
                below = np.searchsorted(known, values[above, column], side="left")
                shares[above, column] = below / len(known)
        return _IndicatorReasons(predictor.table.indicators, values, shares)

    def row(self, row: int) -> tuple[str, ...]:
        """In words, the rarest first."""
        values, shares = self.values[row], self.shares[row]
        if np.isnan(values).all():
            return ("No indicator is known: nothing could be compared.",)
        if not (values > 0).any():
            return ("Nothing that the indicators see has changed.",)
        rarest = np.argsort(-shares, kind="stable")[:_MOST_REASONS]
        return tuple(
            f"{self.names[column]} is {values[column]:.4g}, more than in "
            f"{100 * shares[column]:.0f} % of unchanged pairs."
            for column in rarest.tolist()
            if shares[column] >= 0
        )


def ask_predictor(
    predictor: Predictor,
    asked: PairTable,
    explained: Mapping[int, tuple[str, ...]] | None = None,
) -> CommitAnswer:
    """Answer the rows of a table.

    Parameters
    ----------
    explained : mapping of int to tuple of str, optional
        For rows whose code was compared: what changed there, in words.
    """
    found = predictor.probabilities(asked)
    run = predictor.run(asked)
    values = asked.values_of(predictor.table.indicators)
    quiet = quiet_rows(values, predictor.table.indicators)
    words_of = _IndicatorReasons.of(predictor, values)
    answers: list[BenchmarkAnswer] = []
    for row in range(len(asked)):
        estimate = Estimate(
            float(found.estimate[row]),
            float(found.low[row]),
            float(found.high[row]),
            CONFIDENCE,
            predictor.model.name,
        )
        words = (explained or {}).get(row, ()) or words_of.row(row)
        cost = float(asked.cost_s[row])
        answers.append(
            BenchmarkAnswer(
                asked.benchmarks[row],
                asked.known[row],
                asked.unknown[row],
                estimate,
                bool(run[row]),
                words,
                None if np.isnan(cost) else cost,
                bool(quiet[row]),
            )
        )
    return CommitAnswer(tuple(answers), predictor, _cautions(predictor, asked))


def _cautions(predictor: Predictor, asked: PairTable) -> tuple[Caution, ...]:
    cautions = list(predictor.cautions)
    missing = [name for name in predictor.table.indicators if name not in asked.indicators]
    if missing:
        cautions.append(
            Caution(
                "missing-indicators",
                f"{asked.source} lacks {len(missing)} indicators that were learnt from: "
                f"{', '.join(missing[:5])}.",
            )
        )
    return tuple(cautions)
