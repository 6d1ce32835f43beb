"""What to measure next: the host, or the benchmark, that narrows the answer most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.kriging import krige
from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.kernels import HostKernel, host_kernels
from steelyard.predict.platforms.platform_question import Question, make_question

# The kernel whose variance ranks hosts: the suite's own profiles, beside their likeness.
RANKING_KERNEL = "profile-mixed-0.03"


@dataclass(frozen=True)
class NextHost:
    """A host to measure the application on.

    Parameters
    ----------
    host : str
    doubt_ratio : float
        Standard deviation expected of the predictions on all hosts once it is measured, over
        what it is now: lower narrows more.
    """

    host: str
    doubt_ratio: float


@dataclass(frozen=True)
class NextBenchmark:
    """A benchmark to measure on a host that lacks it.

    Parameters
    ----------
    host, benchmark : str
    error_ratio : float
        Error of the application's known hosts, predicted from the benchmarks that the host has
        and this one, over that without this one.
    """

    host: str
    benchmark: str
    error_ratio: float


@dataclass(frozen=True)
class NextMeasurements:
    """Hosts and benchmarks worth measuring, best first."""

    kind: ClassVar[str] = "platform-next"

    application: str
    known_hosts: int
    hosts: tuple[NextHost, ...]
    benchmarks: tuple[NextBenchmark, ...]
    cautions: tuple[Caution, ...] = ()


def next_measurements(table: PlatformTable, application: str) -> NextMeasurements:
    """Rank what may be measured next for an application.

    Raises
    ------
    AnalysisError
        The application is measured on every host and no benchmark is missing: nothing is left; or
        no benchmark varies over hosts.
    """
    question = make_question(table, application)
    if not question.suite.shape[1]:
        raise AnalysisError(
            f"No benchmark of {table.source} beside {application} varies over hosts: none says "
            "where to measure.",
            field="application",
        )
    hosts = rank_hosts(question)
    benchmarks = _rank_benchmarks(table, question)
    if not hosts and not benchmarks:
        raise AnalysisError(
            f"{application} is measured on every host of {table.source}: nothing is left to "
            "measure.\nAdd rows of the suite's benchmarks on further hosts.",
            field="application",
        )
    return NextMeasurements(
        application,
        question.known_count,
        tuple(NextHost(table.hosts[host], ratio) for host, ratio in hosts),
        benchmarks,
    )


def rank_hosts(question: Question) -> list[tuple[int, float]]:
    """Hosts where the application is unknown, the one first that narrows the answers most.

    By the kriging variance of the suite's profiles summed over all hosts (A-optimal design:
    Cressie 1993, section 5.6), which needs no value of the application.
    """
    kernel = next(k for k in host_kernels(question.suite) if k.name == RANKING_KERNEL)
    known = question.known
    now = _mean_variance(kernel, known)
    ranked: list[tuple[int, float]] = []
    for host in np.flatnonzero(~known):
        with_it = known.copy()
        with_it[host] = True
        ranked.append((int(host), float(np.sqrt(_mean_variance(kernel, with_it) / now))))
    return sorted(ranked, key=lambda pair: pair[1])


def _mean_variance(kernel: HostKernel, known: Truths) -> float:
    """Mean variance of prediction over hosts, by universal kriging with a constant."""
    places = np.flatnonzero(known)
    own = kernel.kernel.diagonal()
    if not len(places):
        return float(own.mean() + own.max())
    covariance = kernel.kernel[np.ix_(places, places)] + kernel.nugget * np.eye(len(places))
    inverse = np.linalg.inv(covariance)
    cross = kernel.kernel[:, places]
    slack = 1 - (cross @ inverse).sum(axis=1)
    variance = own - np.einsum("hi,ij,hj->h", cross, inverse, cross) + slack**2 / inverse.sum()
    return float(np.maximum(variance, 0.0).mean() + 1e-12)


def _rank_benchmarks(table: PlatformTable, question: Question) -> tuple[NextBenchmark, ...]:
    """For each host with gaps, what each missing benchmark would add to those it has."""
    if question.known_count < 3:
        return ()
    found: list[NextBenchmark] = []
    for host in np.flatnonzero(~question.known & ~question.observed.all(axis=1)):
        present = question.observed[host]
        now = _error_with(question, present)
        for column in np.flatnonzero(~present):
            more = present.copy()
            more[column] = True
            ratio = _error_with(question, more) / max(now, 1e-12)
            found.append(
                NextBenchmark(table.hosts[host], question.benchmarks[column], float(ratio))
            )
    return tuple(sorted(found, key=lambda one: one.error_ratio))


def _error_with(question: Question, columns: Truths) -> float:
    """Mean absolute error over known hosts left out, with some benchmarks alone."""
    if columns.sum() < 2:
        known = question.response[question.known]
        return float(np.abs(known - known.mean()).mean())
    errors: list[Floats] = []
    for kernel in host_kernels(question.suite[:, columns]):
        kriged = krige(kernel.kernel, question.response - kernel.prior, kernel.nugget)
        errors.append(np.abs(kriged.left_out[question.known]))
    return float(min(error.mean() for error in errors))
