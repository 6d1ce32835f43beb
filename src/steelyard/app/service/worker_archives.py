"""Archives of results on a worker: beside the result that they belong to, until they are sent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress

from steelyard.service.service_client import ServiceClient, ServiceRefusal

# In the directory of a part, and behind the name of a result in the outbox.
ARCHIVES = "archives"
_SUFFIX = f".{ARCHIVES}"
_RESULT = ".json"


def keep_archives(directory: str, outbox: str, name: str) -> None:
    """Move the archives of the part in `directory` to where its result `name` will lie: before it,
    so that a result never goes without them."""
    source, target = os.path.join(directory, ARCHIVES), _beside(outbox, name)
    shutil.rmtree(target, ignore_errors=True)
    with suppress(FileNotFoundError):
        os.rename(source, target)


def has_archives(outbox: str, name: str) -> bool:
    """Whether the result `name` has archives that were not sent."""
    return os.path.isdir(_beside(outbox, name))


def send_archives(
    client: ServiceClient,
    outbox: str,
    name: str,
    place: tuple[int, int],
    say: Callable[[str], None],
) -> None:
    """Send the archives of the result `name` of a part and an attempt; each goes when the service
    has it, or has said why not: the numbers of its trial are worth more.

    Raises
    ------
    UnreachableError
        The service does not answer now.
    """
    folder = _beside(outbox, name)
    for position in sorted(os.listdir(folder)):
        path = os.path.join(folder, position)
        part, attempt = place
        told = ""
        try:
            found = client.send_file(f"api/worker/archives/{part}/{attempt}/{position}", path)
            told = str(found.get("message", "")) if isinstance(found, dict) else ""
        except ServiceRefusal as error:
            told = error.message
        if told:
            say(f"the archive of results of trial {position} was not kept: {told}")
        os.unlink(path)
    shutil.rmtree(folder, ignore_errors=True)


def forget_orphans(outbox: str) -> None:
    """Take away archives of which a worker that was killed wrote no result."""
    names = set(os.listdir(outbox))
    for name in names:
        if name.endswith(_SUFFIX) and name.removesuffix(_SUFFIX) + _RESULT not in names:
            shutil.rmtree(os.path.join(outbox, name), ignore_errors=True)


def _beside(outbox: str, name: str) -> str:
    return os.path.join(outbox, name.removesuffix(_RESULT) + _SUFFIX)
