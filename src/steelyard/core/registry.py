"""Registries of extensions: one extension is one file, or folder, that defines it by one name.

A registry first knows the modules of its own folder, then the entry points of the group
that carries the same name. An entry point that fails is left out and noted, so that no package of
another can break a command. A single name is found without importing its neighbours, so that
a command pays only for what it uses; listing imports everything and finds duplicates.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from steelyard.core.errors import RegistryError, UnknownNameError
from steelyard.core.plugins import is_usable, load_plugin


class Named(Protocol):
    """What every extension has."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Folder(NamedTuple):
    """A folder of extensions: its dotted name, and the name that its modules define one by.

    Where an extension is a folder itself, `within` is its module that defines it; folders without
    that module are no extensions.
    """

    package: str
    attribute: str = "EXTENSION"
    within: str | None = None

    def module_of(self, name: str) -> str | None:
        """The name of the module of the extension `name`, as far as a module can be called so."""
        module = name.replace("-", "_")
        return module if module.isidentifier() and not module.startswith("_") else None

    def qualified(self, module: str) -> str:
        """The dotted name of the module that defines the extension `module`."""
        parts = (self.package, module, self.within)
        return ".".join(part for part in parts if part is not None)

    def modules(self) -> Iterator[str]:
        """The dotted names of all modules that may define an extension."""
        for directory in importlib.import_module(self.package).__path__:
            for entry in sorted(os.listdir(directory)):
                module = self._module_at(directory, entry)
                if module is not None and not module.startswith("_"):
                    yield self.qualified(module)

    def _module_at(self, directory: str, entry: str) -> str | None:
        """The name of the extension's module that a file or folder stands for, if for any."""
        if self.within is None:
            module, suffix = os.path.splitext(entry)
            return module if suffix == ".py" else None
        inner = os.path.join(directory, entry, f"{self.within}.py")
        return entry if os.path.isfile(inner) else None


class Registry(Generic[T]):
    """The extensions of one kind.

    Parameters
    ----------
    kind : str
        The word for one of them in messages, such as ``"metric"``.
    folder : Folder or str
        Whose modules each define one; a dotted name where they define ``EXTENSION``.
        The module of the extension ``cpu-shield`` is ``cpu_shield``.
    entry_point_group : str
        Entry points of other distributions that load to an extension.
    also : sequence of Folder
        Folders of other things, some of whose modules define an extension too.
    """

    def __init__(
        self,
        kind: str,
        folder: Folder | str,
        entry_point_group: str,
        also: Sequence[Folder] = (),
    ) -> None:
        self.kind = kind
        own = Folder(folder) if isinstance(folder, str) else folder
        self.folders = (own, *also)
        self.entry_point_group = entry_point_group
        self._found: dict[str, T] = {}
        self._complete = False

    def get(self, name: str) -> T:
        """The extension called `name`; an unknown name is an error that lists the known ones."""
        if name not in self._found and not self._complete:
            for folder in self.folders:
                self._load_own(name, folder)
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

    def _load_own(self, name: str, folder: Folder) -> None:
        module = folder.module_of(name)
        if module is None or name in self._found:
            return
        qualified = folder.qualified(module)
        try:
            loaded = importlib.import_module(qualified)
        except ModuleNotFoundError as error:
            if error.name not in (qualified, f"{folder.package}.{module}"):
                raise
            return
        extension: T | None = getattr(loaded, folder.attribute, None)
        if extension is not None and extension.name == name:
            self._found[name] = extension

    def _load_all(self) -> None:
        if self._complete:
            return
        found: dict[str, T] = {}
        origins: dict[str, str] = {}
        own = list(self._discover())
        for origin, extension in (*own, *self._plugins([extension for _, extension in own])):
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
        for folder in self.folders:
            for name in folder.modules():
                loaded = importlib.import_module(name)
                extension: T | None = getattr(loaded, folder.attribute, None)
                if extension is not None:
                    yield loaded.__name__, extension

    def _plugins(self, own: Sequence[T]) -> Iterator[tuple[str, T]]:
        """The extensions of other distributions; one that cannot be used is left out and noted."""
        from importlib.metadata import entry_points

        for point in entry_points(group=self.entry_point_group):
            extension: T | None = load_plugin(self.kind, point)
            if extension is not None and is_usable(self.kind, point, extension, own):
                yield point.value, extension


def nearest(name: str, known: Iterable[str]) -> str:
    """A question whether the nearest known name was meant; nothing where none is near."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""
