"""Refuse a store that is made to do more than hold rows.

A store that somebody else made may bring files beside it that SQLite trusts, and a schema that
computes: a view without end in the place of a table, a trigger, a column that takes a gigabyte.
See https://www.sqlite.org/security.html and https://www.sqlite.org/fileformat2.html, 3.
"""

from __future__ import annotations

import os
import re
import stat

from sqlalchemy import Connection, text

from steelyard.core.errors import StoreError
from steelyard.store.schema import metadata

_BESIDE = ("-journal", "-wal", "-shm")
# What ends a journal that names another file, which SQLite removes; no transaction of ours does.
_SUPER_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_TABLES = {*metadata.tables, "alembic_version", "trials", "measurements"}
_COMPUTES = re.compile(r"\b(VIRTUAL|CHECK|GENERATED|AS|WHERE)\b|DEFAULT\s*\(|--|/\*", re.IGNORECASE)
_OBJECTS = text("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL")


def check_beside(path: str) -> None:
    """Look at the files that SQLite would read and write beside the store, before it does.

    Raises
    ------
    StoreError
        One is a link or no regular file, so that another file would be written in its place; or it
        names another file to remove.
    """
    for ending in _BESIDE:
        beside = os.path.realpath(path) + ending
        try:
            mode = os.lstat(beside).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            raise _refused(path, f"{beside} beside it is not a regular file", beside)
        if ending == "-journal" and _names_another(beside):
            raise _refused(path, f"{beside} beside it names a file to remove", beside)


def _names_another(journal: str) -> bool:
    with open(journal, "rb") as file:
        size_bytes = os.fstat(file.fileno()).st_size
        # A journal that begins with the same mark has more after it.
        file.seek(max(0, size_bytes - len(_SUPER_JOURNAL_MAGIC)))
        return size_bytes > len(_SUPER_JOURNAL_MAGIC) and file.read() == _SUPER_JOURNAL_MAGIC


def check_schema(connection: Connection, path: str) -> None:
    """Look at the objects of the store, before anything is read of its tables.

    Raises
    ------
    StoreError
        A table of Steelyard's is a view or computes what it holds, or there is a trigger.
    """
    for kind, name, table, sql in connection.execute(_OBJECTS):
        ours = name in _TABLES or table in _TABLES
        computes = _COMPUTES.search(sql) or (kind == "index" and sql.count("(") > 1)
        if kind == "trigger" or (ours and (kind == "view" or computes)):
            raise _refused(path, f"its {kind} {name!r} computes", path)


def _refused(path: str, why: str, moved: str) -> StoreError:
    return StoreError(
        f"The store {path} is none that Steelyard made: {why}.\n"
        f"Move that away (mv {moved} {moved}.refused), or name another file with --store.",
        field="--store",
    )
