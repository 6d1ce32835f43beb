"""What a factor is: levels, how they are drawn, and what each does to a variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Variant

Part = Literal["launch", "build", "host"]


@dataclass(frozen=True)
class Factor:
    """Something that an experiment can vary.

    Parameters
    ----------
    name : str
        What experiment files call it.
    description : str
        What it changes, in a sentence.
    part : str
        ``"launch"``: each trial can have its own level. ``"build"``: the program is built for
        each level. ``"host"``: the machine is at the level while the trial runs.
    normal : callable
        From a level as written to its normal form; raises ValueError with what is wanted.
    apply : callable
        From a variant and a normal level to the variant at that level.
    draw : callable or None
        From a seed and the options of `draws` to a level in its normal form; None for a factor
        whose levels only a person can name.
    draws : mapping of str to int
        The options of `draw` with their defaults.
    texts : mapping of str to str
        What else an experiment file may say of it, each with a sentence.
    is_drawn : bool
        Whether it can be a nuisance factor: False where all of its levels are made ready before
        the first trial.
    """

    name: str
    description: str
    part: Part
    normal: Callable[[str], str]
    apply: Callable[[Variant, str], Variant]
    draw: Callable[[int, Mapping[str, int]], str] | None = None
    draws: Mapping[str, int] = field(default_factory=dict[str, int])
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    is_drawn: bool = True

    def level(self, text: str, where: str) -> str:
        """A level in its normal form.

        Raises
        ------
        UsageError
            It is none; the message names `where`.
        """
        try:
            return self.normal(text)
        except ValueError as error:
            raise UsageError(
                f"{where}: the factor {self.name} has no level {text!r}; {error}.", field=where
            ) from None

    def check_draws(self, options: Mapping[str, int], where: str) -> None:
        """Refuse options of `draw` that leave no level, or lead beyond those that there are.

        Raises
        ------
        UsageError
            The message names `where`.
        """
        if self.draw is None:
            return
        try:
            for seed in (0, -1):  # The first and the last level of a range.
                self.normal(self.draw(seed, {**self.draws, **options}))
        except ValueError as error:
            told = ", ".join(f"{name} = {value}" for name, value in options.items())
            raise UsageError(
                f"{where}: the factor {self.name} cannot draw with {told}; {error}.", field=where
            ) from None

    def at(
        self, variant: Variant, level: str, name: str, texts: tuple[tuple[str, str], ...] = ()
    ) -> Variant:
        """`variant` at `level`, under the name that the factor has in tables.

        `texts` are what else the experiment file says of it.
        """
        changed = self.apply(variant, level)
        if self.part != "host":
            return changed
        asked = replace(changed.host[-1], factor=name, texts=texts)
        return replace(changed, host=(*changed.host[:-1], asked))


def whole_number(low: int, high: int) -> Callable[[str], str]:
    """Levels that are whole numbers from `low` to `high`."""

    def normal(text: str) -> str:
        if not text.strip().lstrip("-").isdigit() or not low <= int(text) <= high:
            raise ValueError(f"it takes a whole number from {low} to {high}")
        return str(int(text))

    return normal


def one_of(*levels: str) -> Callable[[str], str]:
    """Levels that are names."""

    def normal(text: str) -> str:
        if text not in levels:
            raise ValueError(f"it takes {', '.join(levels)}")
        return text

    return normal


def any_text(text: str) -> str:
    """Levels that are whatever the user writes."""
    return text


def drawn_number(seed: int, low: int, high: int, step: int = 1) -> str:
    """A whole number from `low` to `high`, both included, in steps from `low`.

    Raises
    ------
    ValueError
        There is none.
    """
    if low > high or step < 1:
        raise ValueError("it takes a minimum up to the maximum, and a step from 1 on")
    return str(low + step * (seed % ((high - low) // step + 1)))
