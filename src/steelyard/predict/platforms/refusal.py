"""When a prediction is refused, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from steelyard.predict.platforms.host_table import PlatformTable
from steelyard.predict.platforms.intervals import CostIntervals
from steelyard.predict.platforms.platform_model import PlatformModel, Prediction
from steelyard.predict.platforms.platform_question import Question

# Columns that say which machines cannot stand for each other.
ARCHITECTURE_ATTRIBUTES = ("isa", "instruction_set", "architecture", "arch")
# A linear model below it is refused: the value of Oliveira 2015, section 7.5.
THESIS_ADJUSTED_R_SQUARED = 0.958


@dataclass(frozen=True)
class Limits:
    """What an answer must keep.

    Parameters
    ----------
    half_width_ratio : float
        Half the interval, as a share of the value.
    adjusted_r_squared : float or None
        The least that a linear model may have; None: any.
    mallows_cp : float or None
        The most that a linear model may have; None: any.
    """

    half_width_ratio: float = 0.10
    adjusted_r_squared: float | None = None
    mallows_cp: float | None = None


@dataclass(frozen=True)
class Refusal:
    """Why a host has no answer: a code and a sentence."""

    reason: str
    explanation: str


def refuse_question(question: Question, model: PlatformModel) -> Refusal | None:
    """Whether anything can be known from so few hosts."""
    if question.known_count < model.least_known:
        return Refusal(
            "few-hosts",
            f"The application is known on {question.known_count} hosts; {model.name} needs "
            f"{model.least_known}. Measure it on more hosts.",
        )
    if not question.suite.shape[1]:
        return Refusal("no-benchmarks", "No benchmark varies over hosts.")
    return None


def refuse_fit(prediction: Prediction, limits: Limits) -> Refusal | None:
    """Whether the model's own fit is too poor for any host (Oliveira 2015, section 7.5)."""
    least, most = limits.adjusted_r_squared, limits.mallows_cp
    if least is not None and (prediction.adjusted_r_squared or 0.0) < least:
        found = prediction.adjusted_r_squared
        shown = "undefined" if found is None else f"{found:.3f}"
        return Refusal(
            "poor-fit",
            f"Adjusted R² is {shown}, below {least:g}: the suite does not represent the "
            "application.",
        )
    if most is not None and (prediction.mallows_cp is None or prediction.mallows_cp > most):
        found = prediction.mallows_cp
        shown = "undefined" if found is None else f"{found:.1f}"
        return Refusal("poor-fit", f"Mallows' Cp is {shown}, above {most:g}.")
    return None


def refuse_architecture(
    attributes: Mapping[str, tuple[str, ...]], question: Question, host: int
) -> Refusal | None:
    """Whether the host is of an instruction set that no known host has."""
    for name in ARCHITECTURE_ATTRIBUTES:
        values = attributes.get(name)
        if not values or not values[host]:
            continue
        known = {values[place] for place in np.flatnonzero(question.known)}
        if values[host] not in known:
            return Refusal(
                "new-architecture",
                f"Its {name} is {values[host]!r}, that of no known host. Measure the application "
                "on one host of it.",
            )
    return None


def refuse_width(
    table: PlatformTable, intervals: CostIntervals, value_cost: float, host: int, limits: Limits
) -> Refusal | None:
    """Whether the interval is missing or wider than allowed, and whose fault that is."""
    half = float(intervals.half_width[host])
    if not np.isfinite(half):
        return Refusal(intervals.reason or "unbounded", intervals.explanation)
    ratio = _as_ratio(table, half, value_cost)
    if ratio <= limits.half_width_ratio:
        return None
    typical = float(intervals.typical[host])
    shown = f"±{ratio:.0%}" if ratio < 10 else "beyond ten times the value"
    limit = f"{limits.half_width_ratio:.0%}"
    if np.isfinite(typical) and _as_ratio(table, typical, value_cost) > limits.half_width_ratio:
        return Refusal(
            "unlike-hosts",
            f"The interval is {shown}, wider than ±{limit}, and would be for most benchmarks of "
            "the suite: no known host is like this one. Measure the application on a host "
            "like it (steelyard predict platforms next).",
        )
    return Refusal(
        "unlike-benchmarks",
        f"The interval is {shown}, wider than ±{limit}, though most benchmarks of the suite could "
        "be predicted there: none behaves as the application does. Measure the application on "
        "more hosts, or add a benchmark like it.",
    )


def _as_ratio(table: PlatformTable, half: float, cost: float) -> float:
    """Half the interval over the value: the larger side, where costs are logarithms."""
    if table.scale == "log":
        return float(np.expm1(min(half, 700.0)))
    return half / abs(cost) if cost else float("inf")
