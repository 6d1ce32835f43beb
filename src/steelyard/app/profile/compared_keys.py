"""Compare two profiles of one build by the keys of their samples."""

from __future__ import annotations

from steelyard.analysis.paths.key_comparison import ComparedKeys, KeyedProfile, compared_keys
from steelyard.app.profile.keyed_samples import plain_keys
from steelyard.app.profile.record_profile import read_answer
from steelyard.core.errors import DataError, UsageError


def compare_keys(first: str, second: str, confidence: float = 0.95) -> ComparedKeys:
    """Compare two profiles that were recorded with `--paths`; no map is read.

    Parameters
    ----------
    first, second : str
        Profiles; the differences are the second's shares minus the first's.
    confidence : float

    Raises
    ------
    UsageError
        One was recorded without the stacks of threads, or they do not count the same.
    DataError
        One is damaged, or they are of different builds.
    """
    answers = [read_answer(path, confidence) for path in (first, second)]
    founds = [plain_keys(path) for path in (first, second)]
    (one, other) = founds
    if (one.program, one.build) != (other.program, other.build):
        raise DataError(
            f"{first} is of {one.program}, build {one.build}; {second} is of {other.program}, "
            f"build {other.build}.\nHeights and functions of different builds are not the same "
            "keys: compare two recordings of one build.",
            field="profile",
        )
    kinds = [str(answer.recorded.header.get("event")) for answer in answers]
    if kinds[0] != kinds[1]:
        raise UsageError(
            f"{first} has samples by {kinds[0]}, {second} by {kinds[1]}: shares of different "
            "things are not compared.",
            field="profile",
        )
    return ComparedKeys(
        one.program,
        one.build,
        *answers,
        functions={**one.functions, **other.functions},
        differences=compared_keys(
            KeyedProfile(answers[0], one.keys), KeyedProfile(answers[1], other.keys), confidence
        ),
        confidence=confidence,
    )
