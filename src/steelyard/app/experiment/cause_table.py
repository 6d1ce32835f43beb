"""The table ``[cause]`` of an experiment file, or the options in its place: read field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from steelyard.app.experiment.experiment_entries import ExperimentFile, FactorEntry
from steelyard.app.experiment.file_factors import known_factor
from steelyard.app.experiment.toml_lines import field_place
from steelyard.app.request.command_text import split_command
from steelyard.core.errors import DataError
from steelyard.core.rng import derive_seed

if TYPE_CHECKING:
    pass

# Levels to draw where a file names none: with fewer a spread is hardly known.
DRAWN_COUNT = 16
_MOST_TRIES = 100


COMMAND_LINE = "the command line"
# What fields of the table [cause] are called as options.
_OPTIONS = {
    "command": "--instead",
    "draw": "--levels",
    "intervention": "--intervene",
    "response": "--metric",
}


class CauseTable:
    """The table ``[cause]`` with errors that name the line."""

    def __init__(self, file: ExperimentFile) -> None:
        self.path = file.path
        self.table = file.cause

    def text(self, name: str) -> str:
        """A field that is text and must be there."""
        value = self.table.get(name)
        if not isinstance(value, str) or not value.strip():
            self.fail(name, "it is missing" if value is None else f"it takes text, not {value!r}")
        return value

    def fail(self, name: str, message: str) -> NoReturn:
        """Complain of a field."""
        raise DataError(f"{self.place(name)}: {message}.", field=self.field(name))

    def place(self, name: str) -> str:
        """The file, the line and the field; or the option, where the call came by options."""
        if self.path == COMMAND_LINE:
            return _OPTIONS.get(name, f"--{name}")
        return field_place(self.path, "cause", name)

    def field(self, name: str) -> str:
        """A field or an option by its name."""
        return self.place(name) if self.path == COMMAND_LINE else f"cause.{name}"


def varied_factor(said: CauseTable, seed: int) -> FactorEntry:
    """The factor to vary, at the levels that the file names or that are drawn from the seed."""
    name = said.text("factor")
    kind = known_factor(name, said.place("factor"))
    if "levels" in said.table:
        levels = said.table["levels"]
        if not isinstance(levels, list | tuple) or len(levels) < 2:
            shown = ", ".join(map(repr, levels)) if isinstance(levels, list) else repr(levels)
            said.fail("levels", f"it takes two levels or more, not {shown}")
        found = tuple(kind.level(_level(level), said.place("levels")) for level in levels)
        if len(set(found)) < len(found):
            said.fail("levels", "a level is named twice")
        return FactorEntry(name, name, found, where=said.place("levels"))
    if kind.draw is None:
        said.fail("levels", f"the factor {name} cannot draw levels by itself; name them")
    options = said.table.get("draw", {})
    if not isinstance(options, Mapping) or not all(type(v) is int for v in options.values()):
        said.fail("draw", "it takes whole numbers, such as {count = 16, maximum = 4000}")
    wanted = options.get("count", DRAWN_COUNT)
    unknown = [option for option in options if option not in ("count", *kind.draws)]
    if unknown or wanted < 2:
        known = ", ".join(("count (2 or more)", *kind.draws))
        said.fail("draw", f"the factor {name} takes {known}")
    said_draws = {name: value for name, value in options.items() if name != "count"}
    kind.check_draws(said_draws, said.place("draw"))
    draws = {**kind.draws, **said_draws}
    drawn: dict[str, None] = {}
    for number in range(wanted * _MOST_TRIES):
        drawn[kind.draw(derive_seed(seed, "cause", number), draws)] = None
        if len(drawn) == wanted:
            break
    if len(drawn) < wanted:
        said.fail("draw", f"the factor {name} has not {wanted} levels to draw")
    levels = sorted(drawn, key=lambda level: (len(level), level))
    return FactorEntry(name, name, tuple(levels), where=said.place("draw"))


def _level(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def held_factors(said: CauseTable) -> list[tuple[str, str]]:
    """The factors that the intervention sets, with their levels."""
    held = said.table.get("intervention", {})
    if not isinstance(held, Mapping):
        said.fail("intervention", "it takes factors with their levels, such as stack-hold = 4000")
    found: list[tuple[str, str]] = []
    for name, level in held.items():
        kind = known_factor(str(name), said.place("intervention"))
        if name == said.table.get("factor"):
            said.fail("intervention", f"it sets {name}, which is what is varied")
        found.append((kind.name, kind.level(_level(level), said.place("intervention"))))
    return found


def command_instead(said: CauseTable) -> tuple[str, ...] | None:
    """The command that the intervention runs instead."""
    value = said.table.get("command")
    if value is None:
        return None
    if isinstance(value, list | tuple) and value:
        return tuple(str(word) for word in value)
    return split_command(said.text("command"), said.field("command"))
