"""The root file system of a package: an image of the host by its name, or the host's own."""

from __future__ import annotations

import re
from dataclasses import replace

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Variant
from steelyard.factors.builds import built
from steelyard.factors.factor import Factor

# As service/package/host_rooms.py has them: a name, and what is installed on the host itself.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
HOSTS_OWN = "host"


def _normal(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"it takes the name of an image, or {HOSTS_OWN} for the host's own files")
    return text


def _apply(variant: Variant, level: str) -> Variant:
    built(variant, "image")
    if variant.package is None:
        raise UsageError(
            f"The factor image changes the root file system of a package, and {variant.name} runs "
            "on the host's own. Make a package of it: steelyard package init FOLDER -- CMD.",
            field="factor",
        )
    image = None if level == HOSTS_OWN else level
    return replace(variant, package=replace(variant.package, image=image))


# What setup.sh of the package makes, it makes on the root file system of each level.
EXTENSION = Factor(
    name="image",
    description="The root file system of packages: an image of the host by its name, or host.",
    part="build",
    normal=_normal,
    apply=_apply,
    is_drawn=False,
)
