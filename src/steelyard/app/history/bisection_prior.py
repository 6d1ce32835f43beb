"""What is known of revisions before a search tests any: weights, and values of the history."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import fsum, log, log2
from statistics import median
from typing import TYPE_CHECKING

from steelyard.analysis.bisection.evidence import Level, evidence_of_value
from steelyard.app.history.stored_tracks import Chosen, loaded_tracks, stored_tracks
from steelyard.core.decoding import decoding, open_regular
from steelyard.core.errors import DataError, UsageError
from steelyard.core.units import LARGEST_VALUE
from steelyard.repository.revisions import Commit, Repository, changed_lines, resolved
from steelyard.store.track_store import TrackStore
from steelyard.store.whole_file import file_errors

if TYPE_CHECKING:
    from steelyard.app.results.library import Library
    from steelyard.core.tracks import Track

# A median absolute deviation times this is a standard deviation of normal values.
_NORMAL = 1.4826
# Values before the good end that its level is the mean of, at most.
_LEVEL_VALUES = 5


def weights_by_lines(repository: Repository, commits: Sequence[Commit]) -> dict[str, float]:
    """More for a commit that changes more: the binary logarithm of 2 and its lines.

    A merge that changes nothing of its own has 1, so that every revision may be the one.
    """
    return {
        commit.revision: log2(2 + sum(changed_lines(repository, commit.revision).values()))
        if len(commit.parents) < 2
        else 1.0
        for commit in commits
    }


def weights_of_file(path: str, repository: Repository) -> dict[str, float]:
    """The weights of a JSON object from revisions to numbers.

    Raises
    ------
    DataError
        It is something else, or names what git does not know.
    """
    found = read_weights(path)
    names = resolved(repository, found)
    unknown = next((name for name in found if name not in names), None)
    if unknown is not None:
        raise DataError(f"{path}: git does not know the revision {unknown!r}.")
    return {names[name]: weight for name, weight in found.items()}


def read_weights(path: str) -> dict[str, float]:
    """The object as it stands in the file.

    Raises
    ------
    DataError
        It is something else.
    """
    with file_errors(path, "read"), open(open_regular(path), "rb") as file:
        data = file.read()
    with decoding(f"{path} is no JSON object of weights by revision"):
        weights = json.loads(data.decode("utf-8-sig"))
        if not isinstance(weights, dict) or not weights:
            raise ValueError("it is no object, or an empty one")
    for name, value in weights.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0.0 <= value <= LARGEST_VALUE:
            raise DataError(
                f"{path}: the weight of {name!r} is a number from 0 on, at most "
                f"{LARGEST_VALUE:.0e}, not {value!r}."
            )
    return {name: float(value) for name, value in weights.items()}


def adopted_evidence(library: Library, chosen: Chosen, good: str, bad: str) -> dict[str, float]:
    """What the values of a track that the history has say of its revisions.

    Parameters
    ----------
    library : Library
    chosen : Chosen
        The one track.
    good, bad : str
        Whole names of the ends; the levels are those of the track there.

    Returns
    -------
    dict of str to float
        The log-likelihood ratio for having the change, by revision.

    Raises
    ------
    UsageError
        No track fits, or several; or it says nothing of an end.
    """
    tracks = list(loaded_tracks(TrackStore(library.store), stored_tracks(library, chosen)))
    if len(tracks) != 1:
        names = ", ".join(f"{t.track.name.benchmark} {t.track.name.metric}" for t in tracks[:5])
        raise UsageError(
            f"--adopt takes the values of one track, and {len(tracks)} fit: {names}. Say which by "
            "--adopt BENCHMARK:METRIC.",
            field="--adopt",
        )
    return dict(_evidence(tracks[0].track, good, bad))


def _evidence(track: Track, good: str, bad: str) -> Iterator[tuple[str, float]]:
    points = [point for point in track.points if point.value > 0.0]
    places = {point.revision: place for place, point in enumerate(points)}
    if good not in places or bad not in places:
        missing = good if good not in places else bad
        raise UsageError(
            f"The track has no value at {missing[:12]}, so that its level there is not known.",
            field="--adopt",
        )
    logarithms = [log(point.value) for point in points]
    steps = [abs(b - a) for a, b in pairwise(logarithms)]
    deviation = max(_NORMAL * median(steps) / 2**0.5, 1e-9)
    before = logarithms[max(0, places[good] - _LEVEL_VALUES + 1) : places[good] + 1]
    fast = Level(fsum(before) / len(before), deviation / len(before) ** 0.5)
    slow = Level(logarithms[places[bad]], deviation)
    for point, value in zip(points, logarithms, strict=True):
        if point.revision not in (good, bad):
            yield point.revision, evidence_of_value(value, deviation, fast, slow)
