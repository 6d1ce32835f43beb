"""Which of several hosts to take: the fastest, or the best for its price, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution
from steelyard.core.rng import derive_seed
from steelyard.predict.arrays import Floats
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.platform_answers import (
    Asked,
    HostAnswer,
    PlatformAnswer,
    ask_table,
)
from steelyard.predict.platforms.platform_model import LikeErrors, PlatformModel

DRAWS = 4000
# A larger regret counts as this: how wrong a wrong choice is matters less than that it is one, and
# one benchmark that errs by a factor of ten would decide alone.
MOST_REGRET = 0.5


@dataclass(frozen=True)
class Candidate:
    """A host that may be chosen.

    Parameters
    ----------
    answer : HostAnswer
    price : float or None
        For the time that the host is used.
    probability : float
        That no other candidate is better.
    regret_ratio : float
        By how much this host is expected to cost more than the best one, each draw counted up to
        `MOST_REGRET`.
    """

    answer: HostAnswer
    price: float | None
    probability: float
    regret_ratio: float


@dataclass(frozen=True)
class HostChoice:
    """The candidates, least regret first.

    Parameters
    ----------
    answer : PlatformAnswer
    candidates : tuple of Candidate
    by_price : bool
        Whether a host is judged by time times price instead of by time.
    seed : int
    """

    kind: ClassVar[str] = "platform-choice"

    answer: PlatformAnswer
    candidates: tuple[Candidate, ...]
    by_price: bool
    seed: int

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Those of the answer, and one where the chosen host's own prediction is refused."""
        best = self.candidates[0].answer
        if best.refusal is None:
            return self.answer.cautions
        doubt = Caution(
            "chosen-host-refused",
            f"The time on {best.host} is not to be relied on ({best.refusal.reason}); the choice "
            "among hosts may still be right.",
        )
        return (*self.answer.cautions, doubt)


def choose_host(
    table: PlatformTable,
    model: PlatformModel,
    asked: Asked,
    candidates: Sequence[str] = (),
    prices: Sequence[float] | None = None,
    seed: int = 1,
) -> HostChoice:
    """Choose the host where the application costs least.

    Parameters
    ----------
    table : PlatformTable
    model : PlatformModel
        One that predicts the suite's benchmarks alike: their errors are drawn from.
    asked : Asked
    candidates : sequence of str
        Hosts to choose among; empty: all hosts. Measured ones count with what was measured.
    prices : sequence of float, optional
        For each host of the table, the price of its time.
    seed : int
        Of the draws.

    Raises
    ------
    AnalysisError
        A candidate is not in the table, there are fewer than two, the table is not on the
        logarithmic scale, or nothing can be predicted.
    """
    rows = [table.host_place(name, "candidates") for name in candidates]
    rows = list(dict.fromkeys(rows)) or list(range(len(table.hosts)))
    if len(rows) < 2:
        raise AnalysisError("A choice needs at least two candidates.", field="candidates")
    if table.scale != "log":
        raise AnalysisError("A choice needs logarithms: leave out --linear.", field="linear")
    known = np.isfinite(table.costs[:, table.place_of(asked.application)])
    answer = ask_table(table, model, asked, known)
    if answer.prediction is None:
        refusal = next(host.refusal for host in answer.hosts if host.refusal is not None)
        raise AnalysisError(f"No host can be chosen. {refusal.explanation}", field="application")
    costs = np.where(known, table.costs[:, table.place_of(asked.application)], 0.0)
    costs = np.where(known, costs, answer.prediction.costs)[rows]
    draws = _draws(answer.prediction.like_errors, known, rows, seed)
    of_price = np.log(np.array(prices, dtype=np.float64))[rows] if prices is not None else 0.0
    probability, regret = rate_candidates(costs + of_price, draws)
    order = sorted(range(len(rows)), key=lambda place: (regret[place], -probability[place]))
    found = [
        Candidate(
            answer.hosts[rows[place]],
            None if prices is None else float(prices[rows[place]]),
            float(probability[place]),
            float(regret[place]),
        )
        for place in order
    ]
    return HostChoice(answer, tuple(found), prices is not None, seed)


def rate_candidates(costs: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """The probability that each candidate is best and its expected regret.

    Parameters
    ----------
    costs : array, shape (c,)
        Logarithms.
    errors : array, shape (d, c)
        Draws of predicted less true cost.
    """
    true = costs - errors
    best = true.min(axis=1, keepdims=True)
    share = (true == best).astype(np.float64)
    probability = (share / share.sum(axis=1, keepdims=True)).mean(axis=0)
    regret = np.minimum(np.expm1(np.minimum(true - best, 50.0)), MOST_REGRET).mean(axis=0)
    return probability, regret


def _draws(like: LikeErrors | None, known: Floats, rows: list[int], seed: int) -> Floats:
    """Errors at the candidates, shape (d, c): those of whole benchmarks, so that hosts that err
    together stay together, scaled to the application and smoothed; 0 where it is measured.
    """
    if like is None:
        raise AnalysisError(
            "There are no errors on other benchmarks to draw from.\nA choice takes "
            "--model stacking, and a table with two benchmarks beside the application.",
            field="model",
        )
    scores = np.nan_to_num(like.errors[:, rows] / like.difficulties[:, rows])
    draw = np.random.default_rng(derive_seed(seed, "choice"))
    picked = scores[draw.integers(len(scores), size=DRAWS)]
    # Silverman's rule (1986, equation 3.31) with the spread of each host's scores.
    width = 0.9 * scores.std(axis=0) * len(scores) ** -0.2
    smooth = picked + width * draw.standard_normal(picked.shape)
    return np.where(known[rows], 0.0, smooth * like.difficulty[rows])
