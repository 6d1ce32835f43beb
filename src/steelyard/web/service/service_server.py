"""The server of a service, and the address by which commands and browsers reach it."""

from __future__ import annotations

import asyncio
import errno
import importlib
import resource
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from steelyard.app.service.oidc_settings import BACK
from steelyard.app.service.oidc_sign_in import OidcSignIn
from steelyard.app.service.people import People
from steelyard.app.service.service import Service
from steelyard.app.service.service_settings import LOOPBACK, ServiceSettings
from steelyard.core.errors import UsageError
from steelyard.service.service_database import THREADS
from steelyard.web.store_site import StoreSite

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

_ENDING_S = 3
# With no file left to open, asyncio of Python 3.11 tries and complains as often at once as this.
_BACKLOG = 128
# Pages that load themselves anew every 5 s keep their connection.
_KEPT_S = 30
# A page asks the database five times, and waits so long for the interpreter after each answer while
# another thread makes an analysis; by Python's own 5 ms pages would be slower than that is faster.
_SWITCH_S = 0.0005


@dataclass(frozen=True)
class Opened:
    """A socket that is bound, and what its server is called.

    Parameters
    ----------
    socket : socket.socket
    host : str
        With the port; what programs of this machine call it.
    path : str
        Of its first page, with slashes at both ends; a secret where nobody signs in.
    public : str or None
        The address by which browsers reach it, where that is another.
    """

    socket: socket.socket
    host: str
    path: str
    public: str | None

    @property
    def local_address(self) -> str:
        """Of its first page, for programs of this machine."""
        return f"http://{self.host}{self.path}"

    @property
    def address(self) -> str:
        """Of its first page, for everyone else."""
        return self.public or self.local_address


@contextmanager
def open_port(settings: ServiceSettings) -> Iterator[Opened]:
    """Hold the port that the settings name; 0 takes one that is free.

    Raises
    ------
    UsageError
        The port is taken, or may not be used, or the interface is not this machine's.
    """
    family = socket.AF_INET6 if ":" in settings.listen else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((settings.listen, settings.port))
        except OSError as error:
            raise _not_bound(error, settings) from error
        bound.listen(1024)
        name = f"[{settings.listen}]" if family == socket.AF_INET6 else settings.listen
        host = f"{name}:{bound.getsockname()[1]}"
        if settings.address is not None:
            path = urlsplit(settings.address).path
        else:
            path = "/" if settings.sign_in else f"/{secrets.token_urlsafe(16)}/"
        yield Opened(bound, host, path, settings.address)


def _not_bound(error: OSError, settings: ServiceSettings) -> Exception:
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        return UsageError(
            f"Port {settings.port} cannot be used: {error.strerror}. --port 0 takes one that is "
            "free.",
            field="--port",
        )
    if settings.listen == LOOPBACK:
        return error
    return UsageError(
        f"This machine cannot listen at {settings.listen}: {error.strerror}. Name the address of "
        "one of its interfaces (ip address), or leave `listen` out.",
        field="service.listen",
    )


@contextmanager
def serving(
    opened: Opened, service: Service, store: StoreSite, settings: ServiceSettings
) -> Iterator[Event]:
    """Serve pages and the API meanwhile, in a thread; what is given is set when that has ended.

    Raises
    ------
    MissingCapabilityError
        The libraries of the service are not installed.
    """
    import uvicorn

    config = uvicorn.Config(
        site_behind_its_door(opened, service, store, settings),
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_ENDING_S,
        timeout_keep_alive=_KEPT_S,
        backlog=_BACKLOG,
        # What a client says of itself is believed of the proxies that are named alone.
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
    )
    server = uvicorn.Server(config)
    if not settings.worker and settings.slurm is None:
        open_as_many_as_allowed()
    switch_s = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    # To join a thread would say that it has ended where that is interrupted (Python 3.11).
    ended = Event()

    def serve() -> None:
        try:
            asyncio.run(_serve(server, opened.socket))
        finally:
            ended.set()

    # In a thread of its own it leaves signals to the command line.
    Thread(target=serve, daemon=True).start()
    try:
        yield ended
    finally:
        server.should_exit = True
        ended.wait(2 * _ENDING_S)
        sys.setswitchinterval(switch_s)


def open_as_many_as_allowed() -> None:
    """Let this process have as many open files as its hard limit says: by systemd's soft limit of
    1,024 some hundred idle connections would keep everyone out.

    What it starts inherits that, as jobs of Slurm do, and programs that are measured are to have
    their host's own.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _serve(server: uvicorn.Server, bound: socket.socket) -> None:
    from anyio.to_thread import current_default_thread_limiter

    current_default_thread_limiter().total_tokens = THREADS
    await server.serve(sockets=[bound])


def site_behind_its_door(
    opened: Opened, service: Service, store: StoreSite, settings: ServiceSettings
) -> ASGIApp:
    """The application, behind the secret of its address or behind a sign-in."""
    from steelyard.web.service.laptop_door import LaptopDoor
    from steelyard.web.service.service_site import service_site
    from steelyard.web.service.shared_door import Names, SharedDoor
    from steelyard.web.service.visitors import LaptopVisitors, SignedInVisitors

    people = People(service.database, service.clock)
    if not settings.sign_in:
        visitors = LaptopVisitors(service.access.owner())
        site = service_site(service, store, people, visitors, opened.address)
        return LaptopDoor(site, opened.host, opened.path.strip("/"))
    url = urlsplit(opened.address)
    is_secure = url.scheme == "https"
    # Browsers keep one jar for all ports of a host.
    cookie = "__Secure-steelyard" if is_secure else f"steelyard-{url.port or 80}"
    origins = (f"{url.scheme}://{url.netloc}", f"http://{opened.host}")
    signed_in = SignedInVisitors(people, origins, opened.path, is_secure=is_secure, cookie=cookie)
    names = Names((url.netloc.lower(), opened.host.lower()), opened.path, is_secure)
    oidc = None
    if settings.oidc is not None:
        # Whoever lacks it is told at the start, not at the first sign-in.
        importlib.import_module("joserfc")
        back = f"{opened.address}{BACK}"
        oidc = OidcSignIn(settings.oidc, service.database, back, service.clock)
    site = service_site(service, store, people, signed_in, opened.address, oidc)
    return SharedDoor(site, names)
