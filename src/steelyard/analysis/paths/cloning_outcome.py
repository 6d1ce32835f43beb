"""What clones of functions give, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.analysis.paths.cloning_search import CloneChoice
from steelyard.analysis.paths.path_outcomes import ScenarioOutcomes


@dataclass(frozen=True)
class CloningOutcome:
    """Functions that are cloned, and what that gives.

    Parameters
    ----------
    choice : CloneChoice
    text_bytes : int
        Code of the program without clones.
    sizes : mapping of int to int
        Bytes of each clone, by its address.
    before, sized : ScenarioOutcomes
        What the map resolves as it is, and with the sizes that were found before the clones.
    uncloned : mapping of (str, str) to str
        Callers and callees whose calls cannot go to a clone, and why.
    """

    choice: CloneChoice
    text_bytes: int
    sizes: Mapping[int, int]
    before: ScenarioOutcomes
    sized: ScenarioOutcomes
    uncloned: Mapping[tuple[str, str], str]

    @property
    def growth_ratio(self) -> float:
        """Code of clones beside that of the program."""
        return self.choice.byte_count / self.text_bytes if self.text_bytes else 0.0
