"""Who may come in where people sign in: whoever calls the service by a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from steelyard.web.service.laptop_door import SAFE_HEADERS

# Without a referrer browsers say that a form comes from 'null', and all forms look like strangers'.
_REFERRER = (b"referrer-policy", b"same-origin")
_POLICY = (
    b"content-security-policy",
    b"base-uri 'none'; object-src 'none'; frame-ancestors 'none'",
)
# A year, as RFC 6797 has it in its examples.
_HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000")


@dataclass(frozen=True)
class Names:
    """What a service is called.

    Parameters
    ----------
    hosts : sequence of str
        With their ports, where those are not the usual ones.
    path : str
        Below which it lies, with slashes at both ends.
    is_secure : bool
        Whether browsers reach it by HTTPS.
    """

    hosts: Sequence[str]
    path: str
    is_secure: bool


class SharedDoor:
    """Passes on what is asked of a name of the service below its path, with headers that keep
    browsers from what pages do not need.

    A name that someone else points at this machine is refused.
    """

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names
        secure = (_HTTPS_ONLY,) if names.is_secure else ()
        safe = (header for header in SAFE_HEADERS if header[0] != _REFERRER[0])
        self._headers = (*safe, _REFERRER, _POLICY, *secure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "").lower()
        path = scope["path"]
        if host not in self._names.hosts or not path.startswith(self._names.path):
            await PlainTextResponse("not found", 404)(scope, receive, send)
            return
        path = path[len(self._names.path) - 1 :]
        below = {**scope, "path": path, "raw_path": path.encode("utf-8", "surrogateescape")}

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self._headers]}
            await send(message)

        await self._app(below, receive, send_safely)
