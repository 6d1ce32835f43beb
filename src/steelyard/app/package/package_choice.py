"""How packages are to be run, from the words of options or of an experiment file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from steelyard.app.package.packaged_variant import PackageChoice
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import IterationsSpec
from steelyard.core.package_spec import EnvironmentLimits
from steelyard.core.quantity import parse_duration, parse_size
from steelyard.service.package.environments import CONTAINED, TRUSTED, environment_named
from steelyard.service.package.host_rooms import IMAGES, is_room_name


def choice_of(options: Mapping[str, Any], named: Callable[[str], str]) -> PackageChoice:
    """The choice that options make; what they leave out is as for `PackageChoice`.

    Parameters
    ----------
    options : mapping
        `environment`, `network`, `image`, `memory`, `disk`, `inodes`, `processes`,
        `setup_timeout`, `timeout`, as `steelyard package run` takes them.
    named : callable
        What the user calls an option, for messages.

    Raises
    ------
    UsageError, UnknownNameError
        A size or a time is none, or an option does not go with the environment.
    """
    usual = EnvironmentLimits()
    name = str(options.get("environment", CONTAINED.name))
    environment = environment_named(name, named("environment"))
    if environment is TRUSTED and options.get("network"):
        field = named("network")
        raise UsageError(
            f"A trusted package has the network in any case: leave {field} out.", field=field
        )
    image = options.get("image")
    if image is not None and "/" in image:
        image = os.path.abspath(image)
    elif image is not None and not is_room_name(image):
        field = named("image")
        raise UsageError(
            f"{field} takes a folder, such as ./root, or the name of an image, not {image!r}.",
            field=field,
        )
    limits = EnvironmentLimits(
        process_count=int(options.get("processes", usual.process_count)),
        memory_bytes=_size(options, "memory", usual.memory_bytes, named),
        disk_bytes=_size(options, "disk", usual.disk_bytes, named),
        inode_count=int(options.get("inodes", usual.inode_count)),
        setup_s=_seconds(options, "setup_timeout", named) or usual.setup_s,
    )
    return PackageChoice(
        environment=name,
        image=image,
        has_network=bool(options.get("network", False)),
        limits=limits,
        timeout_s=_seconds(options, "timeout", named),
    )


def images_here() -> tuple[str, ...]:
    """The names of the images of this host."""
    return IMAGES.found()


def package_iterations(asked: str | None, metrics: Sequence[str]) -> IterationsSpec | None:
    """Where iterations are found: as asked, or in the tables of the archive of results."""
    if asked is not None:
        from steelyard.measure.iterations import parse_iterations

        return parse_iterations(asked, None, None)
    tables = any("=iterations:" in str(name) for name in metrics)
    return IterationsSpec("json-lines") if tables else None


def _size(
    options: Mapping[str, Any], name: str, usual_bytes: int, named: Callable[[str], str]
) -> int:
    return parse_size(str(options[name]), named(name)) if name in options else usual_bytes


def _seconds(options: Mapping[str, Any], name: str, named: Callable[[str], str]) -> float | None:
    return parse_duration(str(options[name]), named(name)) if name in options else None
