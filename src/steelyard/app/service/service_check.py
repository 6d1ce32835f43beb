"""Whether what the settings of a service ask for is there, and what mends what is not."""

from __future__ import annotations

import errno
import importlib.util
import os
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from steelyard.app.service.oidc_settings import BACK, OidcSettings
from steelyard.app.service.service_settings import ServiceSettings, SlurmSettings
from steelyard.core.errors import SteelyardError
from steelyard.service.account_changes import anyone_signs_in
from steelyard.service.database_fitness import UnfitDatabaseError
from steelyard.service.issuer import discover, keys_of
from steelyard.service.service_database import database_state, glance_at
from steelyard.service.slurm_cluster import SlurmCluster, missing_commands

_PATIENCE_S = 5.0
_LIBRARIES = ("starlette", "uvicorn", "python_multipart", "sqlalchemy", "alembic", "jinja2")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    about : str
    told : str
        What was found.
    mend : str
        What mends it; empty where nothing is missing.
    """

    about: str
    told: str
    mend: str = ""

    @property
    def line(self) -> str:
        """For a terminal."""
        if not self.mend:
            return f"ok       {self.about}: {self.told}"
        return f"MISSING  {self.about}: {self.told}\n         {self.mend}"


def check_service(
    settings: ServiceSettings, database: str, directory: str | None = None
) -> Iterator[Finding]:
    """Look at each thing, and change none.

    Parameters
    ----------
    settings : ServiceSettings
    database : str
        A file or an address.
    directory : str or None
        Where the service keeps packages and archives of results; None is not looked at.
    """
    yield _libraries(database)
    if directory is not None:
        yield _directory(directory)
    state = _database(database)
    yield state
    yield _port(settings)
    if settings.address is not None:
        yield _address(settings.address)
    if settings.sign_in and not state.mend:
        yield _administrator(database)
    if settings.oidc is not None:
        yield from _issuer(settings.oidc, settings.address)
    if settings.slurm is not None:
        yield from _slurm(settings.slurm)


def _libraries(database: str) -> Finding:
    names = (*_LIBRARIES, "psycopg") if "://" in database else _LIBRARIES
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if not missing:
        return Finding("libraries", "all are there")
    return Finding("libraries", f"no {', '.join(missing)}", "pip install 'steelyard[service]'")


def _directory(path: str) -> Finding:
    """Whether it, or the nearest one above it that is there, can be written to."""
    there = os.path.abspath(path)
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    if not (os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)):
        mend = (
            "Run this as the user of the service, with its XDG_DATA_HOME, or give that user the "
            f"directory: install -d -o USER {path}"
        )
        return Finding("directory", f"{there} cannot be written to", mend)
    disk = os.statvfs(there)
    if 0 in (disk.f_bavail, disk.f_favail if disk.f_files else 1):
        return Finding("directory", f"the disk of {there} is full", f"df -h {there}; df -i {there}")
    return Finding("directory", f"{path} can be written to")


def _database(address: str) -> Finding:
    try:
        state = database_state(address)
    except UnfitDatabaseError as error:
        return Finding("database", error.told, error.mend)
    except SteelyardError as error:
        return Finding("database", error.message, _mend_of_database(address, error.message))
    return Finding("database", state)


def _mend_of_database(address: str, told: str) -> str:
    if "://" not in address:
        return f"See that {os.path.dirname(address) or '.'} is a directory that you may write to."
    if 'role "' in told or "authentication failed for user" in told:
        return (
            "Run this as the user of the service (runuser -u USER -- ...), or make that user one "
            "of the database: runuser -u postgres -- createuser USER"
        )
    return (
        "See that it runs (systemctl start postgresql) and that the database is there: "
        "runuser -u postgres -- createdb --owner=USER --encoding=UTF8 --template=template0 NAME"
    )


def _port(settings: ServiceSettings) -> Finding:
    place = f"{settings.listen}, port {settings.port}"
    family = socket.AF_INET6 if ":" in settings.listen else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((settings.listen, settings.port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE and _serves(settings):
                return Finding("port", f"a service answers at {place}")
            told = f"{place} cannot be used: {error.strerror}"
            return Finding("port", told, _mend_of_port(error, settings.port))
    return Finding("port", f"{place} is free")


def _mend_of_port(error: OSError, port: int) -> str:
    if error.errno == errno.EADDRNOTAVAIL:
        return "Name the address of an interface of this machine by `listen`: ip address"
    if error.errno == errno.EACCES:
        return "Name one from 1024 on by `port`; the proxy has the others."
    return f"Name another by `port`, or look who has it: ss -tlnp 'sport = {port}'"


def _serves(settings: ServiceSettings) -> bool:
    """Whether what has the port speaks HTTP."""
    connection = HTTPConnection(settings.listen, settings.port, timeout=_PATIENCE_S)
    try:
        connection.request("GET", "/sign-in")
        return connection.getresponse().status in (200, 404)
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _address(address: str) -> Finding:
    """Whether a proxy answers there, with a certificate that browsers take."""
    url = urlsplit(address)
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=_PATIENCE_S)
    try:
        connection.request("GET", f"{url.path}sign-in")
        status = connection.getresponse().status
    except ssl.SSLError as error:
        told = f"{address} has no certificate that holds: {error.reason or error}"
        return Finding("address", told, "Give the proxy a certificate: certbot --nginx")
    except socket.gaierror as error:
        told = f"nobody knows where {url.hostname} is: {error.strerror}"
        return Finding("address", told, "Give the name an address, in DNS or in /etc/hosts.")
    except (OSError, HTTPException) as error:
        told = f"nothing answers at {address}: {error or type(error).__name__}"
        return Finding("address", told, "Start the proxy: systemctl start nginx")
    finally:
        connection.close()
    if status == 200:
        return Finding("address", f"the service answers at {address}")
    if status in (502, 503, 504):
        return Finding("address", f"a proxy answers at {address}; the service does not run")
    mend = "Let the proxy pass the header Host on, and the path as it is (docs/deploy.md)."
    return Finding("address", f"{address} answers with status {status}", mend)


def _administrator(database: str) -> Finding:
    with glance_at(database) as connection:
        there = connection is not None and anyone_signs_in(connection)
    if there:
        return Finding("people", "an administrator can sign in")
    mend = "steelyard serve --config FILE --invite prints a link that makes one; so does the start."
    return Finding("people", "no administrator can sign in", mend)


def _issuer(settings: OidcSettings, address: str | None) -> Iterator[Finding]:
    """Whether people can sign in elsewhere, too."""
    if importlib.util.find_spec("joserfc") is None:
        yield Finding("oidc", "no joserfc, which checks tokens", "pip install 'steelyard[oidc]'")
    path = settings.client_secret_file
    try:
        settings.client()
    except SteelyardError as error:
        mend = f"Write the secret into {path}, which the service's user alone can read (chmod 600)."
        yield Finding("oidc.client_secret_file", error.message, mend)
    else:
        if path and os.stat(path).st_mode & 0o077:
            told = f"{path} can be read by others"
            yield Finding("oidc.client_secret_file", told, f"chmod 600 {path}")
    try:
        found = discover(settings.issuer)
        keys_of(found)
    except SteelyardError as error:
        mend = f"curl {settings.issuer.rstrip('/')}/.well-known/openid-configuration"
        yield Finding("oidc", error.message, mend)
        return
    if found.challenge_methods and "S256" not in found.challenge_methods:
        told = f"{settings.issuer} takes no PKCE by S256"
        yield Finding("oidc", told, "Allow PKCE with S256 for this client at the issuer.")
        return
    back = f"; it has to know {address}{BACK}" if address else ""
    yield Finding("oidc", f"{settings.issuer} answers{back}")


def _slurm(settings: SlurmSettings) -> Iterator[Finding]:
    missing = missing_commands()
    if missing:
        yield Finding("Slurm", f"no {', '.join(missing)}", "apt-get install slurm-client")
        return
    try:
        nodes = SlurmCluster(settings.partition, "").nodes()
        up = [node for node in nodes.values() if node.is_up]
        yield Finding("Slurm", f"{len(up)} of {len(nodes)} nodes take Slurm jobs")
    except SteelyardError as error:
        yield Finding("Slurm", error.message, "systemctl status slurmctld; sinfo")
    directory = os.path.abspath(settings.directory)
    if os.path.isdir(directory) and os.access(directory, os.W_OK | os.X_OK):
        yield Finding("slurm.directory", f"{directory} can be written to")
    else:
        mend = f"mkdir -p {directory}, on a file system that all nodes share"
        yield Finding("slurm.directory", f"{directory} is no directory to write to", mend)
