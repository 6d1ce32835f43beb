"""What a service is told by a file: its database, its port, its cluster."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from typing import Any

from steelyard.app.experiment.field_types import Field, Table, flag, list_of, text, whole
from steelyard.app.experiment.schema_slips import slips
from steelyard.app.experiment.toml_lines import TomlLines
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError

PORT = 8350
SERVICE = Table(
    "service",
    (
        Field("database", text("a file, or postgresql://USER@HOST/NAME"), "as `--database`"),
        Field("port", whole(0, "a port, or 0 for one that is free", 65535), "as `--port`"),
        Field("worker", flag(), "as `--worker`"),
    ),
)
SLURM = Table(
    "slurm",
    (
        Field(
            "directory",
            text("a directory that the service and all nodes see under one name"),
            "for the results of workers until they are taken",
            is_required=True,
        ),
        Field("partition", text("a partition"), "Slurm's default unless given"),
        Field("command", text("a command"), "how nodes call Steelyard; `steelyard` unless given"),
        Field("options", list_of("a list of words for sbatch", text())),
    ),
)
TABLES = (SERVICE, SLURM)


@dataclass(frozen=True)
class SlurmSettings:
    """Which nodes of a Slurm cluster are workers, and how they are started."""

    directory: str
    partition: str = ""
    command: str = "steelyard"
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServiceSettings:
    """What the file says. Without `database` it is beside the store."""

    database: str | None = None
    port: int = PORT
    worker: bool = True
    slurm: SlurmSettings | None = None

    def changed(self, **given: Any) -> ServiceSettings:
        """These, but with what options say: None is an option that was not given."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def settings_schema() -> dict[str, Any]:
    """The JSON Schema, draft 2020-12, of such files."""
    return {
        "description": "the settings of a service",
        "type": "object",
        "properties": {table.name: table.schema() for table in TABLES},
        "additionalProperties": False,
    }


def read_service_settings(path: str | None) -> ServiceSettings:
    """Read a file of settings; None is a file that says nothing.

    Raises
    ------
    DataError
        It cannot be read, is not TOML, or a field is unknown or of the wrong kind.
    """
    if path is None:
        return ServiceSettings()
    try:
        with open(path, encoding="utf-8-sig", opener=regular_opener) as file:
            content = file.read()
        data = tomllib.loads(content)
    except OSError as error:
        raise DataError(
            f"The settings {path} cannot be read: {error.strerror}.", field="--config"
        ) from None
    except RecursionError:
        raise DataError(f"{path} is not TOML: it is nested too deep.", field="--config") from None
    except ValueError as error:
        raise DataError(f"{path} is not TOML: {error}.", field="--config") from None
    for slip in slips(data, settings_schema()):
        line = TomlLines(content).line_of(slip.table, slip.field.partition(".")[0])
        place = ".".join(filter(None, (slip.table, slip.field)))
        raise DataError(f"{path}, line {line or 1}: {place}: {slip.message}.", field=place)
    return ServiceSettings(**data.get("service", {}), slurm=_slurm(data.get("slurm")))


def _slurm(given: dict[str, Any] | None) -> SlurmSettings | None:
    if given is None:
        return None
    return SlurmSettings(**{**given, "options": tuple(given.get("options", ()))})
