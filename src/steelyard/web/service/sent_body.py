"""A body that is a file: read no farther than its limit, onto the disk."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from steelyard.core.errors import DataError, StoreError
from steelyard.core.full_disk import is_full


def body_length(request: Request, unknown: int) -> int:
    """How long a body is, by its header; `unknown` where it does not say."""
    told = request.headers.get("Content-Length", "")
    return int(told) if told.isascii() and told.isdigit() else unknown


async def save_body(request: Request, path: str, limit: int, what: str) -> None:
    """Write a body into a new file.

    Parameters
    ----------
    limit : int
        Bytes.
    what : str
        It is called so in the error.

    Raises
    ------
    DataError
        It is longer.
    StoreError
        The disk of the service is full.
    """
    size = 0
    try:
        with open(path, "xb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise DataError(f"{what} has at most {limit >> 20} MiB.", field="FILE")
                await run_in_threadpool(file.write, chunk)
    except OSError as error:
        if not is_full(error):
            raise
        raise StoreError(
            f"The service's disk is full: {what[0].lower()}{what[1:]} cannot be taken now.",
            field="FILE",
        ) from None
