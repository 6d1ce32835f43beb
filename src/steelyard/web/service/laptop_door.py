"""Who may come in on a laptop: those on this machine who have the address, with its secret."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)


class LaptopDoor:
    """Passes on what is asked below the secret path and by the right name of this machine.

    Whoever lacks the secret, or calls this machine by another name, as a page from elsewhere would
    have to, is told that there is nothing.

    Parameters
    ----------
    app : ASGI application
    host : str
        What a browser calls the server, with its port.
    secret : str
    """

    def __init__(self, app: ASGIApp, host: str, secret: str) -> None:
        self._app = app
        self._host = host
        self._secret = secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given, separator, path = scope["path"][1:].partition("/")
        known = secrets.compare_digest(given.encode("utf-8", "replace"), self._secret.encode())
        if Headers(scope=scope).get("host") != self._host or not (known and separator):
            await PlainTextResponse("not found", 404)(scope, receive, send)
            return
        below = {**scope, "path": f"/{path}", "raw_path": f"/{path}".encode()}

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *SAFE_HEADERS]}
            await send(message)

        await self._app(below, receive, send_safely)
