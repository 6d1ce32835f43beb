"""The initial experiment of a dimensioning: how often it repeats each level."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.identifier import LENGTH, is_identifier
from steelyard.core.repetition import BUILD_LEVEL, EXECUTION_LEVEL

ITERATION_LEVEL = "iteration"
LATEST = "latest"
# Kalibera and Jones, ISMM 2013, section 9.1: "20 may be a good choice but use 30 if possible";
# with many levels "fewer repetitions (say, 10) at lower levels".
FEW_LEVELS = 2
COUNT_OF_FEW = 30
TOP_COUNT_OF_MANY = 20
COUNT_OF_MANY = 10


def initial_counts(
    named: Sequence[str], repeat: Sequence[str], *, builds: bool, iterations: bool
) -> tuple[str, ...]:
    """`repeat` with the counts of those levels that it does not name, as ``LEVEL=COUNT``.

    Up to two levels are repeated 30 times each; of more, the highest 20 times and each below it
    10 times.
    """
    levels = [text.partition("=")[0] for text in named]
    levels += [BUILD_LEVEL] if builds else []
    levels.append(EXECUTION_LEVEL)
    levels += [ITERATION_LEVEL] if iterations else []
    said = {text.partition("=")[0] for text in repeat}
    # A level that is not repeated is none: one build for all executions.
    repeated = [level for level in levels if f"{level}=1" not in repeat]
    many = len(repeated) > FEW_LEVELS
    counts: list[str] = []
    for level in levels:
        if level in said:
            continue
        below = COUNT_OF_MANY if many else COUNT_OF_FEW
        top = TOP_COUNT_OF_MANY if many else COUNT_OF_FEW
        counts.append(f"{level}={top if repeated[:1] == [level] else below}")
    return (*repeat, *counts)


def names_experiment(words: Sequence[str]) -> bool:
    """Whether `words` name a stored experiment, and not a command.

    An experiment is ``latest`` or the beginning of an identifier, which starts with a 0 until the
    year 2248.
    """
    if len(words) != 1:
        return False
    word = words[0].upper()
    padded = word + "0" * (LENGTH - len(word))
    return word == LATEST.upper() or (word.startswith("0") and is_identifier(padded))
