"""A worker is brought to the levels of a block: the root file system and libraries of its programs.

Which boots a block takes is seen to before it is given out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.service.package.host_rooms import AS_INSTALLED, IMAGES, LIBRARIES, room_facts

_VARIABLE = "LD_LIBRARY_PATH"
# An environment of another size moves the stack (Mytkowicz 2010, section 4.2): the variable is as
# long at every level. The loader takes several slashes for one.
_PATH_LENGTH = 200
_NOTHING = "/nonexistent"


def brought_to(
    spec: ExperimentSpec, levels: Mapping[str, str]
) -> tuple[ExperimentSpec, dict[str, Any]]:
    """`spec` with its programs at the levels of a block, and what these are on this host.

    Raises
    ------
    MissingCapabilityError
        This host does not have one of them.
    UsageError
        A program has no root file system of its own, or a path is too long.
    """
    rooms: dict[str, Any] = {}
    variants = spec.variants
    if "image" in levels:
        image = None if levels["image"] == AS_INSTALLED else IMAGES.folder(levels["image"])
        rooms["image"] = _told(levels["image"], image)
        variants = tuple(_with_image(variant, image) for variant in variants)
    if "libraries" in levels:
        name = levels["libraries"]
        folder = None if name == AS_INSTALLED else LIBRARIES.folder(name)
        rooms["libraries"] = _told(name, folder)
        variants = tuple(_with_libraries(variant, folder) for variant in variants)
    if "image" not in levels and (images := _own_images(spec)):
        rooms["images"] = [_told(name, IMAGES.folder(name)) for name in images]
    return replace(spec, variants=variants), rooms


def _own_images(spec: ExperimentSpec) -> list[str]:
    """The images that packages have by themselves or by a factor within blocks."""
    found = {each.package.image for each in spec.variants if each.package is not None}
    return sorted(name for name in found if name is not None and not os.path.isabs(name))


def _told(name: str, folder: str | None) -> dict[str, str]:
    return {"name": name, **({} if folder is None else room_facts(folder))}


def _with_image(variant: Variant, image: str | None) -> Variant:
    if variant.package is None:
        raise UsageError(
            f"{variant.name} is no package: it has no root file system of its own.", field="image"
        )
    return replace(variant, package=replace(variant.package, image=image))


def _with_libraries(variant: Variant, folder: str | None) -> Variant:
    path = folder or _NOTHING
    if len(path) > _PATH_LENGTH:
        raise UsageError(
            f"The path of libraries {path!r} has more than {_PATH_LENGTH} characters.",
            field="libraries",
        )
    value = path.ljust(_PATH_LENGTH, "/")
    package = variant.package
    if package is None:
        own = {**dict(variant.launch.environment), _VARIABLE: value}
        launch = replace(variant.launch, environment=tuple(own.items()))
        return replace(variant, launch=launch)
    variables = tuple({**dict(package.variables), _VARIABLE: value}.items())
    return replace(variant, package=replace(package, variables=variables, libraries=folder or ""))
