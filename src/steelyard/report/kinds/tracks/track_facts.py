"""What is told of tracks: what their documents and texts read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from steelyard.core.experiment_results import Caution


class TrackTold(Protocol):
    """A track by name, with the number of its values."""

    @property
    def benchmark(self) -> str: ...
    @property
    def metric(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def repository(self) -> str: ...
    @property
    def branch(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def direction(self) -> str: ...
    @property
    def value_count(self) -> int: ...


class SourceTold(Protocol):
    """What became of one source of values."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def tracks(self) -> int: ...
    @property
    def new_count(self) -> int: ...
    @property
    def known_count(self) -> int: ...


class AdditionTold(Protocol):
    """What became of all sources of a call."""

    @property
    def repository(self) -> str: ...
    @property
    def branch(self) -> str: ...
    @property
    def sources(self) -> Sequence[SourceTold]: ...
    @property
    def cautions(self) -> Sequence[Caution]: ...
