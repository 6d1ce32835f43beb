"""Levels that are a name, or ``random:N`` with a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from steelyard.core.experiment_spec import Variant
from steelyard.factors.builds import built, with_randomization
from steelyard.factors.factor import Factor

DEFAULT = "default"
_RANDOM = "random:"
# As many as Mytkowicz (2010, section 4.3) tried link orders.
_ORDERS = 22


def seeded_level(*names: str) -> Callable[[str], str]:
    """Checks a level that is one of `names`, or ``random:N``."""

    def normal(text: str) -> str:
        if text in names:
            return text
        seed = text.removeprefix(_RANDOM)
        if not text.startswith(_RANDOM) or not seed.isdigit():
            raise ValueError(f"it takes {', '.join(names)} or random:N with a whole number N")
        return f"{_RANDOM}{int(seed)}"

    return normal


def numbered_seed(level: str) -> int:
    """The seed in ``random:N``."""
    return int(level.removeprefix(_RANDOM))


def drawn_seed(seed: int, options: Mapping[str, int]) -> str:
    """``random:N`` with one of as many seeds as the option ``orders`` says.

    Raises
    ------
    ValueError
        That is none.
    """
    if options["orders"] < 1:
        raise ValueError("it takes orders from 1 on")
    return f"{_RANDOM}{1 + seed % options['orders']}"


def seeded_factor(
    name: str, description: str, named: Mapping[str, str | None] | None = None
) -> Factor:
    """A factor of the build that the randomisation of the same name realises from a seed.

    Parameters
    ----------
    named : mapping of level to randomisation
        Levels with a name, each with the randomisation that gives it; None: the build as it is.
        By default there is ``default`` alone.
    """
    levels = {DEFAULT: None} if named is None else named

    def apply(variant: Variant, level: str) -> Variant:
        if level not in levels:
            return with_randomization(variant, name, name, numbered_seed(level))
        randomization = levels[level]
        if randomization is None:
            built(variant, name)
            return variant
        return with_randomization(variant, name, randomization, None)

    return Factor(
        name=name,
        description=description,
        part="build",
        normal=seeded_level(*levels),
        apply=apply,
        draw=drawn_seed,
        draws={"orders": _ORDERS},
    )
