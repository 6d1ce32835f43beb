"""Provenance of sessions that were stored before values of the environment were left out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, cast

from steelyard.core.environment_key import keyed_digest
from steelyard.core.masking import mask_text, mask_words
from steelyard.core.recorded_names import explains_result

KEY_MESSAGE = b"steelyard"


def scrubbed(provenance: str, recorded: Iterable[str], key: bytes) -> str:
    """The JSON of a session without values that explain no result.

    Parameters
    ----------
    provenance : str
        JSON. What is no object, or has no environment, comes back as it is.
    recorded : iterable of str
        Variables whose values the user wanted to be kept.
    key : bytes
        Of the digests that stand for the other values, as in a session of today. A session
        with digests by another key loses the values alone.
    """
    try:
        session: Any = json.loads(provenance)
    except (ValueError, RecursionError):
        return provenance  # Damaged: whoever reads it is told.
    if not isinstance(session, dict):
        return provenance
    _scrub_environment(cast("dict[str, Any]", session), frozenset(recorded), key)
    argv: Any = session.get("argv")
    if isinstance(argv, list) and all(isinstance(word, str) for word in cast("list[Any]", argv)):
        session["argv"] = list(mask_words(cast("list[str]", argv)))
    return json.dumps(session, separators=(",", ":"))


def _scrub_environment(session: dict[str, Any], recorded: frozenset[str], key: bytes) -> None:
    kept: Any = session.get("environment")
    if not isinstance(kept, dict):
        return
    own_key = keyed_digest(key, KEY_MESSAGE)
    is_ours = session.get("environment_key", own_key) == own_key
    values: dict[str, Any] = {}
    digests: dict[str, str] = {}
    for name, value in cast("dict[str, Any]", kept).items():
        if name in recorded or not isinstance(value, str):
            values[name] = value
        elif explains_result(name):
            values[name] = mask_text(value)
        elif is_ours:
            digests[name] = keyed_digest(key, os.fsencode(name) + b"\0" + os.fsencode(value))
    session["environment"] = values
    if digests:
        session["environment_digests"] = {**session.get("environment_digests", {}), **digests}
        session["environment_key"] = own_key


def recorded_in(specification: str) -> tuple[str, ...]:
    """The variables whose values the user wanted to be kept, by the JSON of a specification."""
    try:
        found: Any = json.loads(specification)["recorded_environment"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    return tuple(name for name in found if isinstance(name, str)) if isinstance(found, list) else ()
