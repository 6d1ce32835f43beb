"""Calls of a service's API over HTTP, by the standard library: only outgoing connections."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

from steelyard.core.errors import MissingCapabilityError, SteelyardError, StoreError, UsageError

TIMEOUT_S = 30.0
# For an archive: the service reads it whole before it answers.
CHECKING_S = 600.0
_BLOCK_BYTES = 1 << 20
_MOST_ANSWER_BYTES = 1 << 28
# Of HTTP: it took too long, or there were too many requests.
_LATER = (408, 429)
# What the proxy before a service says by a page of its own.
_OF_PROXIES = {
    413: "What is sent is larger than the proxy before the service lets through (status {status}). "
    "Let it pass as much as the service takes: client_max_body_size of nginx.",
}


class UnreachableError(MissingCapabilityError):
    """The service gave no answer, or cannot do now what was asked; it may be asked again."""

    code = "unreachable"


class ServiceRefusal(SteelyardError):  # noqa: N818 - an answer, not a fault of the call
    """The service answered with an error."""

    code = "refused"

    def __init__(self, message: str, status: int, field: str | None) -> None:
        super().__init__(message, field=field)
        self.status = status


@dataclass(frozen=True)
class ServiceClient:
    """A service by its address and a token.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:8350/secret/``.
    token : str
    """

    address: str
    token: str

    @property
    def shown_address(self) -> str:
        """Where it is, without what is secret in its address."""
        url = urlsplit(self.address)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}"

    def get(self, path: str) -> Any:
        """What lies at a path; see `post`."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer to an object of JSON, None where it is empty.

        Raises
        ------
        UsageError
            The address is none.
        UnreachableError
            Nothing answers there, or not in time, or it is out of order.
        ServiceRefusal
            The service says why not.
        """
        return self._ask("POST", path, json.dumps(body).encode())

    def send_file(self, path: str, source: str) -> Any:
        """The answer to a file that is sent as it is; raises as `post`."""
        size = os.path.getsize(source)
        with open(source, "rb") as file:
            told = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
            with self._exchange("POST", path, file, told, CHECKING_S) as response:
                return _answer(response.status, response.read(_MOST_ANSWER_BYTES))

    def receive_file(self, path: str, target: str, most_bytes: int) -> None:
        """Write what lies at a path into a new file; raises as `post`, and
        `StoreError` where it cannot be written."""
        with self._exchange("GET", path, None, {}, CHECKING_S) as response:
            if response.status != 200:
                _answer(response.status, response.read(_MOST_ANSWER_BYTES))
                raise UnreachableError("What answers is no service of Steelyard.", field="--server")
            _save(response, target, most_bytes)

    def _ask(self, method: str, path: str, body: bytes | None) -> Any:
        told = {"Content-Type": "application/json"}
        with self._exchange(method, path, body, told, TIMEOUT_S) as response:
            return _answer(response.status, response.read(_MOST_ANSWER_BYTES))

    @contextmanager
    def _exchange(
        self,
        method: str,
        path: str,
        body: bytes | BinaryIO | None,
        told: Mapping[str, str],
        timeout_s: float,
    ) -> Iterator[http.client.HTTPResponse]:
        url = urlsplit(self.address)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        if url.scheme not in kinds or not url.hostname:
            raise UsageError(
                f"--server takes an address such as http://host:8350/, not {self.address!r}.",
                field="--server",
            )
        headers = {"Authorization": f"Bearer {self.token}", **told}
        try:
            connection = kinds[url.scheme](url.hostname, url.port, timeout=timeout_s)
            try:
                # Who refuses a body may answer before it was sent, and hang up.
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, url.path.rstrip("/") + "/" + path, body, headers)
                yield connection.getresponse()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnreachableError(
                f"The service at {self.shown_address} does not answer: "
                f"{error or type(error).__name__}. Is it running? Start one: steelyard serve.",
                field="--server",
            ) from None


def _save(response: http.client.HTTPResponse, target: str, most_bytes: int) -> None:
    """Write a body into a new file."""
    left = most_bytes
    try:
        with open(target, "xb") as file:
            for block in _blocks(response):
                left -= len(block)
                if left < 0:
                    raise ServiceRefusal("What the service sends is too large.", 413, None)
                file.write(block)
    except OSError as error:
        raise StoreError(
            f"What the service sends cannot be kept in {target}: {error.strerror}."
        ) from None


def _blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """A body, whole or not at all."""
    try:
        while block := response.read(_BLOCK_BYTES):
            yield block
    except (OSError, http.client.HTTPException) as error:
        raise UnreachableError(f"What the service sends was cut off: {error}.") from None
    if response.length:
        raise UnreachableError("What the service sends was cut off.")


def _answer(status: int, data: bytes) -> Any:
    if status == 204:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if 200 <= status < 300:
        if found is None:
            raise UnreachableError("What answers is no service of Steelyard.", field="--server")
        return found
    told = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    message = told.get("message")
    field = told.get("field")
    if status >= 500 or status in _LATER:
        why = str(message or f"status {status}").rstrip(".")
        raise UnreachableError(f"The service is out of order: {why}.", field="--server")
    unsaid = _OF_PROXIES.get(status, "The service answered with status {status}.")
    raise ServiceRefusal(
        str(message) if message else unsaid.format(status=status),
        status,
        str(field) if field else None,
    )
