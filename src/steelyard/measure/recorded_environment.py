"""The environment of an experiment as it is kept: values that explain it, digests of the rest."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.core.environment_key import environment_key, keyed_digest
from steelyard.core.masking import mask_text
from steelyard.core.recorded_names import explains_result


def recorded_environment(
    environment: Mapping[bytes, bytes], named: Sequence[str] = ()
) -> dict[str, Any]:
    """What is kept of `environment`.

    Parameters
    ----------
    environment : mapping of bytes to bytes
    named : sequence of str
        Variables whose values the user wants to be kept.

    Returns
    -------
    dict
        ``environment``: the values of variables that explain a result (`explains_result`), with
        passwords in them masked, and those of `named` as they are. ``environment_digests``: of
        every other variable an HMAC-SHA256 by a key that only this user has, so that a change is
        seen but no value can be tried out by whoever reads an export. ``environment_key`` says
        which key: digests by different keys say nothing of one another.
    """
    key = environment_key()
    values: dict[str, str] = {}
    digests: dict[str, str] = {}
    for raw_name, raw_value in environment.items():
        name, value = os.fsdecode(raw_name), os.fsdecode(raw_value)
        if name in named:
            values[name] = value
        elif explains_result(name):
            values[name] = mask_text(value)
        else:
            digests[name] = keyed_digest(key, raw_name + b"\0" + raw_value)
    return {
        "environment": values,
        "environment_digests": digests,
        "environment_key": keyed_digest(key, b"steelyard"),
    }
