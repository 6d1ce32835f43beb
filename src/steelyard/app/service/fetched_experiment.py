"""An experiment of a service, fetched by the address of its page."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from steelyard.core.errors import DataError, UsageError
from steelyard.core.package_spec import EnvironmentLimits
from steelyard.core.private_file import make_private_directories
from steelyard.service.service_client import ServiceClient

_PAGE = re.compile(r"(https?://[^?#]*?/)service/([0-9A-Za-z]{26})(?:/answer)?/?")
# A million trials with a few metrics.
_MOST_BYTES = 2 << 30
_ARCHIVE = re.compile(r"trial-[0-9]{1,9}(\.[a-z0-9]{1,7}){0,2}")
_FORMAT = "steelyard-json"


def is_address(text: str) -> bool:
    """Whether it is an address, and no file."""
    return text.startswith(("http://", "https://"))


def fetch_results(address: str, token: str | None, directory: str) -> int:
    """Fetch the archives of results of an experiment into a directory; how many there are.

    Each is checked against the digest that the service tells. One that is there already is kept.

    Raises
    ------
    UsageError, UnreachableError, ServiceRefusal
        As `fetched_experiment`; or the directory cannot be written.
    DataError
        What came is not what the service told of.
    """
    root, name = _parts(address)
    base = f"service/{name}/results" if token is None else f"api/experiments/{name}/results"
    client = ServiceClient(root, token or "")
    found = client.get(f"{base}.json" if token is None else base)
    rows = list(_rows(found))
    try:
        make_private_directories(directory)
    except OSError as error:
        raise UsageError(
            f"--results: {directory} cannot be made: {error.strerror}.", field="--results"
        ) from None
    for name, position, digest in rows:
        _fetch(client, f"{base}/{position}", os.path.join(directory, name), digest)
    return len(rows)


def _rows(found: object) -> Iterator[tuple[str, int, str]]:
    """The names, positions and digests of archives as a service tells of them.

    Raises
    ------
    DataError
        It tells something else: it may be a stranger's.
    """
    archives = found.get("archives") if isinstance(found, dict) else None
    if not isinstance(archives, list):
        raise DataError("The service does not tell of archives of results.", field="--results")
    for row in archives:
        told = row if isinstance(row, dict) else {}
        name, position = told.get("file"), told.get("position")
        if "file" not in told or not isinstance(position, int):
            raise DataError(
                "The service tells of an archive of results without its file and position.",
                field="--results",
            )
        if name:
            yield _plain_name(str(name)), position, str(told.get("sha256"))


def _plain_name(name: str) -> str:
    """A file's name as services give them; a service may be a stranger's, too.

    Raises
    ------
    DataError
        It is another.
    """
    if _ARCHIVE.fullmatch(name) is None:
        raise DataError(f"The service names an archive of results {name!r}.", field="--results")
    return name


def _fetch(client: ServiceClient, path: str, target: str, digest: str) -> None:
    if os.path.exists(target) and _digest(target) == digest:
        return
    part = f"{target}.part"
    with suppress(FileNotFoundError):
        os.unlink(part)
    client.receive_file(path, part, EnvironmentLimits().result_bytes)
    if _digest(part) != digest:
        os.unlink(part)
        raise DataError(
            f"{os.path.basename(target)} came with other bytes than the service told of. "
            "Try again.",
            field="--results",
        )
    os.replace(part, target)


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _parts(address: str) -> tuple[str, str]:
    """The address of a service and the identifier of an experiment, of the address of its page."""
    page = _PAGE.fullmatch(address)
    if page is None:
        raise UsageError(
            "import takes a FILE, or the address of an experiment's page on a service, such as "
            f"https://bench.example/service/01M85SC0VHQM52GC8EDA4C9YQW, not {address!r}.",
            field="file",
        )
    return page[1], page[2].upper()


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
    root, name = _parts(address)
    path = f"service/{name}" if token is None else f"api/experiments/{name}"
    with tempfile.TemporaryDirectory(prefix="steelyard-import-") as directory:
        target = os.path.join(directory, f"{name}.json")
        client = ServiceClient(root, token or "")
        client.receive_file(f"{path}/download/{_FORMAT}", target, _MOST_BYTES)
        yield target, _FORMAT
