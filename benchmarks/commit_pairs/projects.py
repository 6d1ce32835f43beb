"""Projects whose histories are built and measured here: how one revision becomes a program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")


@dataclass(frozen=True)
class Project:
    """How a revision is built, and what is run.

    Parameters
    ----------
    name : str
        Its benchmarks are in ``programs/NAME_benchmarks.c`` or ``.cpp``.
    compiler : str
    paths : tuple of str
        A revision counts if it changes one of these.
    folders : tuple of str
        Patterns of what is taken from a revision, as far as it is there.
    sources : tuple of str
        Patterns, below the revision.
    includes : tuple of str
    end : str
        The newest revision.
    count : int
        How many are taken up to it.
    benchmarks : tuple of str
    libraries : tuple of str
        What the linker is given besides.
    options : tuple of str
        What the compiler is given besides.
    """

    name: str
    compiler: str
    paths: tuple[str, ...]
    folders: tuple[str, ...]
    sources: tuple[str, ...]
    includes: tuple[str, ...]
    end: str
    count: int
    benchmarks: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def program(self) -> Path:
        """The source of the benchmarks."""
        ending = "cpp" if self.compiler == "g++" else "c"
        return PROGRAMS / f"{self.name}_benchmarks.{ending}"


_ALL = (
    Project(
        "lz4",
        "gcc",
        ("lib/*.c", "lib/*.h"),
        ("lib",),
        ("lib/lz4.c", "lib/lz4hc.c", "lib/lz4frame.c", "lib/xxhash.c"),
        ("lib",),
        "v1.9.0",
        140,
        ("fast", "accelerated", "high", "highest", "frame", "stream", "decompress"),
    ),
    Project(
        "libdeflate",
        "gcc",
        ("lib/*.c", "lib/*.h", "common/*.h", "libdeflate.h", "common_defs.h"),
        ("lib", "common", "libdeflate.h", "common_defs.h"),
        ("lib/*.c", "lib/x86/*.c"),
        (".", "common"),
        "v1.19",
        160,
        (
            "level-1", "level-4", "level-6", "level-9", "level-12", "small", "decompress",
            "crc32", "adler32",
        ),
    ),
    Project(
        "pugixml",
        "g++",
        ("src/*.cpp", "src/*.hpp"),
        ("src",),
        ("src/*.cpp",),
        ("src",),
        "v1.7",
        170,
        (
            "parse", "parse-full", "parse-minimal", "save", "save-raw", "walk", "build",
            "attributes", "xpath-descendants", "xpath-predicates", "xpath-strings", "xpath-union",
        ),
    ),
    Project(
        "cjson",
        "gcc",
        ("cJSON.c", "cJSON.h"),
        ("cJSON.c", "cJSON.h"),
        ("cJSON.c",),
        (".",),
        "v1.7.18",
        300,
        (
            "parse-records", "parse-numbers", "parse-strings", "parse-nested", "print",
            "print-unformatted", "print-numbers", "look-up", "build", "duplicate", "minify",
        ),
        ("-lm",),
    ),
    Project(
        "tinyxml2",
        "g++",
        ("tinyxml2.cpp", "tinyxml2.h"),
        ("tinyxml2.cpp", "tinyxml2.h"),
        ("tinyxml2.cpp",),
        (".",),
        "7.0.0",
        330,
        (
            "parse", "parse-escaped", "parse-nested", "print", "print-compact", "visit", "query",
            "build", "write", "copy",
        ),
    ),
    Project(
        "lua",
        "gcc",
        ("*.c", "*.h", ":!ltests.*", ":!lua.c", ":!luac.c", ":!onelua.c"),
        ("l*.c", "l*.h"),
        # The interpreter, the compiler and the tests of its own have a `main` or want another.
        ("l[!tu]*.c", "lt[!e]*.c", "lu[!a]*.c"),
        (".",),
        "v5.4.6",
        150,
        (
            "arithmetic", "floats", "calls", "closures", "arrays", "records", "strings",
            "patterns", "format", "sort", "methods", "coroutines", "compile", "collect",
        ),
        ("-lm",),
        # Else it hashes by the clock and by addresses.
        ("-Dluai_makeseed(...)=77u",),
    ),
)  # fmt: skip
PROJECTS = {project.name: project for project in _ALL}
