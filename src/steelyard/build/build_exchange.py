"""Who else may have a build that is wanted here, or may want one that is made here.

A worker of a service is told of every build that is asked for, and can bring one that another
worker has made. Whoever asks for builds need not know of that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from steelyard.build.run_build import Build
from steelyard.core.errors import BuildFailedError


class BuildExchange(Protocol):
    """Told of each build by its key, and asked for those that are not in the cache."""

    def found(self, key: str, build: Build) -> None:
        """A build was in the cache."""
        ...

    def brought(self, key: str, directory: str) -> Build | None:
        """Bring a build that is not in the cache to its place `directory`; None where it is to be
        made here.

        Raises
        ------
        BuildFailedError
            It failed where it was made.
        """
        ...

    def made(self, key: str, build: Build) -> None:
        """A build was made here."""
        ...

    def failed(self, key: str, error: BuildFailedError) -> None:
        """A build could not be made here."""
        ...


_exchange: ContextVar[BuildExchange | None] = ContextVar("build exchange", default=None)
_known_failures: dict[str, str] = {}


@contextmanager
def exchanging(exchange: BuildExchange) -> Iterator[None]:
    """Have builds exchanged by `exchange` until the block ends."""
    held = _exchange.set(exchange)
    try:
        yield
    finally:
        _exchange.reset(held)


def current_exchange() -> BuildExchange | None:
    """Who exchanges builds now."""
    return _exchange.get()


def know_failures(path: str) -> None:
    """Take builds for failed from now on that a file names, with why: they are not tried here.

    Raises
    ------
    OSError, ValueError
        It cannot be read.
    """
    with open(path, encoding="utf-8") as file:
        _known_failures.update(json.load(file))


def write_failures(path: str, failures: Mapping[str, str]) -> None:
    """Write a file for `know_failures`: messages by the keys of builds."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(dict(failures), file)


def refuse_known_failure(key: str) -> None:
    """Raise what a build is known to fail with, if it is.

    Raises
    ------
    BuildFailedError
    """
    if key in _known_failures:
        raise BuildFailedError(_known_failures[key], field="build")
