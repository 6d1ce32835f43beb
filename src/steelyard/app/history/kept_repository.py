"""A repository under the name that the history has for it."""

from __future__ import annotations

from dataclasses import replace

from steelyard.repository.project_address import project_of
from steelyard.repository.revisions import Repository
from steelyard.store.track_store import TrackStore


def as_kept(repository: Repository, tracks: TrackStore) -> Repository:
    """The repository, named as the tracks of its project are.

    A clone by ssh and one by https have other addresses, and are one project.
    """
    known = {track.repository for track in tracks.tracks()} - {""}
    if repository.name in known:
        return repository
    project = project_of(repository.name)
    name = next((name for name in sorted(known) if project_of(name) == project), repository.name)
    return replace(repository, name=name)
