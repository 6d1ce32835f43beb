"""An experiment of a service, fetched by the address of its page."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.core.errors import UsageError
from steelyard.service.service_client import ServiceClient

_PAGE = re.compile(r"(https?://[^?#]*?/)service/([0-9A-Za-z]{26})(?:/answer)?/?")
# A million trials with a few metrics.
_MOST_BYTES = 2 << 30
_FORMAT = "steelyard-json"


def is_address(text: str) -> bool:
    """Whether it is an address, and no file."""
    return text.startswith(("http://", "https://"))


@contextmanager
def fetched_experiment(address: str, token: str | None) -> Iterator[tuple[str, str]]:
    """A file with an experiment, which is there meanwhile, and the name of its format.

    Without a token only what everyone may see is fetched.

    Raises
    ------
    UsageError
        It is not the address of an experiment's page.
    UnreachableError, ServiceRefusal
        The service does not answer, or has no such experiment for whoever asks.
    """
    token = os.environ.pop("STEELYARD_TOKEN", None) if token is None else token
    page = _PAGE.fullmatch(address)
    if page is None:
        raise UsageError(
            "import takes a FILE, or the address of an experiment's page on a service, such as "
            f"https://bench.example/service/01M85SC0VHQM52GC8EDA4C9YQW, not {address!r}.",
            field="file",
        )
    root, name = page[1], page[2].upper()
    path = f"service/{name}" if token is None else f"api/experiments/{name}"
    with tempfile.TemporaryDirectory(prefix="steelyard-import-") as directory:
        target = os.path.join(directory, f"{name}.json")
        client = ServiceClient(root, token or "")
        client.receive_file(f"{path}/download/{_FORMAT}", target, _MOST_BYTES)
        yield target, _FORMAT
