"""Other work on the machine while the program runs."""

from __future__ import annotations

import re

from steelyard.factors.host_levels import host_factor

_LEVEL = re.compile(r"none|(cpu|memory|disk):[1-9][0-9]{0,3}|run:.*\S.*")


def _normal(text: str) -> str:
    if not _LEVEL.fullmatch(text):
        raise ValueError("it takes none, cpu:N, memory:N, disk:N with N processes, or run:COMMAND")
    return text


EXTENSION = host_factor(
    "background-load",
    "none, or N processes that compute (cpu:N), copy memory (memory:N) or write to a disk "
    "(disk:N), or a command (run:COMMAND).",
    _normal,
)
