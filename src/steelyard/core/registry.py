"""Registries of extensions: one extension is one file, or folder, with one `EXTENSION` in it.

A registry first knows the modules of its own folder, then the entry points of the group
that carries the same name. An entry point that fails is left out and noted, so that no package of
another can break a command. A single name is found without importing its neighbours, so that
a command pays only for what it uses; listing imports everything and finds duplicates.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from steelyard.core.errors import RegistryError, UnknownNameError


class Named(Protocol):
    """What every extension has."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """The extensions of one kind.

    Parameters
    ----------
    kind : str
        The word for one of them in messages, such as ``"metric"``.
    package : str
        The dotted name of the folder whose modules each define ``EXTENSION``.
        The module of the extension ``cpu-shield`` is ``cpu_shield``.
    entry_point_group : str
        Entry points of other distributions that load to an extension.
    within : str, optional
        Where an extension is a folder: its module that defines ``EXTENSION``. Folders without
        that module are no extensions.
    """

    def __init__(
        self, kind: str, package: str, entry_point_group: str, within: str | None = None
    ) -> None:
        self.kind = kind
        self.package = package
        self.entry_point_group = entry_point_group
        self.within = within
        self._found: dict[str, T] = {}
        self._complete = False

    def get(self, name: str) -> T:
        """The extension called `name`; an unknown name is an error that lists the known ones."""
        if name not in self._found and not self._complete:
            self._load_own(name)
        if name not in self._found:
            self._load_all()
        try:
            return self._found[name]
        except KeyError:
            known = ", ".join(sorted(self._found))
            raise UnknownNameError(
                f"There is no {self.kind} called {name!r}.{nearest(name, self._found)} "
                f"Known: {known}.",
                field=self.kind,
            ) from None

    def __contains__(self, name: str) -> bool:
        try:
            self.get(name)
        except UnknownNameError:
            return False
        return True

    def names(self) -> list[str]:
        """All names, sorted."""
        self._load_all()
        return sorted(self._found)

    def __iter__(self) -> Iterator[T]:
        for name in self.names():
            yield self._found[name]

    def _load_own(self, name: str) -> None:
        module = name.replace("-", "_")
        if not module.isidentifier() or module.startswith("_"):
            return
        qualified = self._qualified(module)
        try:
            loaded = importlib.import_module(qualified)
        except ModuleNotFoundError as error:
            if error.name not in (qualified, f"{self.package}.{module}"):
                raise
            return
        extension: T | None = getattr(loaded, "EXTENSION", None)
        if extension is not None and extension.name == name:
            self._found[name] = extension

    def _load_all(self) -> None:
        if self._complete:
            return
        found: dict[str, T] = {}
        origins: dict[str, str] = {}
        own = list(self._discover())
        wanted = self._public_names(extension for _, extension in own)
        for origin, extension in (*own, *self._plugins(wanted)):
            if extension.name in found:
                raise RegistryError(
                    f"The {self.kind} {extension.name!r} is registered twice: "
                    f"by {origins[extension.name]} and by {origin}. Remove one of them."
                )
            found[extension.name] = extension
            origins[extension.name] = origin
        self._found = found
        self._complete = True

    def _public_names(self, extensions: Iterable[T]) -> set[str]:
        """What all of Steelyard's own extensions of this kind have, and so what one must have."""
        names = [{name for name in dir(item) if name[0] != "_"} for item in extensions]
        return set[str].intersection(*names) if names else {"name"}

    def _discover(self) -> Iterator[tuple[str, T]]:
        folder = importlib.import_module(self.package)
        for directory in folder.__path__:
            for entry in sorted(os.listdir(directory)):
                module = self._module_of(directory, entry)
                if module is None or module.startswith("_"):
                    continue
                loaded = importlib.import_module(self._qualified(module))
                extension: T | None = getattr(loaded, "EXTENSION", None)
                if extension is not None:
                    yield loaded.__name__, extension

    def _qualified(self, module: str) -> str:
        parts = (self.package, module, self.within)
        return ".".join(part for part in parts if part is not None)

    def _module_of(self, directory: str, entry: str) -> str | None:
        """The name of the extension's module that a file or folder stands for, if for any."""
        if self.within is None:
            module, suffix = os.path.splitext(entry)
            return module if suffix == ".py" else None
        inner = os.path.join(directory, entry, f"{self.within}.py")
        return entry if os.path.isfile(inner) else None

    def _plugins(self, wanted: set[str]) -> Iterator[tuple[str, T]]:
        """The extensions of other distributions; one that cannot be used is left out and noted."""
        from importlib.metadata import entry_points

        for point in entry_points(group=self.entry_point_group):
            extension: T | None = load_plugin(self.kind, point)
            if extension is None:
                continue
            lacks = sorted(name for name in wanted if not hasattr(extension, name))
            if lacks:
                _note(f"The {self.kind} {point.value} has no {lacks[0]!r}, so it is none")
                continue
            yield point.value, extension


class Point(Protocol):
    """What an entry point has (`importlib.metadata.EntryPoint`)."""

    @property
    def value(self) -> str: ...

    def load(self) -> Any: ...


def load_plugin(kind: str, point: Point) -> Any:
    """What an entry point of another distribution loads to; None, and a note, where it fails."""
    try:
        return point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what others wrote may raise anything.
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        _note(f"The {kind} {point.value} could not be loaded: {reason}")
        return None


_FAILED: dict[str, None] = {}


def _note(failure: str) -> None:
    _FAILED[f"{failure}. It is left out; mend or uninstall its package."] = None


def failed_plugins() -> tuple[str, ...]:
    """A sentence for each extension of another distribution that was left out so far, once."""
    told = tuple(_FAILED)
    _FAILED.clear()
    return told


def nearest(name: str, known: Iterable[str]) -> str:
    """A question whether the nearest known name was meant; nothing where none is near."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""
