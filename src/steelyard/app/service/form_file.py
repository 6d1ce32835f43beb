"""The experiment file that the fields of a form stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.allocation.hosts_asked import BUILDS
from steelyard.allocation.worker_facts import FACTS, HOST_FACTORS
from steelyard.app.experiment.toml_text import toml_text
from steelyard.app.service.form_design import (
    analysis_method,
    constraint_table,
    design_table,
    package_table,
)
from steelyard.core.errors import UsageError

Fields = Mapping[str, Sequence[str]]
# Of each list of rows those that a form has to begin with; more come as these are filled.
FEWEST_ROWS = {
    "command": 2, "factor": 2, "nuisance": 1, "require": 2, "constraint": 1, "package": 1,
}  # fmt: skip
ROWS: Mapping[str, tuple[str, ...]] = {
    "command": ("command", "command_name", "command_build", "command_source"),
    "factor": ("factor", "factor_levels", "factor_share", "factor_name"),
    "nuisance": ("nuisance", "nuisance_levels"),
    "require": ("require", "require_value"),
    "constraint": ("when", "constraint", "then"),
    "package": ("package", "package_name", "package_memory", "package_processes"),
}
_SIZES = ("test", "train", "ref")
_WHOLE = ("replicates", "warmup", "seed")
# Of a name that is made: what it lists, and how long it gets.
_NAMED, _LONGEST_NAME = 3, 100
_SETTINGS = ("name", "seed", "precision", "budget", "warmup", "timeout")
_OF_HOSTS = ("replicates", "workers", "reboot", "builds", "time_limit", "cost_limit")


def field_of(fields: Fields, name: str) -> str:
    """The last value of a field, without blanks around it."""
    return next(iter(fields.get(name, ())[-1:]), "").strip()


def rows_of(fields: Fields, kind: str) -> list[dict[str, str]]:
    """The filled rows of a list, each with all its fields."""
    names = ROWS[kind]
    columns = [[value.strip() for value in fields.get(name, ())] for name in names]
    count = max(len(column) for column in columns)
    padded = [column + [""] * (count - len(column)) for column in columns]
    rows = [dict(zip(names, values, strict=True)) for values in zip(*padded, strict=True)]
    return [row for row in rows if any(row[name] for name in names if name != "constraint")]


def form_file(fields: Fields, packages: Mapping[str, str] | None = None) -> str:
    """The text of the file.

    Parameters
    ----------
    fields : mapping
    packages : mapping of str to str, optional
        The digests of packages that were sent, by what the form calls them.

    Raises
    ------
    UsageError
        A row lacks what makes it one, or there is nothing to run.
    """
    sent = [package_table(row, packages or {}) for row in rows_of(fields, "package")]
    benchmarks = [*_programs(fields), *map(_command, rows_of(fields, "command")), *sent]
    if not benchmarks:
        raise UsageError("Choose a program of the suite, or write a command.", field="program")
    design = design_table({name: field_of(fields, name) for name in fields})
    follows = bool(field_of(fields, "follow_up"))
    method = analysis_method(str(design.get("kind", "")), follows)
    tables: dict[str, Any] = {
        "experiment": {"name": _name(fields, benchmarks), **_settings(fields)},
        "benchmark": benchmarks,
        "factor": [_factor(row) for row in rows_of(fields, "factor")],
        "nuisance": [_nuisance(row) for row in rows_of(fields, "nuisance")],
        "constraint": [constraint_table(row) for row in rows_of(fields, "constraint")],
        "design": design,
        "hosts": _hosts(fields),
        "analysis": {"method": method} if rows_of(fields, "factor") else {},
    }
    return toml_text({name: table for name, table in tables.items() if table})


def _name(fields: Fields, benchmarks: Sequence[Mapping[str, Any]]) -> str:
    """What the experiment is called where nobody gave a name: what is run, and what is varied."""
    run = [str(each.get("name", each.get("command", ""))) for each in benchmarks]
    varied = [row["factor_name"] or row["factor"] for row in rows_of(fields, "factor")]
    by = f" by {_listed(varied)}" if varied else ""
    return f"{_listed(run)}{by}"[:_LONGEST_NAME]


def _listed(words: Sequence[str]) -> str:
    shown = [*words[:_NAMED], f"{len(words) - _NAMED} more"] if len(words) > _NAMED else words
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _programs(fields: Fields) -> list[dict[str, Any]]:
    size = field_of(fields, "size") or _SIZES[0]
    if size not in _SIZES:
        raise UsageError(
            f"A program has the sizes {', '.join(_SIZES)}, not {size!r}.", field="size"
        )
    chosen = dict.fromkeys(filter(None, fields.get("program", ())))
    return [{"name": name, "program": f"suite:{name}@size={size}"} for name in chosen]


def _command(row: Mapping[str, str]) -> dict[str, Any]:
    named = {name.removeprefix("command_"): value for name, value in row.items() if value}
    if "command" not in named:
        raise UsageError("A row of commands has no command.", field="command")
    return {name: named[name] for name in ("name", "command", "build", "source") if name in named}


def _factor(row: Mapping[str, str]) -> dict[str, Any]:
    if not row["factor"]:
        raise UsageError("A row of factors names no factor.", field="factor")
    found = {"factor": row["factor"], "levels": _words(row["factor_levels"])}
    optional = {"name": row["factor_name"], "share": row["factor_share"]}
    return found | {name: value for name, value in optional.items() if value}


def _nuisance(row: Mapping[str, str]) -> dict[str, Any]:
    if not row["nuisance"]:
        raise UsageError("A row of what is randomised names no factor.", field="nuisance")
    levels = _words(row["nuisance_levels"])
    return {"factor": row["nuisance"], **({"levels": levels} if levels else {})}


def _words(text: str) -> list[str]:
    """What stands between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _given(fields: Fields, names: Sequence[str]) -> dict[str, Any]:
    found = {name: field_of(fields, name) for name in names}
    return {name: _typed(name, value) for name, value in found.items() if value}


