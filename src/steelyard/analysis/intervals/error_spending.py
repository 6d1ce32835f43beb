"""How the error that a comparison may make is shared out over the looks that a user takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, inf, log, sqrt

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.mean import two_sided
from steelyard.core.experiment_results import StopReason
from steelyard.core.stopping_spec import StoppingSpec

# Shares of the error 1 - confidence; docs/STATISTICS.md has what each costs in blocks. They add
# up to 1.1, so that whoever goes on as often as wanted keeps 94.5 % of 95 %.
FIRST_SHARE = 0.8
SEQUENCE_SHARE = 0.3
# A number of runs that was fixed beforehand has Student's interval, which leaves this.
AFTER_RUNS_SHARE = 0.1
# The mixture's variance, in units of one block's variance. Any number gives the same coverage;
# this one makes the sequence narrowest between 30 and 300 blocks.
_MIXING = 0.5


@dataclass(frozen=True)
class Spending:
    """Which part of the error an answer may use, and how.

    Parameters
    ----------
    share : float
        Of the error ``1 - confidence``.
    sequence : bool
        The interval belongs to a sequence that holds at all numbers of blocks together; else it
        is that of one look, whose time the ratio did not choose.
    """

    share: float
    sequence: bool

    def confidence(self, confidence: float) -> float:
        """The confidence that an interval of stated `confidence` is made with."""
        return 1.0 - self.share * (1.0 - confidence)


ONE_LOOK = Spending(1.0, False)
# Ends that come whatever the ratio is. Who interrupts an experiment has seen it, and who cuts a
# fixed number of runs short, by a budget too, has its end still before them.
_PLANNED: tuple[StopReason, ...] = ("runs", "precision", "budget", "failures")
_PLANNED_OF_RUNS: tuple[StopReason, ...] = ("runs", "failures")


def spending_of(stopping: StoppingSpec, stopped: StopReason | None) -> Spending:
    """What the answer of a comparison may spend.

    Parameters
    ----------
    stopping : StoppingSpec
        With the looks that came before.
    stopped : StopReason or None
        Why the experiment ended; None where it has not, or was killed.

    Notes
    -----
    An end that the ratio did not choose (a fixed number of runs, a precision, a budget) spends
    once, as any interval does. An end that it chose or that the user may have chosen by it (who
    interrupts, or asks for a report of what still runs), and whatever comes after a first answer,
    belongs to a confidence sequence. By the union bound all of it together errs in no more than
    the sum of the shares.
    """
    if stopping.effect:
        return ONE_LOOK
    fixed = (stopping.looks[0].rule if stopping.looks else stopping.rule) == "runs"
    if stopped in (_PLANNED_OF_RUNS if fixed else _PLANNED) and not stopping.looks:
        return ONE_LOOK if fixed else Spending(FIRST_SHARE, sequence=False)
    return Spending(AFTER_RUNS_SHARE if fixed else SEQUENCE_SHARE, sequence=True)


def sequence_quantile(confidence: float, count: int) -> float:
    """The quantile for a mean of `count` normal values that holds at every count together.

    Parameters
    ----------
    confidence : float
        Of the whole sequence of intervals.
    count : int
        Values so far.

    Returns
    -------
    float
        In standard errors of the mean, as Student's; infinite for too few values.

    Notes
    -----
    The likelihood of the values, averaged over normal effects of variance `_MIXING` in units of
    their variance, over that of no effect, is a martingale whatever the variance is, for it
    depends on Student's t alone (Lai, Annals of Statistics 4 (1976) 265; Wang and Ramdas,
    Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance, 2024,
    theorem 4.7). By Ville's inequality it ever exceeds 1 / (1 - confidence) with probability
    1 - confidence. With k = 1 + n m::

        k^(-1/2) ((1 + t^2 / (n - 1)) / (1 + t^2 / (k (n - 1))))^(n / 2) < 1 / (1 - confidence)
    """
    if count < 2:
        return inf
    spread = 1.0 + count * _MIXING
    exponent = (log(spread) - 2.0 * log(1.0 - confidence)) / count
    if exponent >= log(spread):
        return inf
    return sqrt((count - 1) * expm1(exponent) / -expm1(exponent - log(spread)))


def sequence_widening(confidence: float, count: int) -> float:
    """`sequence_quantile` in units of Student's of one look; infinite for too few values."""
    if count < 2:
        return inf
    return sequence_quantile(confidence, count) / student_quantile(two_sided(confidence), count - 1)
