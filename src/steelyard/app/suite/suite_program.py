"""Making a program of the suite ready to run: fetched, prepared, built, with its inputs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.app.request.layout_levels import driver_contents
from steelyard.app.suite.suite_name import SuiteName
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import (
    BuildFailedError,
    MissingCapabilityError,
    SuiteError,
    UsageError,
)
from steelyard.core.experiment_spec import Variant
from steelyard.core.hashing import sha256_of
from steelyard.measure.preflight import UNMADE
from steelyard.suite.make_inputs import made_inputs
from steelyard.suite.prepare import prepared_source, repaired_source
from steelyard.suite.recipe import Recipe, Size
from steelyard.suite.recipe_expansion import (
    BUILD_PLACE,
    Places,
    build_spec,
    is_compiled,
    launch_spec,
    output_checks,
    step,
)
from steelyard.suite.suite_cache import SuiteCache
from steelyard.suite.suite_compilers import COMPILED

if TYPE_CHECKING:
    from steelyard.build.run_build import Build

# Builds of the suite are not randomised, so that one seed does for all.
BUILD_SEED = 0

Say = Callable[[str], None]


def _say_nothing(_: str) -> None:
    pass


@dataclass(frozen=True)
class ReadyProgram:
    """A program of the suite that can be run.

    Parameters
    ----------
    build : Build or None
        None where nothing is built, or not yet.
    variant : Variant
        Named as its program, with its checks; with its `BuildSpec` where it is not built yet.
    """

    recipe: Recipe
    asked: SuiteName
    variant: Variant
    build: Build | None = None


class Workshop:
    """Makes programs ready, in one cache.

    Parameters
    ----------
    cache : SuiteCache, optional
        The user's.
    say : callable, optional
        Told of what takes its time.
    """

    def __init__(self, cache: SuiteCache | None = None, say: Say = _say_nothing) -> None:
        self.cache = cache or SuiteCache()
        self.say = say

    def ready(self, recipe: Recipe, asked: SuiteName, *, build: bool = True) -> ReadyProgram:
        """Make `recipe` ready to be run as `asked`.

        Parameters
        ----------
        build : bool
            False leaves building to whoever runs the variant, for whom it has a `BuildSpec`.

        Raises
        ------
        UsageError
            Compilers or flags are asked for, but the program is not compiled by any.
        SuiteError, BuildFailedError, MissingCapabilityError
            It cannot be fetched, prepared or built.
        """
        spec = self.build_spec(recipe, asked)
        built: Build | None = None
        place = BUILD_PLACE
        if spec is None:
            place = prepared_source(self.cache, recipe)
        elif build:
            built = self._built_with_needs(recipe, asked, spec)
            place = built.directory
        else:
            self._check_needs(recipe, asked)
        variant = self.variant(recipe, asked, recipe.sizes[asked.size], place)
        if spec is not None and built is None:
            variant = replace(variant, build=spec)
        return ReadyProgram(recipe, asked, variant, built)

    def _check_needs(self, recipe: Recipe, asked: SuiteName) -> None:
        from steelyard.app.suite.suite_doctor import install_command, needs_of

        missing = [need for need in needs_of([recipe], [asked.toolchain]) if not need.available]
        if missing:
            wanted = ", ".join(need.requirement.wanted for need in missing)
            raise MissingCapabilityError(
                f"{recipe.name} takes what is not installed: {wanted}. "
                f"`{install_command(missing)}` installs it.",
                field="suite",
            )

    def build_spec(self, recipe: Recipe, asked: SuiteName) -> BuildSpec | None:
        """How the program is built as `asked`; its source is prepared for it."""
        if not asked.toolchain.is_default and not is_compiled(recipe):
            raise UsageError(
                f"{recipe.name} is not compiled by a C, C++ or Fortran compiler, so that "
                f"{asked.toolchain.label()!r} would change nothing. Leave it out.",
                field="suite",
            )
        if recipe.build.script:
            asked.toolchain.check(recipe.languages, recipe.name)
        return build_spec(recipe, self._source(recipe), asked.toolchain)

    def _built_with_needs(self, recipe: Recipe, asked: SuiteName, spec: BuildSpec) -> Build:
        """Its build; what is missing for one that fails is named by its package.

        A kept build needs no packages, so that they are asked for only then.
        """
        try:
            return self.built(recipe, asked, spec)
        except BuildFailedError:
            self._check_needs(recipe, asked)
            raise

    def _source(self, recipe: Recipe) -> str:
        return prepared_source(self.cache, recipe)

    def built(self, recipe: Recipe, asked: SuiteName, spec: BuildSpec) -> Build:
        """The program's build, from the cache where it is there."""
        from steelyard.build.build_cache import cached_build, entry_place

        label = asked.toolchain.label()
        directory = self.cache.directory("builds")
        needed = {COMPILED[name] for name in recipe.languages if name in COMPILED}
        compilers = {name: text for name, text in spec.compilers if name in needed}
        key_parts = (recipe.name, *driver_contents(compilers))
        if not os.path.isdir(entry_place(spec, BUILD_SEED, directory, key_parts)):
            self.say(f"building {recipe.name}{label and f' ({label})'}")
        try:
            found = cached_build(spec, BUILD_SEED, directory, key_parts)
        except BuildFailedError:
            if spec.source is None or not repaired_source(self.cache, recipe, spec.source):
                raise
            self.say(f"building {recipe.name} again: its source in the cache was damaged")
            found = cached_build(spec, BUILD_SEED, directory, key_parts)
        program = os.path.join(found.directory, recipe.build.program)
        if not os.path.exists(program):
            raise SuiteError(
                f"{recipe.name} was built, but there is no {recipe.build.program} in "
                f"{found.directory}. Correct build.program or build.script of {recipe.path}."
            )
        return found

    def variant(self, recipe: Recipe, asked: SuiteName, size: Size, build: str) -> Variant:
        """What runs the program that lies in the directory `build`, at `size`."""
        places = Places(
            build=build,
            input=made_inputs(self.cache, recipe, asked.size),
            work=self._work_directory(recipe, asked),
        )
        return self._variant_in(places, recipe, size)

    def _variant_in(self, places: Places, recipe: Recipe, size: Size) -> Variant:
        return Variant(
            name=recipe.name,
            launch=launch_spec(recipe, size, places),
            prepare=step(recipe, size.prepare, places),
            cleanup=step(recipe, size.cleanup, places),
            checks=output_checks(recipe, size),
        )

    def _work_directory(self, recipe: Recipe, asked: SuiteName) -> str:
        """A directory of the variant's own; its path is as long for each, because paths move
        the stack."""
        key = sha256_of(f"{asked.label()} {asked.size}".encode()).hex()[:16]
        return self.cache.directory("work", f"{recipe.name}-{key}")


class PlannedWorkshop(Workshop):
    """Says how programs will be run, and fetches, builds and makes nothing.

    Places that are not there yet begin with `UNMADE`. What this machine lacks for a program is
    refused now, by the name of its package.
    """

    def ready(self, recipe: Recipe, asked: SuiteName, *, build: bool = True) -> ReadyProgram:
        """As `Workshop.ready` will make it; with a `BuildSpec` where `build` is False.

        Raises
        ------
        UsageError
            Compilers or flags are asked for, but the program is not compiled by any.
        MissingCapabilityError
            Something that fetching or building it takes is not installed.
        """
        self._check_needs(recipe, asked)
        spec = self.build_spec(recipe, asked)
        here = f"{UNMADE}/{recipe.name}"
        place = BUILD_PLACE if spec is not None and not build else here
        places = Places(build=place, input=f"{here}/{asked.size}", work=f"{here}/work")
        variant = self._variant_in(places, recipe, recipe.sizes[asked.size])
        return ReadyProgram(recipe, asked, variant if build else replace(variant, build=spec))

    def _source(self, recipe: Recipe) -> str:
        return f"{UNMADE}/{recipe.name}/source"
