"""Reading a recipe strictly: what is unknown, missing or wrong is an error that names the field."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from steelyard.core.decoding import decoding, open_regular
from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.suite.read_source import read_source
from steelyard.suite.recipe import (
    COMPARATORS,
    GROUPS,
    LANGUAGES,
    PLACES,
    PROBES,
    SIZES,
    TRAITS,
    BuildRecipe,
    Changed,
    Check,
    Input,
    IterationsRecipe,
    Recipe,
    Requirement,
    Size,
)
from steelyard.suite.recipe_table import Table

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PLACE = re.compile(r"\{([a-z_]+)\}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def read_recipe(path: str) -> Recipe:
    """The recipe in the file `path`.

    Raises
    ------
    DataError
        It is not a recipe; the message names the file, the field and what is wanted.
    """
    try:
        with open(open_regular(path), "rb") as file, decoding(f"The recipe {path} is not TOML"):
            data = tomllib.load(file)
    except OSError as error:
        raise DataError(f"The recipe {path} cannot be read: {error.strerror}.") from None
    stem, _ = os.path.splitext(path)
    table = Table(FieldReader(path), data, "")
    with decoding(f"The recipe {path} is damaged"):
        recipe = _recipe(table, path, stem)
        table.end()
        _check_whole(table, recipe)
    return recipe


def _recipe(table: Table, path: str, stem: str) -> Recipe:
    name = table.text("name")
    if not NAME.fullmatch(name) or name != os.path.basename(stem):
        raise table.wrong("name", "the name of the file, in small letters, digits and -", name)
    iterations = table.table("iterations", None)
    return Recipe(
        name=name,
        path=path,
        folder=stem,
        title=table.text("title"),
        description=table.text("description"),
        languages=table.choices("languages", LANGUAGES),
        licence=table.text("licence"),
        spec=table.text("spec", ""),
        groups=table.choices("groups", GROUPS),
        traits=table.choices("traits", TRAITS, ()),
        notes=table.text("notes", ""),
        source=read_source(table.table("source"), stem),
        requires=tuple(_requirement(item) for item in table.tables("requires")),
        build=_build(table.table("build", {})),
        sizes=_sizes(table.table("sizes"), table.table("run", {}), stem),
        changed=_changed(table.table("changed", {})),
        iterations=None if iterations is None else _iterations(iterations),
    )


def _requirement(table: Table) -> Requirement:
    package = table.text("package")
    probes = [probe for probe in PROBES if table.has(probe)]
    if len(probes) != 1:
        raise table.wrong("package", f"with one probe of {', '.join(PROBES)}", package)
    found = Requirement(package, probes[0], table.text(probes[0]))  # pyright: ignore[reportArgumentType]
    table.end()
    return found


def _build(table: Table) -> BuildRecipe:
    found = BuildRecipe(
        script=table.text("script", ""),
        program=table.text("program", ""),
        environment=table.texts_by_name("environment"),
        timeout_s=table.number("timeout_s", None),
    )
    table.end()
    return found


def _changed(table: Table) -> Changed:
    found = Changed(
        input=table.text("input", None),
        offset=table.whole("offset", None),
        argv=_words(table, "argv", None),
    )
    table.end()
    return found


def _iterations(table: Table) -> IterationsRecipe:
    found = IterationsRecipe(
        adapter=table.text("adapter"),
        file=table.text("file", None),
        pattern=table.text("pattern", None),
        benchmark=table.text("benchmark", None),
        warmup_count=table.whole("warmup_count", None),
    )
    table.end()
    return found


def _sizes(table: Table, run: Table, folder: str) -> Mapping[str, Size]:
    """Every size, with what `run` says of all of them."""
    common = dict(run.values)
    sizes: dict[str, Size] = {}
    for name in SIZES:
        own = table.table(name)
        environment = {**_environment(run), **_environment(own)}
        merged = {**common, **own.values}
        if environment:
            merged["environment"] = environment
        sizes[name] = _size(Table(own.reader, merged, own.where), folder)
    table.end()
    return sizes


def _environment(table: Table) -> Mapping[str, Any]:
    found = table.values.get("environment", {})
    return table.reader.mapping(found, table.named("environment"))


def _size(table: Table, folder: str) -> Size:
    found = Size(
        argv=_words(table, "argv"),
        stdin=_placed(table, "stdin"),
        inputs=tuple(_input(item, folder) for item in table.tables("inputs")),
        checks=tuple(_check(item, folder) for item in table.tables("check")),
        prepare=_words(table, "prepare", None),
        cleanup=_words(table, "cleanup", None),
        environment=table.texts_by_name("environment"),
        exit_code=table.whole("exit_code", 0),
        timeout_s=table.number("timeout_s", None),
    )
    table.end()
    for _, value in found.environment:
        _check_places(table, "environment", value)
    return found


def _words(table: Table, name: str, *default: None) -> Any:
    found: tuple[str, ...] | None = table.texts(name, *default)
    for word in found or ():
        _check_places(table, name, word)
    if found is not None and not found:
        raise table.wrong(name, "a program and its arguments", [])
    return found


def _placed(table: Table, name: str) -> str | None:
    found = table.text(name, None)
    if found is not None:
        _check_places(table, name, found)
    return found


def _check_places(table: Table, name: str, word: str) -> None:
    for place in _PLACE.findall(word):
        if place not in PLACES:
            known = ", ".join("{" + known + "}" for known in PLACES)
            raise table.wrong(name, f"without places other than {known}", word)


def _input(table: Table, folder: str) -> Input:
    file = table.text("file")
    if file.startswith(("/", ".")) or ".." in file.split("/"):
        raise table.wrong("file", "a name below the input's directory", file)
    generator = table.text("generator")
    if generator.endswith(".py"):
        _check_file(table, "generator", folder, generator)
    found = Input(file, generator, table.whole("seed"), table.rest())
    for name, value in found.parameters.items():
        if not isinstance(value, int | float | str | bool):
            raise table.wrong(name, "a number, a text or a truth", value)
    return found


def _check(table: Table, folder: str) -> Check:
    comparator = table.choice("comparator", COMPARATORS)
    expected = table.text("expected")
    if comparator == "sha256" and not _SHA256.fullmatch(expected):
        raise table.wrong("expected", "64 hexadecimal digits", expected)
    if comparator != "sha256":
        _check_file(table, "expected", folder, expected)
    tolerance = table.number("tolerance_ratio", 0.0)
    if tolerance and comparator != "numbers":
        raise table.wrong("tolerance_ratio", "left out but with the comparator numbers", tolerance)
    ignore = table.text("ignore", None)
    try:
        re.compile(ignore or "")
    except (re.error, OverflowError, RecursionError):
        raise table.wrong("ignore", "a regular expression", ignore) from None
    found = Check(comparator, expected, table.text("file", None), tolerance, ignore)
    table.end()
    return found


def _check_file(table: Table, name: str, folder: str, file: str) -> None:
    if not os.path.isfile(os.path.join(folder, file)):
        raise table.wrong(name, f"a file in {folder}", file)


def _check_whole(table: Table, recipe: Recipe) -> None:
    """What holds only between fields."""
    build, test = recipe.build, recipe.sizes["test"]
    words = [word for size in recipe.sizes.values() for word in size.argv]
    if not build.program and any("{program}" in word for word in words):
        raise table.wrong("build.program", "there, since sizes name {program}", build.program)
    for name, size in recipe.sizes.items():
        if not size.checks and recipe.source.kind != "user":
            raise table.wrong(f"sizes.{name}.check", "there: nothing is measured unchecked", [])
    changed = recipe.changed
    if changed.argv is None and not test.inputs and recipe.source.kind != "user":
        raise table.wrong("changed.argv", "there, since size test has no inputs", None)
    files = [item.file for item in test.inputs]
    if changed.input is not None and changed.input not in files:
        raise table.wrong("changed.input", f"one of {', '.join(files) or 'none'}", changed.input)
