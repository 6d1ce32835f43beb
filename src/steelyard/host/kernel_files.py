"""Files of the kernel whose text is a state: read, compared, written back.

A state maps each path to its text; of choices such as ``always [madvise] never`` it holds the
chosen word, which is what the kernel takes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from steelyard.core.errors import HostError
from steelyard.host.system import Host


def files_unavailable(host: Host, paths: Sequence[str], absent_reason: str) -> str | None:
    """Why these files cannot be written; None when they can."""
    present = [path for path in paths if host.selected(path) is not None]
    if not present:
        return absent_reason
    if not host.is_root:
        return "only root may set it"
    locked = [path for path in present if not host.writable(path)]
    return f"{locked[0]} is read-only here" if locked else None


def file_texts(host: Host, paths: Sequence[str]) -> dict[str, str]:
    """The state of those files that are there."""
    found = ((path, host.selected(path)) for path in paths)
    return {path: text for path, text in found if text is not None}


def texts_left(
    host: Host, previous: Mapping[str, str], wanted: Mapping[str, str]
) -> dict[str, str] | None:
    """What of `previous` is to be put back: files that still are as `wanted`; None: nothing."""
    left = {
        path: text
        for path, text in previous.items()
        if host.selected(path) == wanted.get(path) != text
    }
    return left or None


def difference(host: Host, wanted: Mapping[str, str]) -> str | None:
    """The first file that does not hold the wanted text; None when all do."""
    for path, text in wanted.items():
        found = host.selected(path)
        if found != text:
            return f"{path} is {found!r} and not {text!r}"
    return None


def foreign_text(host: Host, states: Sequence[object], paths: Sequence[str]) -> str | None:
    """What in `states` is of no file among `paths`, or no text of one line; None when nothing is.

    A file that is gone may be named: it cannot be written.
    """
    for state in states:
        if not isinstance(state, Mapping):
            return f"{state!r} is no state of files"
        for path, text in cast("Mapping[object, object]", state).items():
            if not isinstance(text, str) or not text.isprintable():
                return f"{text!r} is no text of a file"
            if not isinstance(path, str) or (path not in paths and host.exists(path)):
                return f"{path!r} is none of its files"
    return None


def write_back(host: Host, previous: Mapping[str, str]) -> None:
    """Write each former text where the file now holds another one, all of them, then check.

    Raises
    ------
    HostError
        Some could not be written; the message names the first one. The others were written.
    """
    failures: list[str] = []
    for path, text in previous.items():
        if host.selected(path) == text:
            continue
        try:
            host.write(path, text)
        except OSError as error:
            failures.append(f"{path}: {error.strerror}")
            continue
        if host.selected(path) != text:
            failures.append(f"{path} does not take {text!r} back")
    if failures:
        raise HostError(
            f"{failures[0]}" + (f" (and {len(failures) - 1} more)" if failures[1:] else "")
        )
