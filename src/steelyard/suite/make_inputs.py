"""The inputs of a program at one size, in the cache."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from steelyard.core.errors import DataError, FetchError, SuiteError
from steelyard.core.hashing import sha256_hex_of_file, sha256_of
from steelyard.suite.generator import Generator, Value
from steelyard.suite.inputs import GENERATORS
from steelyard.suite.recipe import Input, Recipe
from steelyard.suite.suite_cache import SuiteCache, disk_errors
from steelyard.suite.tool_command import run_tool


def made_inputs(cache: SuiteCache, recipe: Recipe, size: str) -> str:
    """The directory with the inputs of `recipe` at `size`, made where it is not there yet.

    Raises
    ------
    DataError
        A generator is unknown or has not the parameter.
    SuiteError
        A generator fails, or the cache cannot be written.
    """
    inputs = recipe.sizes[size].inputs
    key = sha256_of("\0".join(_identity(recipe, item) for item in inputs).encode()).hex()
    target = os.path.join(cache.directory("inputs"), f"{recipe.name}-{size}-{key[:16]}")
    if os.path.isdir(target):
        return target
    with cache.lock(f"input-{recipe.name}-{size}"):
        if not os.path.isdir(target):
            with cache.new_directory(target) as directory:
                for item in inputs:
                    _make(recipe, item, os.path.join(directory, item.file))
    return target


def check_inputs(recipe: Recipe) -> None:
    """Make sure that every input's generator is known and takes its parameters.

    Raises
    ------
    DataError, UnknownNameError
        One does not.
    """
    for size in recipe.sizes.values():
        for item in size.inputs:
            if not item.generator.endswith(".py"):
                _built_in(recipe, item)


def _make(recipe: Recipe, item: Input, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if item.generator.endswith(".py"):
        _run_own(recipe, item, path)
        return
    generator = _built_in(recipe, item)
    parameters = {**generator.parameters, **item.parameters}
    with open(path, "wb") as file:
        for piece in generator.make(item.seed, parameters):
            file.write(piece)


def _run_own(recipe: Recipe, item: Input, path: str) -> None:
    script = os.path.join(recipe.folder, item.generator)
    parameters = [f"{name}={_word(value)}" for name, value in item.parameters.items()]
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    try:
        run_tool(
            [sys.executable, "-B", script, path, str(item.seed), *parameters],
            os.path.dirname(path),
            {"PYTHONPATH": package},
        )
    except FetchError as error:
        raise SuiteError(
            f"{recipe.name}: the input {item.file} could not be made by {script}: {error.message}"
        ) from None
    if not os.path.exists(path):
        raise SuiteError(f"{recipe.name}: {script} did not make {item.file}.")


def _word(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _built_in(recipe: Recipe, item: Input) -> Generator:
    generator = GENERATORS.get(item.generator)
    check_parameters(recipe.path, generator, item.parameters)
    return generator


def check_parameters(path: str, generator: Generator, given: Mapping[str, Value]) -> None:
    """Make sure that the generator has these parameters, of these types.

    Raises
    ------
    DataError
        It has not; the message names the recipe's file and the parameter.
    """
    for name, value in given.items():
        if name not in generator.parameters:
            known = ", ".join(generator.parameters)
            raise DataError(
                f"{path}: the generator {generator.name} has no parameter {name!r}, but {known}.",
                field=name,
            )
        usual = generator.parameters[name]
        wanted = (int, float) if isinstance(usual, float) else type(usual)
        if not isinstance(value, wanted) or isinstance(value, bool) != isinstance(usual, bool):
            raise DataError(
                f"{path}: {name} of the generator {generator.name} must be of the type "
                f"{type(usual).__name__}, not {value!r}.",
                field=name,
            )


def _identity(recipe: Recipe, item: Input) -> str:
    """What an input is made of: its file's code, seed and parameters."""
    if item.generator.endswith(".py"):
        sources = [os.path.join(recipe.folder, item.generator)]
    else:
        module = item.generator.replace("-", "_") + ".py"
        sources = [os.path.join(os.path.dirname(__file__), "inputs", module)]
    shared = os.path.dirname(__file__)
    sources += [os.path.join(shared, name) for name in ("generator.py", "vocabulary.py")]
    with disk_errors(sources[0]):
        digests = [_digest(path) for path in sources if os.path.exists(path)]
    parameters = sorted(f"{name}={value!r}" for name, value in item.parameters.items())
    return " ".join([item.file, item.generator, str(item.seed), *parameters, *digests])


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return sha256_hex_of_file(file)
