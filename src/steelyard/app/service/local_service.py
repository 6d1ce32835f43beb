"""The service that runs on this machine: where it keeps its data, and how commands find it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from steelyard.app.service.held_token import SERVER, held_token
from steelyard.core.errors import UsageError
from steelyard.core.private_file import (
    DIRECTORY_MODE,
    make_private_directories,
    private_opener,
)
from steelyard.service.service_client import ServiceClient
from steelyard.store.store_location import store_path

COMMAND_TOKEN, WORKER_TOKEN = "commands of this machine", "workers of this machine"
SLURM_TOKEN = "workers that Slurm starts"


@dataclass(frozen=True)
class LocalPlace:
    """Where the service of a store keeps its data: in one directory beside the store."""

    directory: str

    @property
    def database(self) -> str:
        """Its SQLite file."""
        return os.path.join(self.directory, "service.sqlite")

    @property
    def packages(self) -> str:
        """The directory of benchmark packages."""
        return os.path.join(self.directory, "packages")

    @property
    def running(self) -> str:
        """The file that says, while the service runs, at which address and by which token."""
        return os.path.join(self.directory, "running.json")

    @property
    def worker(self) -> str:
        """The directory of the worker of this machine."""
        return os.path.join(self.directory, "worker")


def local_place(store: str | None) -> LocalPlace:
    """The place of the service of a store."""
    return LocalPlace(f"{store_path(store)}.service")


@contextmanager
def announced(place: LocalPlace, address: str, token: str) -> Iterator[None]:
    """Let commands of this user find the service meanwhile."""
    make_private_directories(place.directory)
    # One that an earlier version made could be read by others.
    with suppress(OSError):
        os.chmod(place.directory, DIRECTORY_MODE)
    part = f"{place.running}.part"
    with open(part, "w", encoding="utf-8", opener=private_opener) as file:
        json.dump({"address": address, "token": token, "pid": os.getpid()}, file)
    os.replace(part, place.running)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            with open(place.running, encoding="utf-8") as file:
                own = json.load(file)["address"] == address
            if own:
                os.unlink(place.running)


class ServiceFinder:
    """Where a service is, asked again and again: one of this machine has another address and token
    each time that it starts.

    Parameters
    ----------
    server, token, store : str or None
        As for `service_client`, which raises what this raises.
    """

    def __init__(self, server: str | None, token: str | None, store: str | None) -> None:
        is_named = server is not None or bool(os.environ.get(SERVER))
        found = service_client(server, token, store)
        self._named = found if is_named else None
        self._token, self._store = token, store

    def client(self) -> ServiceClient:
        """The service as it is now."""
        return self._named or service_client(None, self._token, self._store)

    def address(self) -> str | None:
        """Where it is now; None where none runs here."""
        try:
            return self.client().address
        except UsageError:
            return None


def service_client(server: str | None, token: str | None, store: str | None) -> ServiceClient:
    """A service by its address and token, or the one that runs on this machine.

    Raises
    ------
    UsageError
        None runs here, or the token of another is not given.
    """
    server, token = held_token(server, token)
    if server is not None:
        if not token:
            raise UsageError(
                "--server needs a token: its file by --token-file, or the variable STEELYARD_TOKEN "
                "where STEELYARD_SERVER names no other service.",
                field="--token-file",
            )
        return ServiceClient(server, token)
    try:
        with open(local_place(store).running, encoding="utf-8") as file:
            told = json.load(file)
        return ServiceClient(str(told["address"]), str(told["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(
            "No service runs here. Start one (steelyard serve), or name another: --server ADDRESS.",
            field="--server",
        ) from None
