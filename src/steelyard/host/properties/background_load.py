"""Other work on the machine while the program runs."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from steelyard.core.errors import HostError
from steelyard.factors.host_levels import host_factor
from steelyard.host.load import KINDS
from steelyard.host.session import is_session
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host

NONE = "none"
RUN = "run:"
_WORD = "steelyard-load-"


class BackgroundLoad(Setting):
    """Processes that do one thing without pause, or a command of the user's.

    They are found again by a word in their environment, so that a later session can end what a
    killed one has left.
    """

    name = "background-load"

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        return None

    def read(self, host: Host, asked: Asked) -> Any:
        return {"argv": [], "count": 0}

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        word = f"{_WORD}{asked.session}"
        if asked.level == NONE:
            return {"level": NONE, "count": 0, "argv": [], "word": word}
        if asked.level.startswith(RUN):
            argv = ["/bin/sh", "-c", asked.level.removeprefix(RUN)]
            return {"level": asked.level, "count": 1, "argv": argv, "word": word}
        kind, _, count = asked.level.partition(":")
        argv = [sys.executable, "-m", "steelyard.host.load", kind, str(os.getpid())]
        return {"level": asked.level, "count": int(count), "argv": argv, "word": word}

    def apply(self, host: Host, wanted: Any) -> None:
        announces = not wanted["level"].startswith(RUN)
        for _ in range(wanted["count"]):
            if not host.start_marked(wanted["argv"], wanted["word"], announces=announces):
                raise HostError(f"the load {wanted['level']} ended at once")

    def realised(self, host: Host, wanted: Any) -> str:
        if not wanted["count"]:
            return NONE
        running = len(host.marked(wanted["word"]))
        if wanted["level"].startswith(RUN):
            return wanted["level"] if running else NONE
        return f"{wanted['level'].partition(':')[0]}:{running}"

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        word = wanted["word"]
        if word.startswith(_WORD) and is_session(word.removeprefix(_WORD)):
            return None
        return f"{word!r} is no word by which it finds its processes"

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        host.end_marked(wanted["word"])


LOADS = tuple(KINDS)
SETTING = BackgroundLoad()


_LEVEL = re.compile(r"none|(cpu|memory|disk):[1-9][0-9]{0,3}|run:.*\S.*")


def _level(text: str) -> str:
    if not _LEVEL.fullmatch(text):
        raise ValueError("it takes none, cpu:N, memory:N, disk:N with N processes, or run:COMMAND")
    return text


FACTOR = host_factor(
    "background-load",
    "none, or N processes that compute (cpu:N), copy memory (memory:N) or write to a disk "
    "(disk:N), or a command (run:COMMAND).",
    _level,
)
