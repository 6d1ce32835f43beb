"""Extensions of other distributions: loaded, held to what our own have, named where they fail.

Others wrote them: they may raise anything at any time, and no command ends in a traceback by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from steelyard.core.errors import RegistryError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_PLAIN_TYPES = (str, bool, int, float, type(None))
_REMEDY = "mend or uninstall its package."


class Point(Protocol):
    """What an entry point has (`importlib.metadata.EntryPoint`)."""

    @property
    def value(self) -> str: ...

    def load(self) -> Any: ...


_FAILED: dict[str, None] = {}
# The packages of what was loaded, with the entry point of each.
_LOADED: dict[str, str] = {}


def load_plugin(kind: str, point: Point) -> Any:
    """What an entry point of another distribution loads to; None, and a note, where it fails."""
    _LOADED[_package(point.value.partition(":")[0])] = point.value
    try:
        return point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what others wrote may raise anything.
        note_failure(f"The {kind} {point.value} could not be loaded: {_told(error)}")
        return None


def is_usable(kind: str, point: Point, extension: Any, own: Sequence[Any]) -> bool:
    """Whether an extension has what all of Steelyard's `own` have; else there is a note."""
    try:
        fault = _fault(extension, own)
    except Exception as error:  # noqa: BLE001 - attributes that are computed may raise anything.
        fault = f"fails when it is looked at ({_told(error)})"
    if fault is not None:
        note_failure(f"The {kind} {point.value} {fault}, so it is none")
    return fault is None


def _fault(extension: Any, own: Sequence[Any]) -> str | None:
    for wanted in sorted(_public_names(own)):
        if not hasattr(extension, wanted):
            return f"has no {wanted!r}"
        value = getattr(extension, wanted)
        if not _is_alike(value, wanted, own):
            return f"has a {wanted!r} of the type {type(value).__name__!r}"
    if not isinstance(extension.name, str) or not _NAME.fullmatch(extension.name):
        return f"has a 'name' that is not of letters, digits and _.+-: {extension.name!r:.40}"
    return None


def _public_names(own: Iterable[Any]) -> set[str]:
    """What all of Steelyard's own extensions of a kind have, and so what one must have."""
    names = [{name for name in dir(item) if name[0] != "_"} for item in own]
    return set[str].intersection(*names) if names else {"name"}


def _is_alike(value: Any, name: str, own: Sequence[Any]) -> bool:
    """Whether a value can be what the `own` extensions have by a name, which are not computed."""
    from inspect import getattr_static, isdatadescriptor

    found = [getattr_static(item, name) for item in own]
    if any(isdatadescriptor(item) for item in found):
        return True
    if any(callable(item) or isinstance(item, (staticmethod, classmethod)) for item in found):
        return callable(value) or (value is None and any(item is None for item in found))
    kinds: set[type[Any]] = {type(item) for item in found}
    if not kinds or not kinds.issubset(_PLAIN_TYPES):
        return True
    return isinstance(value, (*kinds, *((int,) if float in kinds else ())))


def note_failure(failure: str) -> None:
    """Keep a sentence without its end for `failed_plugins`."""
    _FAILED[f"{failure}. It is left out; {_REMEDY}"] = None


def failed_plugins() -> tuple[str, ...]:
    """A sentence for each extension of another distribution that was left out so far, once."""
    told = tuple(_FAILED)
    _FAILED.clear()
    return told


def failure_of_plugin(error: BaseException) -> RegistryError | None:
    """The error that says which plugin raised `error`; None where none had a part in it."""
    frame, blamed = error.__traceback__, None
    while frame is not None:
        module = str(frame.tb_frame.f_globals.get("__name__", ""))
        blamed = _LOADED.get(_package(module), blamed)
        frame = frame.tb_next
    if blamed is None:
        return None
    return RegistryError(f"The plugin {blamed} failed: {_told(error)}\n{_REMEDY.capitalize()}")


def _package(module: str) -> str:
    return module.partition(".")[0]


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
