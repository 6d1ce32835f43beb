"""What every kind of extension has in common, over everything that is registered."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import steelyard
from steelyard.core.registry import Registry

FACES = ("steelyard.cli", "steelyard.web")


def find_registries() -> dict[str, Registry]:
    """Every registry that a package of the project exports."""
    found: dict[int, tuple[str, Registry]] = {}
    for module in pkgutil.walk_packages(steelyard.__path__, "steelyard."):
        if not module.ispkg or module.name.startswith(FACES):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Registry):
                found.setdefault(id(value), (value.package, value))
    return dict(found.values())


REGISTRIES = find_registries()
kinds = pytest.mark.parametrize("package", sorted(REGISTRIES))


def test_there_are_registries():
    assert REGISTRIES


@kinds
def test_a_registry_lives_in_the_folder_that_it_reads(package):
    assert REGISTRIES[package] in vars(importlib.import_module(package)).values()


@kinds
def test_a_registry_has_extensions(package):
    assert REGISTRIES[package].names()


@kinds
def test_names_are_what_people_can_type(package):
    for name in REGISTRIES[package].names():
        assert re.fullmatch(r"[a-z0-9]+([_-][a-z0-9]+)*", name), name


@kinds
def test_each_extension_is_one_file_or_folder_that_carries_its_name(package):
    registry = REGISTRIES[package]
    within = "" if registry.within is None else f".{registry.within}"
    for name in registry.names():
        module = importlib.import_module(f"{package}.{name.replace('-', '_')}{within}")
        assert module.EXTENSION is registry.get(name)


def test_kinds_and_entry_point_groups_are_told_apart():
    kinds = [registry.kind for registry in REGISTRIES.values()]
    groups = [registry.entry_point_group for registry in REGISTRIES.values()]
    assert len(set(kinds)) == len(kinds)
    assert len(set(groups)) == len(groups)
    assert all(group.startswith("steelyard.") for group in groups)
