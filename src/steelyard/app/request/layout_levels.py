"""Programs at levels of their layout, as ``--layout`` asks, and the driver that builds them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Variant
from steelyard.core.hashing import sha256_hex_of_file
from steelyard.factors.kinds import FACTORS

if TYPE_CHECKING:
    from steelyard.layout.toolchain import Language

FACTOR = "layout"
_OPTION = "--layout"
_LANGUAGES: Mapping[str, Language] = {"CC": "c", "CXX": "c++", "FC": "fortran"}
_DRIVER = re.compile(r"(^|/)steelyard (cc|c\+\+|fc)$")


def laid_out_variants(variants: Sequence[Variant], levels: Sequence[str]) -> tuple[Variant, ...]:
    """Every variant at every level.

    Several levels of a variant that has no other to be compared with are compared with the first
    of them; variants that are compared with one another already, are so at equal levels.

    Raises
    ------
    UsageError
        A level is none, or comes twice.
    """
    kind = FACTORS.get(FACTOR)
    chosen = [kind.level(text, _OPTION) for text in levels]
    for level in chosen:
        if chosen.count(level) > 1:
            raise UsageError(f"{_OPTION} names {level} twice.", field=_OPTION)
    if len(chosen) == 1:
        return tuple(kind.apply(variant, chosen[0]) for variant in variants)
    groups = [variant.group for variant in variants]
    return tuple(
        _labelled(kind.apply(variant, level), level, alone=groups.count(variant.group) == 1)
        for level in chosen
        for variant in variants
    )


def _labelled(variant: Variant, level: str, *, alone: bool) -> Variant:
    label = f"{FACTOR}={level}"
    return replace(
        variant,
        name=f"{variant.name} ({label})",
        parameters=(*variant.parameters, (FACTOR, level)),
        group=variant.group if alone else " ".join(filter(None, (variant.group, label))),
    )


def driver_contents(compilers: Mapping[str, str]) -> tuple[str, ...]:
    """Digests of what Steelyard's own compiler drivers put into a program; none where none of
    `compilers`, by their variables, is one. The driver's version does not tell them apart.

    Raises
    ------
    MissingCapabilityError
        A driver lacks what it compiles with.
    """
    drivers = [name for name, command in compilers.items() if _DRIVER.search(command)]
    if not drivers:
        return ()
    from steelyard.layout.toolchain import find_toolchain

    paths: dict[str, None] = {}
    for name in drivers:
        tools = find_toolchain(_LANGUAGES[name])
        own = (tools.relinker, tools.runtime, tools.allocator, tools.module)
        others = (os.path.realpath(tools.compiler), os.path.realpath(tools.assembler))
        known = (*own, os.path.join(tools.pads_folder, "as"), *filter(os.path.isfile, others))
        paths.update(dict.fromkeys(known))
    digests: list[str] = []
    for path in paths:
        with open(path, "rb", opener=regular_opener) as file:
            digests.append(sha256_hex_of_file(file))
    return tuple(digests)
