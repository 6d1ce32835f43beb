"""Where answers go: text to a terminal, one JSON object to a file or to standard output."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from steelyard.cli.console.masked_values import hidden_values, secrets_are_shown
from steelyard.core.errors import DataError, SteelyardError, UsageError
from steelyard.core.masking import mask_page, mask_text, mask_value

# Our own colours (ECMA-48, 8.3.117), else C0 and C1 controls and the marks of Unicode's
# bidirectional algorithm (UAX #9). Compiled where a text has any.
_OBEYED = "\x1b\\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"


def write_json(document: dict[str, Any], target: str | None) -> None:
    """Write `document` to the file `target`, ``-`` being standard output; None writes nothing."""
    if target is None:
        return
    import json

    if not secrets_are_shown():
        document = mask_value(document, hidden_values())
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
    from steelyard.app.results.written_file import write_whole

    write_whole(data, path)


def write_page(page: str, path: str) -> None:
    """Write a page of HTML to `path`, as `write_file` does, without secrets."""
    if not secrets_are_shown():
        page = mask_page(page, hidden_values())
    write_file(page.encode("utf-8", "replace"), path)


def shown_text(text: str, *, colours: bool = False) -> str:
    """`text` without secrets, and without what a terminal would obey: control characters, and
    characters that turn the direction of writing, become U+FFFD. Colours stay on request."""
    if not secrets_are_shown():
        text = mask_text(text, hidden_values())
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return re.sub(_OBEYED, lambda found: _harmless(found[0], colours), text)


def _harmless(found: str, colours: bool) -> str:
    return found if colours and found.endswith("m") else "\N{REPLACEMENT CHARACTER}"


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
    text = shown_text(text, colours=sys.stdout.isatty())
    encoding = sys.stdout.encoding or "utf-8"
    with _full_output():
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()


def write_note(text: str) -> None:
    """One line beside the answer, on standard error. Where that takes none, nobody can be told."""
    text = shown_text(text)
    encoding = sys.stderr.encoding or "utf-8"
    with suppress(OSError):
        sys.stderr.write(f"steelyard: {text}\n".encode(encoding, "replace").decode(encoding))
        sys.stderr.flush()


def write_error(error: SteelyardError) -> None:
    """One message on standard error."""
    write_note(f"error: {error.message}")


def terminal_width() -> int | None:
    """The columns of the terminal that standard output is; None where it is none."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


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
