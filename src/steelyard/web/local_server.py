"""Servers on this machine alone, for whoever has their address, which has a secret in it."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

_ADDRESS = "127.0.0.1"


class LocalServer(ThreadingHTTPServer):
    """Serves below a secret path of the loopback interface.

    Parameters
    ----------
    port : int
        0 takes one that is free.
    handler : type of LocalHandler

    Raises
    ------
    OSError
        The port is taken, or may not be used.
    """

    daemon_threads = True

    def __init__(self, port: int, handler: type[LocalHandler]) -> None:
        self.secret = secrets.token_urlsafe(16)
        super().__init__((_ADDRESS, port), handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away before it had its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def host(self) -> str:
        """What a browser calls it."""
        return f"{_ADDRESS}:{self.server_port}"

    @property
    def address(self) -> str:
        """Of its first page."""
        return f"http://{self.host}/{self.secret}/"


class LocalHandler(BaseHTTPRequestHandler):
    """Answers those who have the secret.

    Whoever lacks it, or calls this machine by another name, as a page from elsewhere would have
    to, is told that there is nothing.
    """

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer_by(self.show)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self._answer_by(self.take)

    def show(self, path: str) -> None:
        """Answer who wants to read `path`, which is below the secret."""
        self.not_found()

    def take(self, path: str) -> None:
        """Answer who sends something to `path`; a body that is not read ends the connection."""
        self.not_found()

    def _answer_by(self, answer: Callable[[str], None]) -> None:
        path = self._known_path()
        if path is None:
            self.not_found()
        else:
            answer(path)

    def _known_path(self) -> str | None:
        """What is asked for below the secret path, without a query; None for anyone else."""
        server = cast("LocalServer", self.server)
        secret, separator, path = self.path.partition("?")[0][1:].partition("/")
        is_known = secrets.compare_digest(secret.encode(), server.secret.encode())
        if self.headers.get("Host") != server.host or not (is_known and separator):
            return None
        return path

    def answer(self, status: int, data: bytes, kind: str) -> None:
        """Send an answer that no cache keeps."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def not_found(self) -> None:
        """There is nothing; what was sent is not read."""
        self.close_connection = True
        self.answer(404, b"not found", "text/plain")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal is the command's."""
