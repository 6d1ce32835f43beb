"""The flight recorder that is built into Java: samples at a fixed period, without safepoints."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from steelyard.core.errors import DataError, MissingCapabilityError
from steelyard.core.install_hint import install_command
from steelyard.profile.java.java_command import require_java
from steelyard.profile.java.java_places import TAKEN_AS_NOTED
from steelyard.profile.profilers import (
    Launch,
    Profiler,
    Reading,
    profile_bytes,
    profile_files,
    shares_of,
    tool_output,
)

# Its tool reads no file of another name.
_SUFFIX = ".jfr"
# The densest of the settings that come with Java: a sample every 10 ms.
_SETTINGS = "profile"
# With which a recording begins: jdk.jfr.internal.consumer.ChunkHeader.
_MAGIC = b"FLR\0"
# The frames of a stack that are read: enough to see who calls whom.
_DEPTH = "8"
# Of a hidden class the name ends with its address, another one in every run.
_ADDRESS = re.compile(r"[./+]0x[0-9a-f]+$")


def _tool(argv: Sequence[str]) -> str | None:
    """`jfr`, of the Java that ran where that is known."""
    java = shutil.which(argv[0]) if argv else None
    beside = os.path.dirname(os.path.realpath(java)) if java else None
    return (shutil.which("jfr", path=beside) if beside else None) or shutil.which("jfr")


def _require(argv: Sequence[str]) -> None:
    require_java("jfr", argv)
    if _tool(argv) is None:
        raise MissingCapabilityError(
            "The profiler jfr is not installed: there is no program jfr. "
            f"`{install_command('openjdk-17-jdk-headless')}` installs it.",
            field="--profiler",
        )


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    file = f"{path}{_SUFFIX}"
    recording = f"-XX:StartFlightRecording=filename={file},settings={_SETTINGS},dumponexit=true"
    # It would tell of its start among what the program writes.
    return Launch((argv[0], "-Xlog:jfr+startup=off", recording, *argv[1:]))


def _name(frame: dict[str, Any]) -> str:
    method = frame["method"]
    owner = _ADDRESS.sub("", method["type"]["name"].replace("/", "."))
    return f"{owner}.{method['name']}"


def _read(path: str, argv: Sequence[str]) -> Reading:
    path = profile_files(path, _SUFFIX)[0]
    if profile_bytes(path, len(_MAGIC)) != _MAGIC:
        raise DataError(
            f"{path} is not a recording of the flight recorder: it does not begin as one.",
            field="profile",
        )
    tool = _tool(argv)
    if tool is None:
        _require(argv)
    command = [str(tool), "print", "--json", "--stack-depth", _DEPTH]
    told = tool_output([*command, "--events", "jdk.ExecutionSample", path], path)
    counts: dict[str, float] = {}
    calls: set[tuple[str, str]] = set()
    try:
        for event in json.loads(told.stdout)["recording"]["events"]:
            stack = event["values"]["stackTrace"]
            if stack is None:
                continue
            names = [_name(frame) for frame in stack["frames"]]
            counts[names[0]] = counts.get(names[0], 0.0) + 1
            calls.update((caller, callee) for callee, caller in pairwise(names))
    except (ValueError, KeyError, TypeError, IndexError):
        message = " ".join(told.stderr.decode("utf-8", "replace").split())[:200]
        raise DataError(
            f"{path} is not a recording of the flight recorder: {message or 'it has no events'}",
            field="profile",
        ) from None
    return Reading(shares_of(counts, path), frozenset(calls))


EXTENSION = Profiler(
    "jfr",
    "samples at a fixed period",
    "jvm",
    _require,
    _launch,
    _read,
    caution=TAKEN_AS_NOTED,
)
