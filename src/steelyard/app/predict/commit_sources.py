"""What a repository says of two versions of a program: changed sources, and the commits between."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.predict.commits.pair_rows import ChangedSources, PairNames


def changed_sources(path: str, names: PairNames) -> tuple[ChangedSources, PairNames]:
    """The files that differ between the known and the unknown revision.

    The names get what the repository knows of the pair and nobody told: the distance is how many
    commits the unknown revision has that the known one has not, the order how many it has.

    Raises
    ------
    UsageError
        There is no repository, or it lacks one of the revisions.
    """
    from steelyard.predict.commits.pair_rows import ChangedSources
    from steelyard.repository.revisions import (
        changed_lines_between,
        count_commits,
        find_repository,
        resolve,
    )

    repository = find_repository(path)
    old = resolve(repository, names.known, "--known")
    new = resolve(repository, names.unknown, "--unknown")
    lines = changed_lines_between(repository, old, new)
    ordered = sorted(lines.items(), key=lambda item: (-item[1], item[0]))
    distance, order = names.distance, names.order
    if isnan(distance):
        distance = float(count_commits(repository, new, old))
    if isnan(order):
        order = float(count_commits(repository, new))
    return ChangedSources(tuple(ordered)), replace(names, distance=distance, order=order)
