"""Where answers go: text to a terminal, one JSON object to a file or to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from steelyard.core.errors import DataError, SteelyardError, UsageError


def write_json(document: dict[str, Any], target: str | None) -> None:
    """Write `document` to the file `target`, ``-`` being standard output; None writes nothing."""
    if target is None:
        return
    import json

    text = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
    write_data(text.encode("utf-8", "replace"), target)


def write_data(data: bytes, target: str) -> None:
    """Write `data` to the file `target`, ``-`` being standard output."""
    if target == "-":
        with _full_output():
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
        return
    write_file(data, target)


def write_file(data: bytes, path: str) -> None:
    """Write `data` to `path` whole or not at all; a device or a pipe is written as it is."""
    from steelyard.store.whole_file import whole_file

    with whole_file(path) as writable, open(writable, "wb") as file:
        file.write(data)


def refuse_nowhere(*paths: str | None) -> None:
    """Tell of a folder that is not there before the work whose answer is to be written there.

    Raises
    ------
    UsageError
        One of the files is to be in no folder.
    """
    for path in paths:
        folder = os.path.dirname(path or "")
        if folder and not os.path.isdir(folder):
            raise UsageError(
                f"{path} cannot be written: there is no folder {folder}.", field="call"
            )


def write_text(text: str) -> None:
    """Write `text` to standard output; what a terminal cannot show is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    with _full_output():
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()


def write_note(text: str) -> None:
    """One line beside the answer, on standard error. Where that takes none, nobody can be told."""
    encoding = sys.stderr.encoding or "utf-8"
    with suppress(OSError):
        sys.stderr.write(f"steelyard: {text}\n".encode(encoding, "replace").decode(encoding))
        sys.stderr.flush()


def write_error(error: SteelyardError) -> None:
    """One message on standard error."""
    write_note(f"error: {error.message}")


@contextmanager
def _full_output() -> Iterator[None]:
    """Tell of standard output that takes no more; a reader that left wants to hear nothing."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(
            f"Standard output cannot be written: {error.strerror}. Send the answer elsewhere.",
            field="stdout",
        ) from None
