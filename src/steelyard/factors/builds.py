"""Changes of a variant's build that several factors make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Variant

# What Make, CMake, autoconf and Meson read flags of compilers from.
COMPILER_FLAGS = ("CFLAGS", "CXXFLAGS", "FFLAGS", "FCFLAGS")


def built(variant: Variant, factor: str) -> BuildSpec:
    """The build of a variant.

    Raises
    ------
    UsageError
        It has none, so that `factor` has nothing to change.
    """
    if variant.build is None:
        raise UsageError(
            f"The factor {factor} changes how {variant.name} is built, but no build is given: add "
            "`build` to the benchmark.",
            field="factor",
        )
    return variant.build


def with_flags(variant: Variant, factor: str, names: Sequence[str], flags: str) -> Variant:
    """`flags` after those that each of the variables `names` has already."""
    build = built(variant, factor)
    environment = dict(build.environment)
    for name in names:
        environment[name] = f"{environment.get(name) or ''} {flags}".strip()
    return replace(variant, build=replace(build, environment=tuple(environment.items())))


def with_compilers(variant: Variant, factor: str, **programs: str) -> Variant:
    """Other programs behind ``CC``, ``CXX`` and the like."""
    build = built(variant, factor)
    compilers = {**dict(build.compilers), **programs}
    return replace(variant, build=replace(build, compilers=tuple(compilers.items())))


def with_randomization(variant: Variant, factor: str, name: str, seed: int | None) -> Variant:
    """One more randomisation of the build, of `seed` or of the build's own."""
    build = built(variant, factor)
    kept = tuple(item for item in build.randomize if item != name)
    seeds = tuple(item for item in build.seeds if item[0] != name)
    if seed is not None:
        seeds = (*seeds, (name, seed))
    return replace(variant, build=replace(build, randomize=(*kept, name), seeds=seeds))
