"""One program of the suite as its TOML file says it: docs/suite-recipes.md has the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

GROUPS = ("native", "io", "latency", "jvm", "in-process")
TRAITS = (
    "exceptions",
    "threads",
    "recursion",
    "custom-allocator",
    "io",
    "floating-point",
    "allocation",
)
LANGUAGES = ("c", "c++", "fortran", "java", "python", "javascript", "rust", "scala", "kotlin")
SIZES = ("test", "train", "ref")
SOURCE_KINDS = ("debian", "crates", "pypi", "npm", "maven", "own", "user")
PROBES = ("header", "program", "pkg-config", "file")
COMPARATORS = ("sha256", "text", "numbers")
# What stands in words for a directory or file that is known only when the program is run.
PLACES = ("program", "build", "input", "work", "recipe", "jobs")


@dataclass(frozen=True)
class Artifact:
    """A file that the source is fetched as, known by its digest.

    Parameters
    ----------
    file : str
        Its name in the cache.
    sha256 : str
    size_bytes : int or None
        None where the recipe does not say.
    coordinates : tuple of str
        What the archive knows it by: ``(package, version)``, for Maven ``(group, artifact,
        version)`` or with a classifier as the fourth.
    into : str
        Where it is unpacked, below the prepared source; ``""`` puts it there as it is.
    """

    file: str
    sha256: str
    size_bytes: int | None
    coordinates: tuple[str, ...]
    into: str


@dataclass(frozen=True)
class Release:
    """One version of the source that the recipe is known to work with, with its artifacts."""

    version: str
    artifacts: tuple[Artifact, ...]

    @property
    def is_tarball(self) -> bool:
        """Whether it is the authors' archive alone of a Debian source, without Debian's patches."""
        return len(self.artifacts) == 1 and ".orig.tar." in self.artifacts[0].file


@dataclass(frozen=True)
class Patch:
    """A change to the source, and why it is needed."""

    file: str
    reason: str


@dataclass(frozen=True)
class Source:
    """Where the program comes from.

    Parameters
    ----------
    kind : str
        One of `SOURCE_KINDS`.
    package : str
        What the archive calls it; empty for ``"own"``.
    releases : tuple of Release
        The one preferred first; of a kind that keeps all versions there is one.
    patches : tuple of Patch
    shared : tuple of str
        Folders of ``suite/shared`` that go with the source.
    variable, advice : str
        Of ``"user"``: the variable of the environment with the path of the user's own copy, and
        where one is had.
    """

    kind: Literal["debian", "crates", "pypi", "npm", "maven", "own", "user"]
    package: str = ""
    releases: tuple[Release, ...] = ()
    patches: tuple[Patch, ...] = ()
    shared: tuple[str, ...] = ()
    variable: str = ""
    advice: str = ""


@dataclass(frozen=True)
class Requirement:
    """Something of the system that the build or the program needs, and how to see it is there."""

    package: str
    probe: Literal["header", "program", "pkg-config", "file"]
    wanted: str


@dataclass(frozen=True)
class BuildRecipe:
    """The build: lines for ``sh -eu``, run where the source's copy lies.

    `program` is what is measured, relative to that place; empty where a command of the system
    runs it, such as ``java``. A recipe without a `script` runs from its source.
    """

    script: str = ""
    program: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    timeout_s: float | None = None


@dataclass(frozen=True)
class Input:
    """One input file: what makes it, from which seed, with which parameters.

    `generator` is the name of a built-in one, or of a Python file in the recipe's folder.
    """

    file: str
    generator: str
    seed: int
    parameters: Mapping[str, int | float | str | bool]


@dataclass(frozen=True)
class Check:
    """What the program must have written: an `OutputCheck` whose places are not known yet."""

    comparator: Literal["sha256", "text", "numbers"]
    expected: str
    file: str | None = None
    tolerance_ratio: float = 0.0
    ignore: str | None = None


@dataclass(frozen=True)
class Size:
    """How the program is run at one size."""

    argv: tuple[str, ...]
    stdin: str | None = None
    inputs: tuple[Input, ...] = ()
    checks: tuple[Check, ...] = ()
    prepare: tuple[str, ...] | None = None
    cleanup: tuple[str, ...] | None = None
    environment: tuple[tuple[str, str], ...] = ()
    exit_code: int = 0
    timeout_s: float | None = None


@dataclass(frozen=True)
class Changed:
    """How to see that the check of size ``test`` checks: a run whose output must differ.

    Either one byte of `input` at `offset` is changed (0 x-or 1), or `argv` is run instead.
    """

    input: str | None = None
    offset: int | None = None
    argv: tuple[str, ...] | None = None


@dataclass(frozen=True)
class IterationsRecipe:
    """The harness inside the program: which adapter reads what it writes, and where."""

    adapter: str
    file: str | None = None
    pattern: str | None = None
    benchmark: str | None = None
    warmup_count: int | None = None


@dataclass(frozen=True)
class Recipe:
    """One program of the suite.

    Parameters
    ----------
    path : str
        The TOML file; the folder beside it, of the same name, holds what the recipe brings along.
    spec : str
        The program of SPEC CPU that it stands for; empty for none.
    sizes : mapping of name to Size
        ``test``, ``train`` and ``ref``.
    """

    name: str
    path: str
    title: str
    description: str
    languages: tuple[str, ...]
    licence: str
    spec: str
    groups: tuple[str, ...]
    traits: tuple[str, ...]
    source: Source
    requires: tuple[Requirement, ...]
    build: BuildRecipe
    sizes: Mapping[str, Size]
    changed: Changed
    iterations: IterationsRecipe | None = None
    notes: str = ""
    folder: str = field(default="", compare=False)

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that the recipe knows, the preferred one first."""
        return tuple(release.version for release in self.source.releases)
