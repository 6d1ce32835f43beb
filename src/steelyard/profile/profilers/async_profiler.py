"""async-profiler: samples of Java by the kernel's clock at a fixed period, without safepoints."""

from __future__ import annotations

import glob
import os
import platform
import re
import zipfile
from collections.abc import Sequence
from contextlib import suppress

from steelyard.core.errors import MissingCapabilityError
from steelyard.profile.folded_stacks import read_folded
from steelyard.profile.java.java_command import is_machine_thread, require_java
from steelyard.profile.java.java_names import machine_name
from steelyard.profile.java.java_places import TAKEN_AS_NOTED
from steelyard.profile.profilers import Launch, Profiler, Reading

_LIBRARY = "libasyncProfiler.so"
_MACHINES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}
_ARTIFACT = "tools.profiler:async-profiler:3.0"
# The same rate as Steelyard's own default.
_OPTIONS = "start,event=cpu,interval=1ms,alluser,threads,dot,collapsed"
_ADDRESS = re.compile(r"[./+]0x[0-9a-f]+(?=\.|$)")
_THREAD = re.compile(r"\[(?P<name>.*?)( tid=\d+)?\]$")


def _library() -> str | None:
    """Where the user has it, or in the jar that Maven fetched, unpacked into the cache."""
    home = os.environ.get("ASYNC_PROFILER_HOME")
    if home:
        path = os.path.join(home, "lib", _LIBRARY)
        return path if os.path.exists(path) else None
    folder = os.path.expanduser("~/.m2/repository/tools/profiler/async-profiler")
    jars = sorted(glob.glob(os.path.join(glob.escape(folder), "*", "async-profiler-*.jar")))
    inside = f"{_MACHINES.get(platform.machine(), '')}/{_LIBRARY}"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for jar in reversed(jars):
        target = os.path.join(cache, "steelyard", os.path.basename(jar).removesuffix(".jar"))
        path = os.path.join(target, inside)
        if os.path.exists(path):
            return path
        # A fetch that was broken off leaves a part of a jar.
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(jar) as archive:
            if inside in archive.namelist():
                return archive.extract(inside, target)
    return None


def _require(argv: Sequence[str]) -> None:
    require_java("async-profiler", argv)
    if _library() is None:
        raise MissingCapabilityError(
            "async-profiler is not installed. `mvn dependency:get "
            f"-Dartifact={_ARTIFACT}` fetches it, or name its folder by ASYNC_PROFILER_HOME.",
            field="--profiler",
        )


def _launch(path: str, argv: Sequence[str], _: int) -> Launch:
    agent = f"-agentpath:{_library() or _LIBRARY}={_OPTIONS},file={path}"
    return Launch((argv[0], agent, *argv[1:]))


def _names(stack: str) -> list[str] | None:
    thread, *frames = stack.split(";")
    named = _THREAD.match(thread)
    if named is None:
        return None
    if is_machine_thread(named["name"]):
        return []
    return [machine_name(_ADDRESS.sub("", frame)) for frame in frames]


def _read(path: str, _: Sequence[str]) -> Reading:
    what = "a profile of async-profiler in its collapsed format"
    return read_folded(path, what, _names, "stack of a thread")


EXTENSION = Profiler(
    "async-profiler",
    "samples at a fixed period",
    "jvm",
    _require,
    _launch,
    _read,
    caution=TAKEN_AS_NOTED,
)
