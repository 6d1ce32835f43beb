"""An estimate is a value with its bounds, its confidence and the method that gave it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A value with a finite confidence interval."""

    estimate: float
    low: float
    high: float
    confidence: float
    method: str

    @property
    def half_width(self) -> float:
        """Half the width of the interval, in the unit of the estimate."""
        return (self.high - self.low) / 2

    def as_json(self) -> dict[str, Any]:
        """The contract's object for an estimate."""
        return {
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "method": self.method,
        }


@dataclass(frozen=True)
class Unbounded:
    """Statistics cannot bound this value with the data at hand.

    Parameters
    ----------
    estimate : float or None
        The point estimate, where there is one.
    confidence, method
        As asked for.
    reason : str
        A short code, such as ``"one-value"`` or ``"baseline-near-zero"``.
    explanation : str
        What it means and what would mend it, for a person.
    """

    estimate: float | None
    confidence: float
    method: str
    reason: str
    explanation: str

    def as_json(self) -> dict[str, Any]:
        """The contract's object for an estimate, with null bounds and the reason beside them."""
        return {
            "estimate": self.estimate,
            "low": None,
            "high": None,
            "confidence": self.confidence,
            "method": self.method,
            "unbounded": self.reason,
            "explanation": self.explanation,
        }


Interval = Estimate | Unbounded
