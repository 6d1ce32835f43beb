"""What a file format is, and how files are read and written whichever it is."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError, UsageError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.field_reader import json_fault
from steelyard.core.registry import Registry
from steelyard.store.whole_file import file_errors, whole_file

HEAD_BYTES = 65536

ReadFile = Callable[[str], Experiment]
WriteFile = Callable[[Experiment, str], Sequence[Caution]]


@dataclass(frozen=True)
class FileFormat:
    """A format of files that hold experiments.

    Parameters
    ----------
    name : str
        What ``--format`` takes.
    suffixes : tuple of str
        Ends of file names that stand for it, such as ``.csv``.
    description : str
        What it is and what it cannot hold, in one sentence.
    sniff : callable
        Whether the first `HEAD_BYTES` of a file look like it.
    read : callable or None
        Gives the experiment of a file; raises DataError that names the file and the field.
    write : callable or None
        Writes an experiment to a file, whole or not at all, and gives a caution for each thing
        that the format has no place for.
    """

    name: str
    suffixes: tuple[str, ...]
    description: str
    sniff: Callable[[bytes], bool]
    read: ReadFile | None = None
    write: WriteFile | None = None


def reader_of(chosen: FileFormat) -> ReadFile:
    """Its `read`; a format that is only written is an error that says so."""
    if chosen.read is None:
        raise UsageError(f"The format {chosen.name!r} can be written, not read.", field="--format")
    return chosen.read


def writer_of(chosen: FileFormat) -> WriteFile:
    """Its `write`; a format that is only read is an error that says so."""
    if chosen.write is None:
        raise UsageError(f"The format {chosen.name!r} can be read, not written.", field="--format")
    return chosen.write


def detect_format(path: str, formats: Registry[FileFormat]) -> FileFormat:
    """The format whose content the file has.

    Raises
    ------
    DataError
        The file is empty, or looks like none of them.
    """
    with file_errors(path, "read"), open(path, "rb", opener=regular_opener) as file:
        head = file.read(HEAD_BYTES).removeprefix(BOM_UTF8)
    if not head.strip():
        raise DataError(f"{path} is empty.", field="file")
    for candidate in formats:
        if candidate.read is not None and candidate.sniff(head):
            return candidate
    from steelyard.store.unread_outputs import advice_on

    readable = ", ".join(candidate.name for candidate in formats if candidate.read is not None)
    advice = advice_on(head) or f"Name its format with --format: {readable}."
    raise DataError(
        f"{path} looks like none of the formats that can be read. {advice}", field="file"
    )


def format_for_name(path: str, formats: Registry[FileFormat]) -> FileFormat:
    """The format that the end of a file's name stands for.

    Raises
    ------
    UsageError
        It stands for none.
    """
    for candidate in formats:
        if path.endswith(candidate.suffixes) and candidate.write is not None:
            return candidate
    known = ", ".join(candidate.name for candidate in formats if candidate.write is not None)
    raise UsageError(
        f"The name {path!r} does not tell the format. Name one with --format: {known}.",
        field="--format",
    )


def read_json(path: str) -> Any:
    """The JSON value of a file.

    Raises
    ------
    DataError
        It cannot be read, is empty, is not text or not JSON.
    """
    with file_errors(path, "read"), open(path, "rb", opener=regular_opener) as file:
        data = file.read()
    if not data.strip():
        raise DataError(f"{path} is empty.", field="file")
    try:
        return json.loads(data)
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text, so it is not JSON.", field="file") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}.",
            field="file",
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON: {json_fault(error)}.", field="file") from None


def write_json_file(document: Any, path: str, indent: int | None = None) -> None:
    """Write a JSON value, whole or not at all.

    Raises
    ------
    DataError
        The file cannot be written, or a value is not a finite number.
    """
    try:
        text = json.dumps(document, allow_nan=False, indent=indent)
    except ValueError:
        raise DataError(
            f"{path} cannot be written: a measurement is not a finite number, which JSON has no "
            "way to say.",
            field="file",
        ) from None
    with whole_file(path) as partial, open(partial, "w", encoding="ascii") as file:
        file.write(text + "\n")
