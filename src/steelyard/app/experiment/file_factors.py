"""The factors of an experiment file: entries as the factors that they name, checked."""

from __future__ import annotations

from dataclasses import replace

from steelyard.app.experiment.experiment_entries import FactorEntry
from steelyard.core.errors import UnknownNameError, UsageError
from steelyard.core.experiment_spec import NuisanceFactor
from steelyard.factors.factor import Factor
from steelyard.factors.kinds import FACTORS


def checked_factor(entry: FactorEntry) -> FactorEntry:
    """The entry with its levels as its factor writes them."""
    kind = _kind(entry)
    return replace(entry, levels=tuple(kind.level(text, entry.where) for text in entry.levels))


def nuisance_factor(entry: FactorEntry) -> NuisanceFactor:
    """The factor that draws the levels of an entry.

    Raises
    ------
    UsageError
        The factor cannot be randomised, cannot draw, has no such option, or is given levels
        and options.
    """
    kind = _kind(entry)
    if not kind.is_drawn:
        raise UsageError(
            f"{entry.where}: the factor {kind.name} is not randomised: all of its levels are made "
            "ready before the first trial. Make it a [[factor]].",
            field="nuisance",
        )
    if not entry.levels and kind.draw is None:
        raise UsageError(
            f"{entry.where}: the factor {kind.name} cannot draw levels by itself; name them.",
            field="nuisance",
        )
    for name, _ in entry.options:
        if name not in kind.draws:
            known = ", ".join(kind.draws) or "none"
            raise UsageError(
                f"{entry.where}: the factor {kind.name} has no option {name!r}; known: {known}.",
                field=f"nuisance.{name}",
            )
    if entry.levels and entry.options:
        raise UsageError(
            f"{entry.where}: the factor {kind.name} draws from `levels` or by its options; give "
            "one of them.",
            field="nuisance",
        )
    if not entry.levels:
        kind.check_draws(dict(entry.options), entry.where)
    levels = tuple(kind.level(text, entry.where) for text in entry.levels)
    return NuisanceFactor(entry.name, kind.name, levels, entry.options, entry.texts)


def known_factor(name: str, place: str) -> Factor:
    """The factor called `name`, which stands at `place` of a file or is an option.

    Raises
    ------
    UnknownNameError
        There is none.
    """
    try:
        return FACTORS.get(name)
    except UnknownNameError as error:
        raise UnknownNameError(f"{place}: {error.message}", field=error.field) from None


def _kind(entry: FactorEntry) -> Factor:
    """The factor of an entry, which takes what else the entry says."""
    kind = known_factor(entry.factor, entry.named or entry.where)
    texts = dict(entry.texts)
    for name in texts:
        if name not in kind.texts:
            known = ", ".join(kind.texts) or "nothing"
            raise UsageError(
                f"{entry.where}: the factor {kind.name} takes {known} beside its levels, not "
                f"{name!r}.",
                field=f"factor.{name}",
            )
    if "set" in kind.texts and not ("set" in texts and texts.keys() & {"get", "undo"}):
        raise UsageError(
            f"{entry.where}: the factor {kind.name} needs `set`, and `get` or `undo`, so that the "
            "machine can be put back.",
            field="factor.set",
        )
    return kind
