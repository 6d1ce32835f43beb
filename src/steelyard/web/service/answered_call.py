"""How a call of the API is answered: whose token it has, what it sends, what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from steelyard.app.service.service import Service
from steelyard.core.errors import DataError, SteelyardError, UsageError
from steelyard.web.service.error_status import status_of
from steelyard.web.service.in_turn import in_turn
from steelyard.web.service.inner_fault import inner_fault

_SCHEMA = {"schema": "steelyard/1"}
# What one request may hold; results of a block with a million iterations stay below it.
MOST_BODY_BYTES = 64 << 20


class ReadableJson(JSONResponse):
    """JSON whose texts may come from anyone: half a character of UTF-16 is shown as ``?``."""

    def render(self, content: Any) -> bytes:
        """The bytes of the document."""
        told = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return told.encode("utf-8", "replace")


def person_route(
    path: str, method: str, service: Service, scope: str, call: Any, *, is_long: bool = False
) -> Route:
    """A call of people's programs. Whose token it is comes first: strangers send no bodies.

    `is_long` is for one that reads all trials of an experiment.
    """
    kind = path if is_long else ""

    async def endpoint(request: Request) -> Response:
        async def answer() -> Any:
            who = await in_turn(service.access.identity, token_of(request), scope)
            body = await body_of(request) if method == "POST" else {}
            return await in_turn(call, service, who, request.path_params, body, kind=kind)

        return await answered(answer)

    return Route(path, endpoint, methods=[method])


def worker_route(path: str, service: Service, call: Any) -> Route:
    """A call of workers, each with a token of its own."""

    async def endpoint(request: Request) -> Response:
        async def answer() -> Any:
            worker = await in_turn(service.access.worker, token_of(request))
            return await in_turn(call, service, worker, await body_of(request))

        return await answered(answer)

    return Route(path, endpoint, methods=["POST"])


def token_of(request: Request) -> str:
    """The token of the header, empty where there is none."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def answered(answer: Callable[[], Awaitable[Any]]) -> Response:
    """The answer as JSON, or what is wrong as an object with a status that says whose fault."""
    try:
        found = await answer()
    except SteelyardError as error:
        return error_response(error)
    except RecursionError:
        return error_response(DataError("What was sent is nested too deep."))
    except Exception as error:  # noqa: BLE001 - a slip of one call, which the journal has to show
        return error_response(inner_fault(error))
    if isinstance(found, Response):
        return found
    return Response(status_code=204) if found is None else ReadableJson(found)


def error_response(error: SteelyardError) -> Response:
    """The document of kind ``error``."""
    document = {**_SCHEMA, "kind": "error", "code": error.code, "message": error.message}
    return ReadableJson({**document, "field": error.field}, status_code=status_of(error))


async def body_of(request: Request) -> dict[str, Any]:
    """The object of JSON that was sent, read no farther than its limit.

    Raises
    ------
    DataError
        It is too large, or no object.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_BODY_BYTES:
            raise DataError(f"A request has at most {MOST_BODY_BYTES >> 20} MiB.")
    try:
        found = json.loads(bytes(data) or b"{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError("A request's body must be an object of JSON.")
    return cast("dict[str, Any]", found)


def text_in(body: dict[str, Any], name: str, default: str | None = None) -> str:
    """The text in a field.

    Raises
    ------
    UsageError
        It is no text, or there is none and no default.
    """
    value = body.get(name, default)
    if not isinstance(value, str):
        raise UsageError(f"{name} takes text, not {value!r}.", field=name)
    return value
