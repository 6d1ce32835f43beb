"""What a kind of source does: put a release's artifacts into a directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from steelyard.core.errors import FetchError
from steelyard.suite.recipe import Artifact, Release, Source


class NotOfferedError(FetchError):
    """The archive can be reached but has not this version, or no longer."""


@dataclass(frozen=True)
class Wanted:
    """What is to be fetched.

    Parameters
    ----------
    source : Source
    release : Release
    artifacts : tuple of Artifact
        Those that are missing.
    """

    source: Source
    release: Release
    artifacts: Sequence[Artifact]


class Fetch(Protocol):
    """Puts every artifact that is wanted into `directory` under its name.

    What an earlier, interrupted call left in `directory` is gone on with where the client can.
    `state` is a directory that all calls share, for what the client keeps.

    Raises `NotOfferedError` or `FetchError`.
    """

    def __call__(self, wanted: Wanted, directory: str, state: str) -> None: ...
