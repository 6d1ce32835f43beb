"""A factor that the user brings as commands."""

from __future__ import annotations

from steelyard.factors.factor import any_text
from steelyard.factors.host_levels import host_factor

EXTENSION = host_factor(
    "command",
    "Whatever the commands set, get and undo bring about, tell and take back for {level}.",
    any_text,
    texts={
        "set": "What brings a level about; {level} stands for it. Needed.",
        "get": "What prints the level in force: it is recorded, and `set` puts it back.",
        "undo": "What takes it back instead; {level} stands for what `get` told, or the level.",
    },
)
