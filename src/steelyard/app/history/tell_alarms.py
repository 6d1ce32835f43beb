"""Telling of alarms: each is told once, to a file or to an address that the caller names."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from steelyard.analysis.history.stated_alarms import FoundChanges, StatedAlarm
from steelyard.app.history.known_notes import KnownNotes
from steelyard.core.errors import DataError, UsageError
from steelyard.store.track_store import ChangeNote, TrackStore

if TYPE_CHECKING:
    from steelyard.app.results.library import Library

_TIMEOUT_S = 30.0
# Of what a server says, in characters.
_SHOWN = 100


def untold_alarms(
    alarms: Sequence[StatedAlarm], found: FoundChanges, library: Library
) -> list[StatedAlarm]:
    """Those that nobody was told of before."""
    told = [note for note in TrackStore(library.store).notes() if note.sort == "told"]
    known = KnownNotes(told, found.tracks)
    return [
        stated for stated in alarms if not any(known.on(change) for change in stated.alarm.changes)
    ]


def keep_told(alarms: Sequence[StatedAlarm], found: FoundChanges, library: Library) -> None:
    """Keep that these were told."""
    store = TrackStore(library.store)
    numbers = {track.name: track.number for track in found.tracks}
    for stated in alarms:
        for change in stated.alarm.changes:
            number = numbers[change.track]
            if number is not None:
                store.note(ChangeNote(number, change.revision, "told", time.time()))


def checked_address(address: str) -> str:
    """An address that can be posted to.

    Raises
    ------
    UsageError
        It is none of http or https.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            "--webhook takes an address that begins with https:// or http://.", field="--webhook"
        )
    return address


def post(address: str, text: str, document: dict[str, Any]) -> None:
    """Post what is told, as ``text`` (which chats show) and ``report`` (the document).

    Raises
    ------
    DataError
        The address does not take it; the message names its host alone, for the rest of an address
        is often a secret.
    """
    host = urlsplit(address).hostname
    data = json.dumps({"text": text, "report": document}, allow_nan=False).encode()
    request = Request(
        address, data=data, headers={"Content-Type": "application/json"}, method="POST"
    )
    why = _why_not_taken(request)
    if why is not None:
        raise DataError(
            f"The webhook at {host} did not take the alarms: {why}. They are told again by the "
            "next check.",
            field="--webhook",
        )


class _NoRedirect(HTTPRedirectHandler):
    """What is told goes to the address that was named, and nowhere else."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        """None: the answer stands as it is, an error."""


def _why_not_taken(request: Request) -> str | None:
    """Post in a thread of its own: a server that answers byte by byte would never time out."""
    why: list[str | None] = []

    def send() -> None:
        try:
            with build_opener(_NoRedirect()).open(request, timeout=_TIMEOUT_S):
                why.append(None)
        except (HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "code", None) or getattr(error, "reason", None)
            why.append(" ".join(str(reason or type(error).__name__).split())[:_SHOWN])

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    thread.join(_TIMEOUT_S)
    return why[0] if why else f"it gave no answer within {_TIMEOUT_S:g} s"
