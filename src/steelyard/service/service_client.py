"""Calls of a service's API over HTTP, by the standard library: only outgoing connections."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from steelyard.core.errors import MissingCapabilityError, SteelyardError, UsageError

TIMEOUT_S = 30.0
_MOST_ANSWER_BYTES = 1 << 28
# Of HTTP: it took too long, or there were too many requests.
_LATER = (408, 429)


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

    def _ask(self, method: str, path: str, body: bytes | None) -> Any:
        url = urlsplit(self.address)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        if url.scheme not in kinds or not url.hostname:
            raise UsageError(
                f"--server takes an address such as http://host:8350/, not {self.address!r}.",
                field="--server",
            )
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            connection = kinds[url.scheme](url.hostname, url.port, timeout=TIMEOUT_S)
            try:
                connection.request(method, url.path.rstrip("/") + "/" + path, body, headers)
                response = connection.getresponse()
                data = response.read(_MOST_ANSWER_BYTES)
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnreachableError(
                f"The service at {self.shown_address} does not answer: "
                f"{error or type(error).__name__}. Is it running? Start one: steelyard serve.",
                field="--server",
            ) from None
        return _answer(response.status, data)


def _answer(status: int, data: bytes) -> Any:
    if status == 204:
        return None
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if 200 <= status < 300 and found is not None:
        return found
    told = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    message = told.get("message")
    field = told.get("field")
    if status >= 500 or status in _LATER:
        raise UnreachableError(
            f"The service is out of order: {message or f'status {status}'}.", field="--server"
        )
    raise ServiceRefusal(
        str(message) if message else f"The service answered with status {status}.",
        status,
        str(field) if field else None,
    )
