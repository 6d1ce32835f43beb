"""What is asked of a table or an experiment, from what a user typed."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.analysis.tables.analysis_method import Method, Question, Result
from steelyard.core.errors import UsageError

__all__ = ["Method", "Question", "Result", "method_names", "method_options"]


def method_options(texts: Iterable[str]) -> dict[str, str]:
    """A method's own options, from ``NAME=VALUE`` each.

    Raises
    ------
    UsageError
        One is not of this form.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--option takes NAME=VALUE; it got {text!r}.", field="--option")
        found[name] = value
    return found


def method_names() -> list[str]:
    """The names of all analyses."""
    from steelyard.analysis.methods import ANALYSES

    return ANALYSES.names()
