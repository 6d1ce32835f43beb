"""What it costs to tell more paths of a map apart, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.analysis.paths.path_outcomes import Outcomes

# docs/adr/0029-calls-are-led-through-wrappers.md: two lea, call and ret.
WRAPPER_INSTRUCTIONS = 4
# docs/adr/0033-marked-calls-carry-a-value.md.
MARK_INSTRUCTIONS = 10
RESIZING, WRAPPING, CLONING, MARKING = "resizing", "wrapping", "cloning", "marking"
_INSTRUCTIONS = {
    RESIZING: 0,
    WRAPPING: WRAPPER_INSTRUCTIONS,
    CLONING: 0,
    MARKING: MARK_INSTRUCTIONS,
}


@dataclass(frozen=True)
class SeparationCost:
    """A way of telling paths apart: what it resolves of the map's own runs, and its price.

    Parameters
    ----------
    way : str
        `RESIZING`: frames are larger; `WRAPPING`: calls are wrapped too; `CLONING`: functions are
        cloned too; `MARKING`: calls are marked too.
    frame_count, call_count : int
        Frames that are larger, and different calls that are wrapped or marked.
    paths : Outcomes
        Of the paths of the map.
    passed_count : int
        Learnt calls that pass a wrapper or a mark.
    passed_share : float
        Their part of all learnt calls, from 0 to 1.
    before_bytes, after_bytes : int
        The highest stack at the entry of a function.
    clone_count : int
    clone_bytes : int
        Code of the clones.
    code_ratio : float
        The same beside the code of the program.
    """

    way: str
    frame_count: int
    call_count: int
    paths: Outcomes
    passed_count: int
    passed_share: float
    before_bytes: int
    after_bytes: int
    clone_count: int = 0
    clone_bytes: int = 0
    code_ratio: float = 0.0

    @property
    def instruction_count(self) -> int:
        """Instructions that the learnt runs would have executed more."""
        return _INSTRUCTIONS[self.way] * self.passed_count

    @property
    def instructions_per_call(self) -> float:
        """The same for each learnt call."""
        return _INSTRUCTIONS[self.way] * self.passed_share

    @property
    def growth_ratio(self) -> float:
        """How many times as high the highest stack becomes."""
        return self.after_bytes / self.before_bytes if self.before_bytes else 1.0


@dataclass(frozen=True)
class SeparationCosts:
    """What ways of telling paths apart would cost.

    Parameters
    ----------
    costs : tuple of SeparationCost
    refused : mapping of str to str
        Ways that a program does not allow, and why.
    """

    costs: tuple[SeparationCost, ...]
    refused: Mapping[str, str]
