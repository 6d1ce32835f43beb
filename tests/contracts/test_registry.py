"""What every kind of extension has in common, over everything that is registered."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import steelyard
from steelyard.core.registry import Folder, Registry

FACES = ("steelyard.cli", "steelyard.web")


def find_registries() -> dict[str, Registry]:
    """Every registry that a package of the project exports, by its group of entry points."""
    found: dict[int, tuple[str, Registry]] = {}
    for module in pkgutil.walk_packages(steelyard.__path__, "steelyard."):
        if not module.ispkg or module.name.startswith(FACES):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Registry):
                found.setdefault(id(value), (value.entry_point_group, value))
    return dict(found.values())


REGISTRIES = find_registries()
kinds = pytest.mark.parametrize("group", sorted(REGISTRIES))


def test_every_group_of_entry_points_that_the_sources_name_is_tried_here():
    named = re.compile(r'"(steelyard\.[a-z_]+)"')
    sources = Path(steelyard.__path__[0])
    made = {
        group
        for path in sources.rglob("__init__.py")
        for call in re.findall(r"= Registry\((.*?)\)\n", path.read_text("utf-8"), re.DOTALL)
        for group in named.findall(call)
    }
    assert made == set(REGISTRIES)


@kinds
def test_a_registry_lives_in_the_folder_that_it_reads(group):
    registry = REGISTRIES[group]
    folder = importlib.import_module(registry.folders[0].package)
    assert registry in vars(folder).values()


@kinds
def test_a_registry_has_extensions(group):
    assert REGISTRIES[group].names()


@kinds
def test_names_are_what_people_can_type(group):
    for name in REGISTRIES[group].names():
        assert re.fullmatch(r"[a-z0-9]+([_-][a-z0-9]+)*", name), name


@kinds
def test_each_extension_is_one_file_or_folder_that_carries_its_name(group):
    registry = REGISTRIES[group]
    for name in registry.names():
        defined = [
            getattr(importlib.import_module(module), folder.attribute, None)
            for folder in registry.folders
            for module in folder.modules()
            if module == folder.qualified(name.replace("-", "_"))
        ]
        assert [one for one in defined if one is not None] == [registry.get(name)]


def test_what_a_property_of_the_machine_defines_carries_its_name():
    folder = Folder("steelyard.host.properties")
    defined: list[str] = []
    for name in folder.modules():
        module = importlib.import_module(name)
        found = [getattr(module, part, None) for part in ("KNOB", "SETTING", "FACTOR")]
        names = {one.name.replace("-", "_") for one in found if one is not None}
        assert names == {name.rpartition(".")[2]}
        # A level that somebody can ask for is a level that something brings about.
        assert (found[1] is None) == (found[2] is None)
        defined += names
    assert {"governor", "cpu_shield", "page_cache"} <= set(defined)


def test_kinds_and_entry_point_groups_are_told_apart():
    kinds = [registry.kind for registry in REGISTRIES.values()]
    groups = [registry.entry_point_group for registry in REGISTRIES.values()]
    assert len(set(kinds)) == len(kinds)
    assert len(set(groups)) == len(groups)
    assert all(group.startswith("steelyard.") for group in groups)
