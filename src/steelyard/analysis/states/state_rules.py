"""What is asked of each execution."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.experiment_spec import Direction


@dataclass(frozen=True)
class Rules:
    """What is asked of each execution.

    Parameters
    ----------
    tolerance : float
        Relative difference between levels up to which they are equivalent.
    confidence : float
        Of the intervals that tell levels apart, and of the tests of independence.
    seed : int
        Of the redraws.
    execution_count : int
        How many executions are judged together.
    direction : str
        ``"higher"`` where more is better, so that a start-up has lower values.
    """

    tolerance: float = 0.05
    confidence: float = 0.95
    seed: int = 1
    execution_count: int = 1
    direction: Direction = "lower"

    @property
    def test_confidence(self) -> float:
        """Of the tests of each execution, such that those of all of them together find dependence
        in independent iterations with probability ``1 - confidence`` at most (Bonferroni)."""
        return 1 - (1 - self.confidence) / self.execution_count
