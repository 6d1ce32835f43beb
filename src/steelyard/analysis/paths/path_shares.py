"""How much of the time each path took, or the paths that one key may mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.paths.lookup import Candidate
from steelyard.analysis.paths.named_candidates import UNDETERMINED, Named, common_end
from steelyard.analysis.profiles.profile_samples import Frame, function_shares
from steelyard.core.estimate import Interval

if TYPE_CHECKING:
    from steelyard.analysis.profiles.profile_answer import ProfileAnswer


@dataclass(frozen=True)
class PathShare:
    """How much of the time a path took, or the paths that one key may mean.

    Parameters
    ----------
    frames : tuple of str
        The outermost function first: the path; of several candidates what they end with alike.
    sample_count : int
    share : Interval
    candidates : tuple of Candidate
        Those that are named, the most frequent first; one, where the key means one path.
    candidate_count : int
        How many the key has.
    by_code_count : int
        Samples of it whose key was never learnt: the code of the program has the path or paths.
    """

    frames: tuple[str, ...]
    sample_count: int
    share: Interval
    candidates: tuple[Candidate, ...]
    candidate_count: int
    by_code_count: int = 0

    @property
    def undetermined_ratio(self) -> float:
        """Part of the key's learnt calls that came by candidates which are not named; by the code
        part of the candidates."""
        return max(0.0, 1.0 - sum(one.share for one in self.candidates))


def path_shares(
    answer: ProfileAnswer, shown: Sequence[Named], confidence: float
) -> tuple[PathShare, ...]:
    """Shares as those of functions are estimated, with paths in the place of functions."""
    numbers: dict[Named, int] = {}
    which = [numbers.setdefault(_as_learnt(one), len(numbers)) for one in shown]
    by_code = Counter(number for number, one in zip(which, shown, strict=True) if _is_by_code(one))
    functions = np.array(which, np.int64)
    frames = tuple(Frame(str(number), "") for number in range(len(numbers)))
    samples = replace(
        answer.samples,
        frames=frames,
        functions=functions,
        stacks=functions,
        stack_lengths=np.ones(len(functions), np.int64),
    )
    shares = function_shares(samples, confidence, answer.recorded.unwatched_ratio)
    of_number = list(numbers)
    return tuple(
        PathShare(
            _without_mark(common_end(one.stacks)),
            share.sample_count,
            share.share,
            one.candidates,
            one.candidate_count,
            by_code[int(share.frame.name)],
        )
        for share in shares
        if (one := of_number[int(share.frame.name)]).stacks
    )


def _is_by_code(one: Named) -> bool:
    return bool(one.stacks) and not one.stacks[0].is_learnt


def _as_learnt(one: Named) -> Named:
    """A path that is alone is one path, whether the map or the code has it."""
    if one.candidate_count != 1 or not _is_by_code(one):
        return one
    alone = (replace(one.candidates[0], is_learnt=True),)
    return Named(alone, alone, 1)


def _without_mark(frames: tuple[str, ...]) -> tuple[str, ...]:
    return frames[1:] if frames[:1] == (UNDETERMINED,) else frames