def _typed(name: str, value: str) -> str | int:
    whole = name in _WHOLE and value.isascii() and value.isdigit() and len(value) < 10
    return int(value) if whole else value


def _settings(fields: Fields) -> dict[str, Any]:
    found = _given(fields, _SETTINGS)
    metrics = list(dict.fromkeys(filter(None, fields.get("metric", ()))))
    executions = field_of(fields, "executions")
    if executions not in ("", "1"):
        if not (executions.isascii() and executions.isdigit() and len(executions) < 6):
            raise UsageError("Executions in a block are a whole number.", field="executions")
        found["repeat"] = {"execution": int(executions)}
    return {**found, "metrics": metrics} if metrics else found


def _hosts(fields: Fields) -> dict[str, Any]:
    """The table of hosts; with a precision there are as many blocks as that takes."""
    names = [
        name for name in _OF_HOSTS if name != "replicates" or not field_of(fields, "precision")
    ]
    found = _given(fields, names)
    if found.get("reboot") == "never":
        del found["reboot"]
    if found.get("builds") == BUILDS[0]:
        del found["builds"]
    shares = {name: field_of(fields, f"share_{name}") for name in HOST_FACTORS}
    require = {row["require"]: _required(row) for row in rows_of(fields, "require")}
    tables = {"require": require, "factors": {name: s for name, s in shares.items() if s}}
    return {**{name: table for name, table in tables.items() if table}, **found}


def _required(row: Mapping[str, str]) -> str | list[str]:
    name, value = row["require"], row["require_value"]
    if name not in FACTS or not value:
        raise UsageError("A row of requirements has a fact and a value.", field="require")
    several = _words(value) if FACTS[name] in ("set", "text") else []
    return several if FACTS[name] == "set" or len(several) > 1 else value
