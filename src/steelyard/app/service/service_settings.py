"""What a service is told by a file: its database, its port, its cluster."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from steelyard.app.experiment.field_types import Field, Table, flag, list_of, text, whole
from steelyard.app.experiment.schema_slips import slips
from steelyard.app.experiment.toml_lines import TomlLines
from steelyard.app.service.oidc_settings import OIDC, OidcSettings, oidc_settings
from steelyard.app.service.quotas import Quotas
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError

PORT = 8350
LOOPBACK = "127.0.0.1"
SERVICE = Table(
    "service",
    (
        Field("database", text("a file, or postgresql://USER@HOST/NAME"), "as `--database`"),
        Field("port", whole(0, "a port, or 0 for one that is free", 65535), "as `--port`"),
        Field("worker", flag(), "as `--worker`"),
        Field(
            "address",
            text("an address such as https://bench.example/"),
            "by which browsers reach the service through a proxy; people sign in then",
        ),
        Field("sign_in", flag(), "whether people sign in; without `address` only if it says so"),
        Field(
            "listen",
            text("the address of an interface"),
            "where the proxy reaches the service; 127.0.0.1 unless given",
        ),
        Field(
            "proxies",
            list_of("a list of addresses", text()),
            "proxies whose word is taken for where a request comes from; 127.0.0.1 unless given",
        ),
        Field(
            "most_trials",
            whole(1, "a number of trials"),
            "that a member's open experiments may have in all; no limit unless given",
        ),
        Field(
            "most_hours",
            whole(1, "a number of hours"),
            "of workers that a member's experiments may use in 30 days; no limit unless given",
        ),
        Field(
            "most_gib",
            whole(1, "a number of GiB"),
            "that the benchmark packages of an account may have, unpacked; 20 unless given",
        ),
        Field(
            "most_results_gib",
            whole(1, "a number of GiB"),
            "that the archives of results of an account's experiments may have; 20 unless given",
        ),
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
TABLES = (SERVICE, OIDC, SLURM)


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
    address: str | None = None
    sign_in: bool = False
    listen: str = LOOPBACK
    proxies: tuple[str, ...] = ()
    most_trials: int | None = None
    most_hours: int | None = None
    most_gib: int = 20
    most_results_gib: int = 20
    oidc: OidcSettings | None = None

    @property
    def quotas(self) -> Quotas:
        """Of each member."""
        return Quotas(self.most_trials, self.most_hours)

    @property
    def most_bytes(self) -> int:
        """Of the packages of an account."""
        return self.most_gib << 30

    @property
    def most_archive_bytes(self) -> int:
        """Of the archives of results of an account's experiments."""
        return self.most_results_gib << 30

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
    service = _service(path, data.get("service", {}))
    oidc = oidc_settings(path, data.get("oidc"), signs_in=service.get("sign_in", False))
    return ServiceSettings(**service, slurm=_slurm(data.get("slurm")), oidc=oidc)


def _service(path: str, given: dict[str, Any]) -> dict[str, Any]:
    """The table, where its fields go together.

    Raises
    ------
    DataError
        They do not.
    """
    found = dict(given)
    listen, address = found.get("listen", LOOPBACK), found.get("address")
    if address is not None:
        found["address"] = _checked_address(path, address)
        if not found.setdefault("sign_in", True):
            raise DataError(
                f"{path}: service.sign_in: at `address` others reach the service, so that people "
                "have to sign in. Leave `sign_in` out.",
                field="service.sign_in",
            )
        found.setdefault("proxies", (LOOPBACK,))
    elif listen not in (LOOPBACK, "::1"):
        raise DataError(
            f"{path}: service.listen: {listen} can be reached by other machines, for which the "
            "service needs a proxy with TLS. Give its `address`, such as https://bench.example/.",
            field="service.listen",
        )
    return {**found, "proxies": tuple(found.get("proxies", ()))}


def _checked_address(path: str, address: str) -> str:
    """It, with a slash at its end.

    Raises
    ------
    DataError
        It is none, or whoever is between reads along.
    """
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
    except ValueError:
        url, host, port = urlsplit(""), None, None
    plain = url.scheme == "http" and host in (LOOPBACK, "localhost", "::1")
    if not host or port == 0 or url.query or url.fragment or "@" in url.netloc:
        raise DataError(
            f"{path}: service.address takes an address such as https://bench.example/, "
            f"not {address!r}.",
            field="service.address",
        )
    if url.scheme != "https" and not plain:
        raise DataError(
            f"{path}: service.address has to begin with https://, so that nobody between reads "
            f"passwords; {address!r} does not.",
            field="service.address",
        )
    named = f"[{host}]" if ":" in host else host
    # Browsers leave the usual port out.
    usual = {"https": 443, "http": 80}[url.scheme]
    shown = "" if port in (None, usual) else f":{port}"
    return f"{url.scheme}://{named}{shown}{url.path.rstrip('/')}/"


def _slurm(given: dict[str, Any] | None) -> SlurmSettings | None:
    if given is None:
        return None
    return SlurmSettings(**{**given, "options": tuple(given.get("options", ()))})
