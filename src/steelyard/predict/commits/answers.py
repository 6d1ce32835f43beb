"""What is answered about pairs that nobody has measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import Caution
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
    quiet = quiet_rows(asked.values_of(predictor.table.indicators), predictor.table.indicators)
    answers: list[BenchmarkAnswer] = []
    for row in range(len(asked)):
        estimate = Estimate(
            float(found.estimate[row]),
            float(found.low[row]),
            float(found.high[row]),
            CONFIDENCE,
            predictor.model.name,
        )
        words = (explained or {}).get(row, ()) or indicator_reasons(predictor, asked, row)
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


def indicator_reasons(predictor: Predictor, asked: PairTable, row: int) -> tuple[str, ...]:
    """The indicators of a row that are rarest among neutral pairs, in words."""
    values = asked.values_of(predictor.table.indicators)[row]
    if np.isnan(values).all():
        return ("No indicator is known: nothing could be compared.",)
    if not (values > 0).any():
        return ("Nothing that the indicators see has changed.",)
    neutral = predictor.table.values[predictor.table.neutral]
    scored: list[tuple[float, str]] = []
    for column, name in enumerate(predictor.table.indicators):
        value, known = values[column], neutral[:, column]
        known = known[~np.isnan(known)]
        if np.isnan(value) or value <= 0 or not len(known):
            continue
        share = float((known < value).mean())
        words = f"{name} is {value:.4g}, more than in {100 * share:.0f} % of unchanged pairs."
        scored.append((share, words))
    scored.sort(key=lambda pair: -pair[0])
    return tuple(words for _, words in scored[:_MOST_REASONS])


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
