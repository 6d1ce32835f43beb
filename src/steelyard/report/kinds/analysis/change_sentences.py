"""What each factor of two levels does, in words, for who reads no table of effects."""

from __future__ import annotations

from steelyard.analysis.tables.table_analysis import Analysis, Effect
from steelyard.core.estimate import Estimate
from steelyard.report.kinds.analysis.tables import change_text
from steelyard.report.texts.readable import one_line

_MOST = 12


def change_sentences(found: Analysis) -> list[str]:
    """A sentence for each main effect that has a change from a low level to a high one.

    A change whose interval holds 0 is said to be not shown: it may be there, and be small.
    """
    ends = {
        coding.factor: (coding.levels[0].level, coding.levels[-1].level)
        for coding in found.codings
        if len(coding.levels) == 2
    }
    told = [effect for effect in found.effects if effect.term in ends]
    return [_sentence(effect, found.response, ends[effect.term]) for effect in told[:_MOST]]


def _sentence(effect: Effect, response: str, ends: tuple[str, str]) -> str:
    low, high = map(one_line, ends)
    about = f"{one_line(effect.term)}: from {low} to {high} {one_line(response)}"
    change = effect.change
    if not isinstance(change, Estimate):
        return f"{about} changes by an amount that these trials cannot bound."
    if change.low <= 0 <= change.high:
        return f"{about} shows no change: {change_text(effect)}."
    word = "rises" if change.estimate > 0 else "falls"
    return f"{about} {word}: {change_text(effect)}."
