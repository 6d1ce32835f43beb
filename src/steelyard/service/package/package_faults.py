"""All that is wrong with a package, and what may be, as the service looks at it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.core.errors import ArchiveError
from steelyard.service.package.archive import COLLECT, ENV, RUN, SETUP, Package
from steelyard.service.package.env_file import read_env
from steelyard.service.package.script_faults import Fault, script_faults, script_notes

_MOST_ENV_BYTES = 1 << 16
_TOLD_NAMES = ("Thumbs.db", ".DS_Store", "__MACOSX")


@dataclass(frozen=True)
class PackageFaults:
    """What is to be mended before a package can run, and what may be missing when it does."""

    faults: tuple[Fault, ...]
    notes: tuple[Fault, ...]


def find_faults(
    package: Package, folder: str, *, image: str | None = None, has_network: bool = False
) -> PackageFaults:
    """Look at the package whose files lie in `folder`; nothing of it is run.

    Parameters
    ----------
    image : str, optional
        The root file system that it is to run on, in place of the host's; empty where it is not
        known, so that nothing is looked for there.
    has_network : bool
        Whether it will have the network.
    """
    root = "/" if image is None else image
    faults = [*_missing(package)]
    for name in (SETUP, RUN, COLLECT):
        faults += script_faults(package, folder, name, root)
    faults += _env_faults(package, folder)
    notes: list[Fault] = []
    for name in (SETUP, RUN, COLLECT):
        if image is None:
            notes += script_notes(folder, name, has_network=has_network)
    notes += _other_notes(package)
    return PackageFaults(tuple(faults), tuple(notes))


def variables_of(package: Package, folder: str) -> tuple[tuple[str, str], ...]:
    """What the package's file `env` adds to the environment.

    Raises
    ------
    ArchiveError
        The file is wrong.
    """
    member = package.member(ENV)
    if member is None:
        return ()
    if member.kind != "file" or member.size_bytes > _MOST_ENV_BYTES:
        raise ArchiveError(f"env is to be a plain file of at most {_MOST_ENV_BYTES} bytes.")
    with open(os.path.join(folder, ENV), "rb") as file:
        data = file.read(_MOST_ENV_BYTES)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArchiveError(f"env is not UTF-8 at byte {error.start}.") from None
    return read_env(text.replace("\r\n", "\n"))


def _missing(package: Package) -> Iterator[Fault]:
    for name in (RUN, COLLECT):
        if package.member(name) is None:
            nested = [m.path for m in package.members if m.path.endswith(f"/{name}")]
            hint = f" There is {nested[0]!r}: pack the folder that holds it." if nested else ""
            yield Fault(name, "missing", f"There is no {name} at the top of the package.{hint}")


def _env_faults(package: Package, folder: str) -> Iterator[Fault]:
    try:
        variables_of(package, folder)
    except ArchiveError as error:
        yield Fault(ENV, "variables", error.message)


def _other_notes(package: Package) -> Iterator[Fault]:
    for member in package.members:
        if os.path.basename(member.path) in _TOLD_NAMES:
            yield Fault(member.path, "left-over", f"{member.path} is of a desktop, not of yours.")
    if not package.has_setup and any(m.path in ("Makefile", "makefile") for m in package.members):
        yield Fault(SETUP, "no-setup", "There is a Makefile, but no setup.sh that calls it.")
