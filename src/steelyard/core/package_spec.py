"""Which benchmark package a variant runs, and in which environment, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field

# Inside of its environment.
PACKAGE_FOLDER = "/package"


@dataclass(frozen=True)
class EnvironmentLimits:
    """What a package may use up. A limit of 0 is none.

    Parameters
    ----------
    process_count : int
        Processes and threads at a time.
    memory_bytes : int
        Memory of all of them, or of each where control groups cannot be had.
    disk_bytes, inode_count : int
        Files that are written: their bytes and their number.
    output_bytes, result_bytes : int
        What `setup.sh` and `collect.sh` print, and the archive of results.
    setup_s, collect_s : float
        How long these scripts may take.
    """

    process_count: int = 1024
    memory_bytes: int = 4 * 2**30
    disk_bytes: int = 2 * 2**30
    inode_count: int = 200_000
    output_bytes: int = 16 * 2**20
    result_bytes: int = 256 * 2**20
    setup_s: float = 3600.0
    collect_s: float = 600.0


@dataclass(frozen=True)
class PackageSpec:
    """A benchmark package as a variant runs it.

    Parameters
    ----------
    digest : str
        Of the package; whoever runs it keeps its files under this name.
    environment : str
        ``"contained"`` (a user without privileges, in namespaces of its own) or ``"trusted"``
        (root, on a root file system of its own).
    has_setup : bool
        Whether it brings `setup.sh`.
    variables : tuple of (name, value)
        What its file `env` adds to the environment of each of its scripts.
    image : str or None
        A root file system: the path of its directory, or its name among the images of the host
        that runs it; None: the host's own.
    has_network : bool
        Whether it sees the host's network. A trusted package does in any case.
    limits : EnvironmentLimits
    libraries : str
        The directory of shared objects that it sees besides; empty for none.
    """

    digest: str
    environment: str = "contained"
    has_setup: bool = False
    variables: tuple[tuple[str, str], ...] = ()
    image: str | None = None
    has_network: bool = False
    limits: EnvironmentLimits = field(default_factory=EnvironmentLimits)
    libraries: str = ""
