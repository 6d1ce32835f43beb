"""The server of a store's pages, on this machine alone; it changes nothing."""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from steelyard.core.errors import UsageError
from steelyard.web.local_server import LocalHandler, LocalServer
from steelyard.web.store_site import StoreSite


def serve_store(site: StoreSite, port: int, announce: Callable[[str], None]) -> None:
    """Serve pages until somebody interrupts.

    Parameters
    ----------
    site : StoreSite
    port : int
        0 takes one that is free.
    announce : callable
        Is told the address of the first page, which has a secret of its own in it.

    Raises
    ------
    UsageError
        The port is taken, or may not be used.
    """
    try:
        server = _StoreServer(site, port)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise UsageError(
            f"Port {port} cannot be used: {error.strerror}. --port 0 takes one that is free.",
            field="--port",
        ) from error
    with server, suppress(KeyboardInterrupt):
        announce(server.address)
        server.serve_forever()


class _StoreServer(LocalServer):
    """Answers from a site."""

    def __init__(self, site: StoreSite, port: int) -> None:
        super().__init__(port, _Handler)
        self.site = site


class _Handler(LocalHandler):
    def show(self, path: str) -> None:
        found = cast("_StoreServer", self.server).site.answer(path)
        self.answer(found.status, found.data, found.kind)
