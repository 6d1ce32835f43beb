"""The bodies of a program's functions, read by a native program and kept by build id."""

from __future__ import annotations

import base64
import itertools
import json
import os
import subprocess
import tempfile
from array import array
from collections.abc import Sequence
from dataclasses import fields
from typing import IO, Any, NoReturn, cast

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError, MissingCapabilityError
from steelyard.core.hashing import sha256_hex_of_file
from steelyard.core.native_program import native_program
from steelyard.predict.commits.basic_blocks import BodySteps
from steelyard.predict.commits.program_code import NumberRows, ProgramCode

# Counts up with every change of what the native reader finds: what was kept is read anew.
_VERSION = 10
# Columns of numbers are base64 of numbers of 4 or 8 bytes.
_COLUMNS = {
    "digests": "Q",
    "loop_digests": "Q",
    "instructions": "I",
    "floating": "I",
    "vector": "I",
    "branches": "I",
    "calls": "I",
    "memory": "I",
    "sketches": "I",
    "references": "I",
    "reference_counts": "I",
    "object_sizes_bytes": "Q",
    "object_digests": "Q",
}
_SKETCH = 8
_KEPT_COUNT = 200
# Arguments of a command have little room.
_MOST_PLACES = 10_000


def read_code(path: str, field: str | None = None) -> ProgramCode:
    """The functions of an ELF program or library.

    Parameters
    ----------
    path : str
    field : str, optional
        The option that named the file.

    Raises
    ------
    DataError
        It is none, is damaged, is for a machine whose code is not read, or has no functions.
    MissingCapabilityError
        The native reader was not built.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise DataError(f"{path} is no file.", field=field)
    try:
        with open(path, "rb", opener=regular_opener) as file:
            digest = sha256_hex_of_file(file)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.", field=field) from None
    kept = _kept_path(digest)
    text = _text_of(kept)
    if text is None:
        text = _read_into(kept, path, field) or _ask_reader(path, field)
    return _code_of(text, path)


def read_two(old: str, new: str) -> tuple[ProgramCode, ProgramCode]:
    """The functions of two programs, read side by side; raises as `read_code` does."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(read_code, new, "--new")
        return read_code(old, "--old"), waiting.result()


def read_steps(path: str, places: Sequence[int]) -> list[BodySteps]:
    """The instructions of some functions, by their places in what `read_code` gives.

    Raises
    ------
    DataError
        The file has changed meanwhile, and can no longer be read.
    MissingCapabilityError
        The native reader is not there, or is of another version.
    """
    found: list[BodySteps] = []
    for first in range(0, len(places), _MOST_PLACES):
        some = [str(place) for place in places[first : first + _MOST_PLACES]]
        found += [_steps_of(one) for one in json.loads(_ask_reader(path, None, *some))]
    return found


def _steps_of(columns: list[list[int]]) -> BodySteps:
    if len(columns) != len(fields(BodySteps)):
        raise MissingCapabilityError(
            "The reader of bodies is of another version of Steelyard: it tells "
            f"{len(columns)} columns of instructions, and {len(fields(BodySteps))} are read.\nIn a "
            "checkout, `make native` builds it anew."
        )
    return BodySteps(*columns)


def _ask_reader(path: str, field: str | None, *places: str) -> bytes:
    done = _run_reader(subprocess.PIPE, path, *places)
    if done.returncode != 0:
        _refuse(done, path, field)
    return done.stdout


def _refuse(done: subprocess.CompletedProcess[bytes], path: str, field: str | None) -> NoReturn:
    reason = done.stderr.decode(errors="replace").strip() or "the reader of bodies was killed"
    raise DataError(
        f"The code of {path} cannot be read: {reason.splitlines()[0]}.\nAccepted: an ELF "
        "program or shared library for x86-64 or AArch64.",
        field=field,
    )


def _run_reader(target: int | IO[bytes], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = native_program("steelyard-bodies", "the reader of bodies")
    return subprocess.run(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=target,
        stderr=subprocess.PIPE,
        check=False,
    )


def _code_of(text: bytes, path: str) -> ProgramCode:
    read = cast("dict[str, Any]", json.loads(text))
    for column, width in _COLUMNS.items():
        numbers = array(width)
        numbers.frombytes(base64.b64decode(read[column]))
        read[column] = numbers
    lengths = [3 * count for count in read.pop("reference_counts")]
    read["references"] = NumberRows(read["references"], lengths)
    read["sketches"] = NumberRows(read["sketches"], itertools.repeat(_SKETCH, len(lengths)))
    return ProgramCode(**read, source=path)


def _kept_path(digest: str) -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "steelyard", "code", f"{_VERSION}-{digest}.json")


def _text_of(kept: str) -> bytes | None:
    """What was kept; None where nothing was, or it was cut off."""
    try:
        with open(kept, "rb") as file:
            text = file.read()
    except OSError:
        return None
    return text if text.endswith(b"}\n") else None


def _read_into(kept: str, path: str, field: str | None) -> bytes | None:
    """Read a program into the file where it is kept; None where that file cannot be written."""
    folder = os.path.dirname(kept)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            done = _run_reader(file.file, path)
        if done.returncode != 0:
            os.unlink(file.name)
        else:
            os.replace(file.name, kept)
            _drop_oldest(folder)
    except OSError:
        return None
    if done.stderr:
        _refuse(done, path, field)
    return _text_of(kept) if done.returncode == 0 else None


def _drop_oldest(folder: str) -> None:
    entries = sorted(os.scandir(folder), key=lambda entry: entry.stat().st_mtime)
    for entry in entries[:-_KEPT_COUNT]:
        os.unlink(entry.path)
