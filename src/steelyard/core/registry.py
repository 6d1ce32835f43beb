"""Registries of extensions: one extension is one file with one `EXTENSION` in it.

A registry first knows the modules of its own folder, then the entry points of the group
that carries the same name. A single name is found without importing its neighbours, so that
a command pays only for what it uses; listing imports everything and finds duplicates.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

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
    """

    def __init__(self, kind: str, package: str, entry_point_group: str) -> None:
        self.kind = kind
        self.package = package
        self.entry_point_group = entry_point_group
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
                f"There is no {self.kind} called {name!r}. Known: {known}.", field=self.kind
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
        qualified = f"{self.package}.{module}"
        try:
            loaded = importlib.import_module(qualified)
        except ModuleNotFoundError as error:
            if error.name != qualified:
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
        for origin, extension in self._discover():
            if extension.name in found:
                raise RegistryError(
                    f"The {self.kind} {extension.name!r} is registered twice: "
                    f"by {origins[extension.name]} and by {origin}. Remove one of them."
                )
            found[extension.name] = extension
            origins[extension.name] = origin
        self._found = found
        self._complete = True

    def _discover(self) -> Iterator[tuple[str, T]]:
        folder = importlib.import_module(self.package)
        for directory in folder.__path__:
            for entry in sorted(os.listdir(directory)):
                module, suffix = os.path.splitext(entry)
                if suffix != ".py" or module.startswith("_"):
                    continue
                loaded = importlib.import_module(f"{self.package}.{module}")
                extension: T | None = getattr(loaded, "EXTENSION", None)
                if extension is not None:
                    yield loaded.__name__, extension
        from importlib.metadata import entry_points

        for point in entry_points(group=self.entry_point_group):
            yield point.value, point.load()
