"""The readers, each as a function of a file that holds an input."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.profile_fuzz.damage import damaged, damaged_chunks
from steelyard.analysis.profiles.agreement_results import ProgramProfiles
from steelyard.analysis.profiles.exported_profile import exported
from steelyard.app.profile.record_profile import read_answer
from steelyard.core.errors import DataError
from steelyard.profile.profilers import PROFILERS, jfr, perf
from steelyard.profile.symbols.perf_map import read_perf_map
from steelyard.report.kinds.agreement.document import profiles_of
from steelyard.report.kinds.profile.document import profile_document
from steelyard.report.kinds.profile.text import profile_text
from steelyard.report.profile_formats import PROFILE_FORMATS

Damage = Callable[[bytes, random.Random, Sequence[bytes]], bytes]
_FORMATS = ("folded", "speedscope", "pprof", "firefox")
# The corpus of a profile of the sampler that a map of Java lies beside, and its process.
_JAVA_PROCESS = 5
CORPUS = os.path.join(os.path.dirname(__file__), "corpus")


@dataclass(frozen=True)
class Reader:
    """What reads an input, and how inputs for it are damaged.

    Parameters
    ----------
    read : callable
        From the path of a file.
    damage : callable
    weight : int
        How many of a hundred inputs are for it.
    """

    read: Callable[[str], object]
    weight: int
    damage: Damage = damaged


def _answer(path: str) -> None:
    """A whole report, in each of its forms."""
    answer = read_answer(path)
    json.dumps(profile_document(answer), allow_nan=False)
    profile_text(answer)
    shown = exported(answer)
    for name in _FORMATS:
        PROFILE_FORMATS.get(name).render(shown)


def _with_java(path: str) -> None:
    """A whole profile, whose map of Java is the input."""
    with open(os.path.join(CORPUS, "java-profile"), "rb") as file:
        profile = file.read()
    beside = f"{path}.with"
    with open(beside, "wb") as file:
        file.write(profile)
    map_path = f"{beside}.java-{_JAVA_PROCESS}"
    os.replace(path, map_path)
    try:
        profile_text(read_answer(beside))
        PROFILERS.get("steelyard-jvm").read(beside, ())
    finally:
        os.remove(map_path)


def _gprof(path: str) -> None:
    """Of a program that has nothing but the mark of -pg."""
    program = f"{path}.program"
    if not os.path.exists(program):
        with open(program, "wb") as file:
            file.write(b"__monstartup")
        os.chmod(program, stat.S_IRWXU)
    PROFILERS.get("gprof").read(path, (program,))


def _by_tool(name: str, magic: bytes) -> Callable[[str], None]:
    """A profiler whose own tool prints the input."""
    module: Any = {"jfr": jfr, "perf": perf}[name]

    def read(path: str) -> None:
        with open(path, "rb") as file:
            told = subprocess.CompletedProcess[bytes]((), 0, file.read(), b"")
        with open(path, "wb") as file:
            file.write(magic)
        before = vars(module).copy()
        module.tool_output = lambda *_: told
        module._require = module._tool = lambda *_: name
        try:
            PROFILERS.get(name).read(path, ())
        finally:
            vars(module).update(before)

    return read


def _agreement(path: str) -> list[ProgramProfiles]:
    with open(path, "rb") as file:
        try:
            document = json.load(file)
        except (ValueError, RecursionError) as error:
            raise DataError(str(error)) from None
    return profiles_of(document, path)


def _of(name: str) -> Callable[[str], object]:
    return lambda path: PROFILERS.get(name).read(path, ())


READERS = {
    "profile": Reader(_answer, 38, damaged_chunks),
    "steelyard": Reader(_of("steelyard"), 12, damaged_chunks),
    "java-map": Reader(_with_java, 6),
    "perf-map": Reader(read_perf_map, 4),
    "agreement": Reader(_agreement, 4),
    "gprof": Reader(_gprof, 4),
    "jfr": Reader(_by_tool("jfr", b"FLR\0"), 4),
    "perf": Reader(_by_tool("perf", b"PERFILE2"), 4),
    **{
        name: Reader(_of(name), 4)
        for name in ("async-profiler", "callgrind", "cprofile", "gperftools", "py-spy", "safepoint")
    },
}
