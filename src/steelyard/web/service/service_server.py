"""The server of a service on a laptop: on this machine alone, behind an address with a secret."""

from __future__ import annotations

import asyncio
import errno
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread

from steelyard.app.service.service import Service
from steelyard.core.errors import UsageError
from steelyard.web.store_site import StoreSite

_ADDRESS = "127.0.0.1"
_ENDING_S = 3


@dataclass(frozen=True)
class Opened:
    """A socket that is bound, and what its server is called."""

    socket: socket.socket
    host: str
    secret: str

    @property
    def address(self) -> str:
        """Of its first page."""
        return f"http://{self.host}/{self.secret}/"


@contextmanager
def open_port(port: int) -> Iterator[Opened]:
    """Hold a port of the loopback interface; 0 takes one that is free.

    Raises
    ------
    UsageError
        The port is taken, or may not be used.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((_ADDRESS, port))
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            raise UsageError(
                f"Port {port} cannot be used: {error.strerror}. --port 0 takes one that is free.",
                field="--port",
            ) from error
        bound.listen(128)
        yield Opened(bound, f"{_ADDRESS}:{bound.getsockname()[1]}", secrets.token_urlsafe(16))


@contextmanager
def serving(opened: Opened, service: Service, store: StoreSite) -> Iterator[Thread]:
    """Serve pages and the API meanwhile, in a thread, which is given.

    Raises
    ------
    MissingCapabilityError
        The libraries of the service are not installed.
    """
    import uvicorn

    from steelyard.web.service.laptop_door import LaptopDoor
    from steelyard.web.service.service_site import service_site

    site = LaptopDoor(service_site(service, store, service.owner()), opened.host, opened.secret)
    config = uvicorn.Config(
        site,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_ENDING_S,
    )
    server = uvicorn.Server(config)
    # In a thread of its own it leaves signals to the command line.
    thread = Thread(target=lambda: asyncio.run(server.serve(sockets=[opened.socket])), daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        server.should_exit = True
        thread.join(2 * _ENDING_S)
