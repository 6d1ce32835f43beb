"""What an experiment requires of a host: a fact, and the values that will do."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from steelyard.allocation.worker_facts import FACTS, Fact
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_size

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Requirement:
    """One fact of a host and what it must be.

    Parameters
    ----------
    fact : str
        A name of `worker_facts.FACTS`.
    comparison : str
        ``=``, ``>=``, ``<=``, ``>``, ``<``; of texts and sets ``=`` alone.
    values : tuple of str
        As written. A text must be one of them, a set must hold all of them, a number has one.
    """

    fact: str
    comparison: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        """As people write it."""
        verb = "has" if FACTS[self.fact] == "set" else self.comparison
        return f"{self.fact} {verb} {' or '.join(self.values)}".replace(
            " or ", " and " if verb == "has" else " or "
        )

    def holds(self, facts: Mapping[str, Fact]) -> bool:
        """Whether a host with these facts will do; one of which the fact is not known will not."""
        known = facts.get(self.fact)
        if known is None:
            return False
        if isinstance(known, frozenset):
            return known.issuperset(self.values)
        if isinstance(known, str):
            return known in self.values
        return _COMPARISONS[self.comparison](known, _number(self))


def _number(requirement: Requirement) -> float:
    value = requirement.values[0]
    if FACTS[requirement.fact] == "size":
        return float(parse_size(value, requirement.fact))
    return float(value)


def read_requirements(given: Mapping[str, object], where: str) -> tuple[Requirement, ...]:
    """The requirements that a table says, such as ``{memory = ">= 8G", flags = ["avx2"]}``.

    Raises
    ------
    UsageError
        A fact is none, or its values are of the wrong kind; the message names it under `where`.
    """
    return tuple(_requirement(name, value, f"{where}.{name}") for name, value in given.items())


def _requirement(name: str, value: object, where: str) -> Requirement:
    kind = FACTS.get(name)
    if kind is None:
        raise UsageError(
            f"{where}: nothing is known of hosts by the name {name!r}. Known: {', '.join(FACTS)}.",
            field=where,
        )
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    if not items or not all(type(item) in (str, int, float) for item in items):
        raise UsageError(f"{where} takes text, a number or a list, not {value!r}.", field=where)
    texts = tuple(str(item).strip() for item in items)
    if kind in ("text", "set"):
        return Requirement(name, "=", texts)
    if len(texts) != 1:
        raise UsageError(f'{where} takes one value, such as ">= 4", not {value!r}.', field=where)
    return _of_number(name, texts[0], where)


def _of_number(name: str, text: str, where: str) -> Requirement:
    sign = next((sign for sign in (">=", "<=", ">", "<", "=") if text.startswith(sign)), "=")
    number = text.removeprefix(sign).strip()
    found = Requirement(name, sign, (number,))
    try:
        _number(found)
    except (UsageError, ValueError):
        example = '">= 8GiB"' if FACTS[name] == "size" else '">= 4"'
        raise UsageError(
            f"{where} takes {example} or the like, not {text!r}.", field=where
        ) from None
    return found


def eligible(requirements: Iterable[Requirement], facts: Mapping[str, Fact]) -> bool:
    """Whether a host with these facts meets all of them."""
    return all(each.holds(facts) for each in requirements)
