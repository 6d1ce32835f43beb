"""Which candidates of an ambiguous key are named: all, the most frequent ones, or none.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis.paths.lookup import Candidate

ALL = None
# Below this stand samples whose path is not named.
UNDETERMINED = "[undetermined]"


@dataclass(frozen=True)
class Named:
    """What is shown of the candidates of a key.

    Parameters
    ----------
    candidates : tuple of Candidate
        Those that are named, the most frequent first.
    stacks : tuple of Candidate
        The same; and with what is left of the shares, if anything, one whose first function is
        `UNDETERMINED` and whose others are what all candidates of the key end with.
    candidate_count : int
        How many the key has.
    """

    candidates: tuple[Candidate, ...]
    stacks: tuple[Candidate, ...]
    candidate_count: int


def named(candidates: tuple[Candidate, ...], most: int | None = ALL) -> Named:
    """The most frequent candidates of a key.

    A key with one candidate is resolved: its path is named whatever was asked for.

    Parameters
    ----------
    candidates : tuple of Candidate
        The most frequent first.
    most : int or None
        Name so many at most; None: all.
    """
    count = len(candidates)
    if count <= 1 or most is None or count <= most:
        return Named(candidates, candidates, count)
    shown = candidates[:most]
    rest = max(0.0, 1.0 - sum(one.share for one in shown))
    names = (UNDETERMINED, *common_end(candidates))
    unnamed = Candidate(names, rest, is_learnt=candidates[0].is_learnt)
    return Named(shown, (*shown, unnamed), count)


def common_end(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The innermost functions that all candidates have, outermost first."""
    end: list[str] = []
    for names in zip(*(reversed(one.functions) for one in candidates), strict=False):
        if len(set(names)) > 1:
            break
        end.append(names[0])
    return tuple(reversed(end))
