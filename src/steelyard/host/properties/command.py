"""A setting that the user brings: commands that set it, read it and undo it."""

from __future__ import annotations

from typing import Any

from steelyard.core.errors import HostError
from steelyard.factors.factor import any_text
from steelyard.factors.host_levels import host_factor
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host

LEVEL = "{level}"
_SHELL = "/bin/sh"


class Command(Setting):
    """What `set` brings about for ``{level}``. It is put back by `undo`, or by `set` with what
    `get` told before."""

    name = "command"

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        if "get" not in asked.texts:
            return None
        status, output = host.run([_SHELL, "-c", asked.texts["get"]])
        return None if status == 0 else f"`{asked.texts['get']}` fails: {_last(output, status)}"

    def read(self, host: Host, asked: Asked) -> Any:
        return {"commands": dict(asked.texts), "level": _told(host, asked.texts)}

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        return {"commands": dict(asked.texts), "level": asked.level}

    def apply(self, host: Host, wanted: Any) -> None:
        _run(host, wanted["commands"]["set"].replace(LEVEL, wanted["level"]))

    def realised(self, host: Host, wanted: Any) -> str:
        told = _told(host, wanted["commands"])
        return wanted["level"] if told is None else told

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        # Which commands these are only their user knows: the journal itself must be trusted.
        same = previous["commands"] == wanted["commands"]
        return None if same else "its commands were not those that set it"

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        commands, before = previous["commands"], previous["level"]
        if before is not None and _told(host, commands) == before:
            return
        command = commands.get("undo") or commands["set"]
        _run(host, command.replace(LEVEL, wanted["level"] if before is None else before))

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        # What such a command changes, and whether it outlives a boot, only its user knows.
        return previous


def _told(host: Host, commands: dict[str, str] | Any) -> str | None:
    if "get" not in commands:
        return None
    status, output = host.run([_SHELL, "-c", commands["get"]])
    if status != 0:
        raise HostError(f"`{commands['get']}` fails: {_last(output, status)}")
    return output


def _run(host: Host, command: str) -> None:
    status, output = host.run([_SHELL, "-c", command])
    if status != 0:
        raise HostError(f"`{command}` fails: {_last(output, status)}")


def _last(output: str, status: int) -> str:
    return output.splitlines()[-1] if output else f"status {status}"


SETTING = Command()


FACTOR = host_factor(
    "command",
    "Whatever the commands set, get and undo bring about, tell and take back for {level}.",
    any_text,
    texts={
        "set": "What brings a level about; {level} stands for it. Needed.",
        "get": "What prints the level in force: it is recorded, and `set` puts it back.",
        "undo": "What takes it back instead; {level} stands for what `get` told, or the level.",
    },
)
