"""Values that no command prints: those that the user gave, and secrets of the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache

from steelyard.core.masking import worth_hiding
from steelyard.core.recorded_names import names_secret

_GIVEN: set[str] = set()
_SHOWING: set[str] = set()


def hide(values: Iterable[str | None]) -> None:
    """Print these values nowhere from now on."""
    _GIVEN.update(value for value in values if value is not None and worth_hiding(value))


def show_secrets() -> None:
    """Print secrets from now on: the user has asked for them."""
    _SHOWING.add("all")


def secrets_are_shown() -> bool:
    """Whether the user has asked for secrets."""
    return bool(_SHOWING)


def unless_asked(secrets: bool) -> tuple[str, ...] | None:
    """What is to be hidden in an experiment: nothing at all where the user asked for secrets."""
    return None if secrets else hidden_values()


def hidden_values() -> tuple[str, ...]:
    """All values to be masked, the longest first."""
    return tuple(sorted({*_GIVEN, *_of_environment()}, key=len, reverse=True))


@cache
def _of_environment() -> frozenset[str]:
    return frozenset(
        value
        for name, value in os.environ.items()
        if names_secret(name) and worth_hiding(value) and not os.path.exists(value)
    )
