"""What can be randomised of a program that cannot be built again."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping

from steelyard.core.errors import UsageError
from steelyard.layout.toolchain import native_file

PRELOADED = ("stack", "heap")
PADDING_VARIABLE = "STEELYARD_PADDING"
# Steps of the ABI's stack alignment, up to a page.
_PAD_STEP_BYTES = 16
_PAD_STEPS = 256


def randomised_environment(
    parts: tuple[str, ...], seed: int, environment: Mapping[str, str]
) -> dict[str, str]:
    """The environment in which a program's heap is shuffled and its stack starts elsewhere.

    Parameters
    ----------
    parts : tuple of str
        Some of ``stack`` and ``heap``.
    seed : int
        What both are drawn from.
    environment : mapping
        Of the caller.

    Raises
    ------
    UsageError
        A part takes building the program.
    MissingCapabilityError
        The heap's library is not installed.
    """
    for part in parts:
        if part not in PRELOADED:
            raise UsageError(
                f"{part} is moved only in a program that `steelyard cc` builds; without building "
                f"it, --layout takes {' and '.join(PRELOADED)}.",
                field="--layout",
            )
    changed = dict(environment)
    changed["STEELYARD_LAYOUT"] = "heap" if "heap" in parts else "none"
    changed["STEELYARD_LAYOUT_SEED"] = str(seed)
    if "heap" in parts:
        libraries = (native_file("libsteelyard-heap.so"), environment.get("LD_PRELOAD", ""))
        changed["LD_PRELOAD"] = ":".join(filter(None, libraries))
    if "stack" in parts:
        changed[PADDING_VARIABLE] = "x" * (
            random.Random(seed).randrange(_PAD_STEPS) * _PAD_STEP_BYTES
        )
    return changed


def become(argv: tuple[str, ...], environment: Mapping[str, str]) -> None:
    """Replace this process by the program.

    Raises
    ------
    UsageError
        There is no such program.
    """
    try:
        os.execvpe(argv[0], argv, environment)
    except OSError as error:
        raise UsageError(
            f"{argv[0]} cannot be started: {error.strerror}.", field="command"
        ) from None
