"""Calls to an issuer of OpenID Connect: its discovery document, its keys, a code for a token."""

from __future__ import annotations

import errno
import http.client
import json
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote_plus, urlencode, urlsplit

from steelyard.core.errors import SteelyardError

_PATIENCE_S = 10.0
_MOST_BYTES = 1 << 20
# An issuer that hangs holds no more of the service's threads than these: workers need them too.
_AT_ONCE = threading.BoundedSemaphore(4)
_STATUS_OK = 200
_ADDRESSES = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class IssuerError(SteelyardError):
    """The issuer does not answer, or not as OpenID Connect has it."""

    code = "issuer"


@dataclass(frozen=True)
class IssuerClient:
    """What an issuer knows a service by."""

    id: str
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class Discovery:
    """Where an issuer is asked what (OpenID Connect Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_methods: tuple[str, ...]
    challenge_methods: tuple[str, ...]
    names_itself: bool


@dataclass(frozen=True)
class Code:
    """A code that a browser brought back, and what proves who asked for it."""

    code: str = field(repr=False)
    verifier: str = field(repr=False)
    redirect_uri: str


def discover(issuer: str) -> Discovery:
    """Read the discovery document.

    Raises
    ------
    IssuerError
        The issuer does not answer, is another, or leads to addresses that others read along.
    """
    address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    told = _asked(issuer, "GET", address)
    if told.get("issuer") != issuer:
        raise IssuerError(f"The issuer at {issuer} calls itself otherwise. Correct oidc.issuer.")
    addresses = {name: told.get(name) for name in _ADDRESSES}
    for name, value in addresses.items():
        if not isinstance(value, str) or not _is_safe(value, issuer):
            raise IssuerError(f"The discovery document of {issuer} has no {name} by https://.")
    methods = _words(told.get("token_endpoint_auth_methods_supported"))
    return Discovery(
        issuer,
        **cast("dict[str, str]", addresses),
        token_methods=methods or ("client_secret_basic",),
        challenge_methods=_words(told.get("code_challenge_methods_supported")),
        names_itself=told.get("authorization_response_iss_parameter_supported") is True,
    )


def keys_of(found: Discovery) -> list[dict[str, Any]]:
    """The public keys by which the issuer signs.

    Raises
    ------
    IssuerError
        It does not give them.
    """
    keys = _asked(found.issuer, "GET", found.jwks_uri).get("keys")
    if not isinstance(keys, list):
        raise IssuerError(f"The issuer {found.issuer} gives no keys.")
    listed = cast("list[Any]", keys)
    return [cast("dict[str, Any]", key) for key in listed if isinstance(key, dict)]


def id_token_of(found: Discovery, client: IssuerClient, code: Code) -> str:
    """The ID token for a code (OpenID Connect Core 1.0, section 3.1.3; RFC 7636).

    Raises
    ------
    IssuerError
        The issuer does not answer, or takes the code or the service for none of its own.
    """
    form = {
        "grant_type": "authorization_code",
        "code": code.code,
        "redirect_uri": code.redirect_uri,
        "code_verifier": code.verifier,
    }
    headers: dict[str, str] = {}
    if client.secret and "client_secret_basic" in found.token_methods:
        pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
        headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = client.id
        if client.secret:
            form["client_secret"] = client.secret
    token = _asked(found.issuer, "POST", found.token_endpoint, form, headers).get("id_token")
    if not isinstance(token, str):
        raise IssuerError(f"The issuer {found.issuer} gives no ID token.")
    return token


def _is_safe(address: str, issuer: str) -> bool:
    """Whether it is HTTPS; by HTTP only where the issuer is this machine's own."""
    try:
        url = urlsplit(address)
        _ = url.port
    except ValueError:
        return False
    mine = urlsplit(issuer)
    same = url.scheme == mine.scheme and url.hostname == mine.hostname
    return bool(url.hostname) and (url.scheme == "https" or same)


def _words(given: Any) -> tuple[str, ...]:
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    return tuple(each for each in listed if isinstance(each, str))


def _asked(
    issuer: str,
    method: str,
    address: str,
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON object of an answer. No error has what was sent: it may be a secret."""
    body = None if form is None else urlencode(form).encode()
    told = {"Accept": "application/json", **(headers or {})}
    if body is not None:
        told["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        status, data = answer_of(method, address, body, told)
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise IssuerError(
            f"The issuer {issuer} does not answer: {why}. Try again later, or use a password."
        ) from None
    if status != _STATUS_OK:
        what = "did not take the sign-in" if method == "POST" else "is out of order"
        raise IssuerError(f"The issuer {issuer} {what}: it answered with status {status}.")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise IssuerError(f"The issuer {issuer} answers with what is no JSON object.")
    return cast("dict[str, Any]", found)


def answer_of(
    method: str, address: str, body: bytes | None, headers: Mapping[str, str]
) -> tuple[int, bytes]:
    """The status and the body of an answer. Nobody is followed elsewhere."""
    url = urlsplit(address)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=_PATIENCE_S)
    if not _AT_ONCE.acquire(timeout=_PATIENCE_S / 10):
        raise TimeoutError(errno.EBUSY, "it is slow, and others are waiting for it already")
    try:
        connection.connect()
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        with _ended_in_time(connection.sock):
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            data = response.read(_MOST_BYTES + 1)
    finally:
        _AT_ONCE.release()
        connection.close()
    if len(data) > _MOST_BYTES:
        raise OSError(errno.EMSGSIZE, f"it sends more than {_MOST_BYTES >> 20} MiB")
    return response.status, data


@contextmanager
def _ended_in_time(sock: socket.socket) -> Iterator[None]:
    """Shut a connection that takes too long in all: its own limit begins anew with each byte."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(_PATIENCE_S, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if is_late.is_set():
            raise TimeoutError(errno.ETIMEDOUT, f"it takes longer than {_PATIENCE_S:.0f} s")
