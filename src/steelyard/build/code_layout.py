"""The layout of a program's code as a value: which objects, which sections, in which order.

What randomises it is pure: a layout and a seed in, a layout out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from steelyard.core.rng import derive_seed

T = TypeVar("T")


@dataclass(frozen=True)
class CodeSection:
    """A section of code that a linker can place by itself, and the functions in it."""

    name: str
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Module:
    """An object file of the project.

    `label` tells it from the others in words that do not depend on where and when it was
    compiled: its path in the build's directory, or the source of a temporary file.
    """

    label: str
    path: str
    sections: tuple[CodeSection, ...]


@dataclass(frozen=True)
class Placed:
    """A section of a module at its place, with so many bytes left free before it."""

    module: Module
    section: CodeSection
    padding_bytes: int = 0


@dataclass(frozen=True)
class Layout:
    """The objects in the order of the link, and the sections of code where they were ordered.

    `order` None leaves the sections to the linker, which takes them as the objects come.
    """

    modules: tuple[Module, ...]
    order: tuple[Placed, ...] | None = None

    def placed(self) -> tuple[Placed, ...]:
        """The sections in their order, which is that of the modules unless one was given."""
        if self.order is not None:
            return self.order
        return tuple(
            Placed(module, section) for module in self.modules for section in module.sections
        )

    def by_module(self) -> list[list[Placed]]:
        """The placed sections of each module that has any, the modules as they come first."""
        found: dict[str, list[Placed]] = {}
        for placed in self.placed():
            found.setdefault(placed.module.label, []).append(placed)
        return list(found.values())

    def with_order(self, order: Iterable[Placed]) -> Layout:
        """This layout with its sections in another order."""
        return replace(self, order=tuple(order))


@dataclass(frozen=True)
class Randomization:
    """One way to change a layout.

    Parameters
    ----------
    name, description : str
        For options, and for people.
    arrange : function of a layout and a seed
        Gives the layout to link. It may look at labels and names alone, so that the same seed
        gives the same program wherever it is built.
    orders : str
        ``"objects"``: it changes the order of the link; ``"sections"``: that of sections of code,
        which takes objects that were compiled with one section for each function.
    draws : bool
        Whether it looks at the seed; False of an order that has a name.
    """

    name: str
    description: str
    arrange: Callable[[Layout, int], Layout]
    orders: str
    draws: bool = True


def shuffled(items: Sequence[T], seed: int) -> list[T]:
    """`items` in a random order, each equally likely (Fisher and Yates; Knuth, 3.4.2, P).

    By seeds of our own, so that no version of Python gives another order.
    """
    found = list(items)
    for last in range(len(found) - 1, 0, -1):
        other = derive_seed(seed, last) % (last + 1)
        found[last], found[other] = found[other], found[last]
    return found


def module_label(placed: Sequence[Placed]) -> str:
    """The label of the module whose sections these are."""
    return placed[0].module.label
