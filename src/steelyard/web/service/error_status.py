"""The status of HTTP by which an error is told."""

from __future__ import annotations

from steelyard.app.service.people import TooOftenError
from steelyard.app.service.who_may import DeniedError, NotAllowedError
from steelyard.core.errors import DataError, SteelyardError, StoreError, UsageError
from steelyard.service.issuer import IssuerError

_ABSENT = ("experiment", "account", "token")


def status_of(error: SteelyardError) -> int:
    """The status for an error."""
    known: tuple[tuple[type[SteelyardError], int], ...] = (
        (NotAllowedError, 403),
        (DeniedError, 401),
        (TooOftenError, 429),
        (StoreError, 503),
        (IssuerError, 502),
    )
    for kind, status in known:
        if isinstance(error, kind):
            return status
    if isinstance(error, UsageError) and error.field in _ABSENT:
        return 404
    return 422 if isinstance(error, UsageError | DataError) else 500
