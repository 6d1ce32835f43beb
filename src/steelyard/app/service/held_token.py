"""The address of a service and the token for it, as the environment of a command holds them."""

from __future__ import annotations

import os
from urllib.parse import SplitResult, urlsplit

SERVER, _TOKEN = "STEELYARD_SERVER", "STEELYARD_TOKEN"
_PORTS = {"http": 80, "https": 443}


def held_token(server: str | None, token: str | None) -> tuple[str | None, str | None]:
    """The address and the token that are given, or else those of the environment.

    The variables are taken out of it: programs that are run from now on have no business with them.
    Their token goes to no other service than the one that they name, if they name one.
    """
    held_server, held = (os.environ.pop(name, None) for name in (SERVER, _TOKEN))
    if token is None and (not server or not held_server or _is_same(server, held_server)):
        token = held
    return server or held_server, token


def _is_same(one: str, other: str) -> bool:
    try:
        return _origin(urlsplit(one)) == _origin(urlsplit(other))
    except ValueError:
        return False


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or _PORTS.get(url.scheme)
