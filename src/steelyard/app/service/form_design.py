"""The design, the constraints and the packages that the fields of a form stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.app.experiment.experiment_fields import DESIGN_KINDS
from steelyard.core.errors import UsageError

# With these a small part of the combinations is run, and an analysis proposes which factors matter.
SCREENINGS = ("fractional-factorial", "plackett-burman")
_WHOLE = ("fraction", "points", "interactions")
_OPTIONS = ("memory", "disk", "processes", "environment")


def design_table(fields: Mapping[str, str]) -> dict[str, Any]:
    """The table ``[design]`` of the fields ``design`` and ``design_...``; empty for the full one.

    Raises
    ------
    UsageError
        A field is no whole number, or goes with another design.
    """
    kind = fields.get("design", "")
    given = {
        name.removeprefix("design_"): value
        for name, value in fields.items()
        if name.startswith("design_") and value
    }
    if kind in ("", DESIGN_KINDS[0]):
        if given:
            raise UsageError(
                f"{', '.join(given)}: this goes with a design that leaves combinations out. Choose "
                "one, or leave it empty.",
                field="design",
            )
        return {}
    if kind not in DESIGN_KINDS:
        raise UsageError(
            f"A design is one of {', '.join(DESIGN_KINDS)}, not {kind!r}.", field="design"
        )
    found: dict[str, Any] = {"kind": kind}
    for name, value in given.items():
        if name == "generators":
            found[name] = [each.strip() for each in value.split(",") if each.strip()]
        elif name == "folded":
            found[name] = True
        elif name in _WHOLE:
            found[name] = _whole(name, value)
    return found


def analysis_method(kind: str, follows: bool) -> str:
    """What a design is analysed by."""
    return "screening" if kind == "plackett-burman" or (follows and kind in SCREENINGS) else "anova"


def constraint_table(row: Mapping[str, str]) -> dict[str, Any]:
    """A table ``[[constraint]]`` of a row.

    Raises
    ------
    UsageError
        It is not whole.
    """
    if not row["when"] or not row["then"]:
        raise UsageError(
            "A row of constraints has factors with levels on both sides, such as flags=-O0 and "
            "aslr=off.",
            field="constraint",
        )
    kind = row["constraint"] or "require"
    if kind not in ("require", "forbid"):
        raise UsageError(f"A constraint is require or forbid, not {kind!r}.", field="constraint")
    return {"when": _levels(row["when"]), kind: _levels(row["then"])}


def package_table(row: Mapping[str, str], digests: Mapping[str, str]) -> dict[str, Any]:
    """A benchmark of a row of packages, each known by a name with its digest.

    Raises
    ------
    UsageError
        No such package was sent.
    """
    name = row["package"]
    if name not in digests:
        raise UsageError(
            "A row of packages names none that was sent. `steelyard submit` sends packages, and so "
            "does POST api/packages.",
            field="package",
        )
    options = {each: row[f"package_{each}"] for each in _OPTIONS if row.get(f"package_{each}")}
    typed = {
        each: _whole(each, value) if each == "processes" else value
        for each, value in options.items()
    }
    found: dict[str, Any] = {"name": row["package_name"] or name, "package": name}
    return {**found, "package_options": typed} if typed else found


def _whole(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise UsageError(f"{name} takes a whole number, not {value!r}.", field="design")
    return int(value)


def _levels(text: str) -> dict[str, str | list[str]]:
    """Factors with a level, or with several between bars: ``flags=-O0|-O1, aslr=off``."""
    found: dict[str, str | list[str]] = {}
    for each in filter(None, (part.strip() for part in text.split(","))):
        name, separator, levels = each.partition("=")
        several: Sequence[str] = [level.strip() for level in levels.split("|") if level.strip()]
        if not separator or not name.strip() or not several:
            raise UsageError(
                f"A constraint has factor=level, or factor=level|level, not {each!r}.",
                field="constraint",
            )
        found[name.strip()] = several[0] if len(several) == 1 else list(several)
    return found
