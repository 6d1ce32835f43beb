"""Where the store is and whether it can take a measurement, without opening it.

A measurement writes a journal beside the store and never the store itself, so what is asked
here must cost next to nothing: one header, one directory, one file system.
"""

from __future__ import annotations

import os

from steelyard.core.decoding import NotRegularError, open_regular
from steelyard.core.errors import StoreError
from steelyard.core.private_file import DIRECTORY_MODE

# "STLY" in ASCII, as PRAGMA application_id; https://www.sqlite.org/fileformat.html, 1.3.
APPLICATION_ID = 0x53544C59
SCHEMA_VERSION = 5
SQLITE_MAGIC = b"SQLite format 3\x00"
SQLITE_HEADER_BYTES = 100
# A journal line takes about 0.7 kB, so this is room for some 20,000 trials.
FREE_SPACE_BYTES = 16 * 2**20
JOURNAL_SUFFIX = ".jsonl"


def store_path(option: str | None) -> str:
    """The store's file: `option`, else ``STEELYARD_STORE``, else in the user's data directory."""
    chosen = option or os.environ.get("STEELYARD_STORE")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    data = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # The XDG specification: relative paths are to be ignored.
        data = os.path.expanduser("~/.local/share")
    return os.path.join(data, "steelyard", "steelyard.sqlite")


def journal_directory(store: str) -> str:
    """The directory of the journals that belong to `store`."""
    return f"{store}.journals"


def journal_path(store: str, identifier: str) -> str:
    """The journal of one experiment."""
    return os.path.join(journal_directory(store), identifier + JOURNAL_SUFFIX)


def work_directory(store: str, identifier: str) -> str:
    """Where one experiment's programs leave their output while it runs.

    Goes away with the journal when the store absorbs it.
    """
    return os.path.join(journal_directory(store), f"{identifier}.work")


def log_directory(store: str, identifier: str) -> str:
    """Where the logs of an experiment's failed builds are kept until it is deleted."""
    return os.path.join(journal_directory(store), f"{identifier}.logs")


def is_store(path: str) -> bool:
    """Whether a file begins as a database of SQLite; no where it cannot be read."""
    try:
        file = open_regular(path)
    except (OSError, NotRegularError):
        return False
    try:
        return os.read(file, len(SQLITE_MAGIC)) == SQLITE_MAGIC
    except OSError:
        return False
    finally:
        os.close(file)


def check_header(store: str, header: bytes) -> None:
    """Refuse a file whose first 100 bytes are not those of a store that this version reads.

    Raises
    ------
    StoreError
        It is not SQLite, not Steelyard's, or from a newer Steelyard.
    """
    if not header:
        return
    if len(header) < SQLITE_HEADER_BYTES or not header.startswith(SQLITE_MAGIC):
        raise StoreError(
            f"{store} is not a Steelyard store: it is not an SQLite database, or a damaged one. "
            "Move it away, or name another file with --store.",
            field="--store",
        )
    version = int.from_bytes(header[60:64], "big")
    application = int.from_bytes(header[68:72], "big")
    if application != APPLICATION_ID:
        raise StoreError(
            f"{store} is an SQLite database of another program. Name another file with --store.",
            field="--store",
        )
    if version > SCHEMA_VERSION:
        raise StoreError(newer_version_message(store, version), field="--store")


def newer_version_message(store: str, version: int) -> str:
    """What to say of a store that a later Steelyard has upgraded."""
    return (
        f"{store} was written by a newer Steelyard (store version {version}; this one reads up "
        f"to {SCHEMA_VERSION}). Update Steelyard, or name another file with --store."
    )


def read_header(store: str) -> bytes:
    """The first bytes of the store's file; none where there is no file."""
    try:
        with open(open_regular(store), "rb", buffering=0) as file:
            return file.read(SQLITE_HEADER_BYTES)
    except FileNotFoundError:
        return b""
    except NotRegularError:
        raise StoreError(
            f"The store {store} is not a regular file. Name another file with --store.",
            field="--store",
        ) from None
    except OSError as error:
        raise StoreError(
            f"The store {store} cannot be read: {error.strerror}. Mend its permissions, or name "
            "another file with --store.",
            field="--store",
        ) from None


def make_directory(directory: str) -> None:
    """Make a directory of the store, or say why that cannot be done."""
    try:
        os.makedirs(directory, mode=DIRECTORY_MODE, exist_ok=True)
        usable = os.access(directory, os.W_OK | os.X_OK)
        reason = "Permission denied"
    except OSError as error:
        usable, reason = False, error.strerror or str(error)
    if not usable:
        raise StoreError(
            f"The directory {directory} of the store cannot be written: {reason}. Mend that, or "
            "name a file elsewhere with --store.",
            field="--store",
        )


def check_usable(store: str) -> None:
    """Make sure that an experiment started now can be kept: cheap, and before the first trial.

    Raises
    ------
    StoreError
        The file is no store of ours, its directory cannot be written, or the disk is full.
    """
    header = read_header(store)
    check_header(store, header)
    if header and not os.access(store, os.W_OK):
        raise StoreError(
            f"The store {store} may be read but not written. Mend its permissions, or name "
            "another file with --store.",
            field="--store",
        )
    journals = journal_directory(store)
    make_directory(journals)
    status = os.statvfs(journals)
    free_bytes = status.f_bavail * status.f_frsize
    if free_bytes < FREE_SPACE_BYTES:
        raise StoreError(
            f"The disk that holds {journals} has {free_bytes / 2**20:.1f} MiB left; an experiment "
            f"needs {FREE_SPACE_BYTES / 2**20:.0f} MiB. Free some, or name a file on another "
            "disk with --store.",
            field="--store",
        )
