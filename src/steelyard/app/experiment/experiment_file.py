"""Experiment files: TOML that says what to vary, what to randomise and what to measure."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from steelyard.app.experiment.experiment_entries import (
    BenchmarkEntry,
    ConstraintEntry,
    ExperimentFile,
    FactorEntry,
)
from steelyard.app.experiment.experiment_fields import (
    ANALYSIS,
    BENCHMARK,
    CAUSE,
    CONSTRAINT,
    DESIGN,
    DESIGN_KINDS,
    EVENTS,
    EXPERIMENT,
    FACTOR,
    FACTOR_TEXTS,
    HOSTS,
    TABLES,
    experiment_schema,
)
from steelyard.app.experiment.field_types import Table
from steelyard.app.experiment.hidden_values import hidden_field
from steelyard.app.experiment.schema_slips import slips
from steelyard.app.experiment.toml_lines import TomlLines
from steelyard.app.experiment.zero_bytes import field_with_zero_byte
from steelyard.app.package.packaged_variant import package_name
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.core.field_reader import FieldReader
from steelyard.core.quantity import parse_share
from steelyard.core.units import LARGEST_VALUE

# The fields of a benchmark that is a package.
_OF_PACKAGES = ("name", "package", "package_options", "environment", "exit_codes", "expected_s")


def read_experiment_file(path: str) -> ExperimentFile:
    """Read an experiment file.

    Raises
    ------
    DataError
        It cannot be read, is not TOML, or a field is unknown, missing or of the wrong kind: the
        message names the line and the field.
    """
    try:
        with open(path, encoding="utf-8-sig", opener=regular_opener) as file:
            text = file.read()
    except OSError as error:
        raise DataError(
            f"The experiment file {path} cannot be read: {error.strerror}.", field="FILE"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not TOML: {error}.", field="FILE") from None
    return experiment_file_of(text, path)


def experiment_file_of(text: str, path: str) -> ExperimentFile:
    """The experiment file whose content is `text`; messages and directories go by `path`.

    Raises
    ------
    DataError
        As `read_experiment_file`.
    """
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise DataError(f"{path} is not TOML: it is nested too deep.", field="FILE") from None
    except ValueError as error:
        # Of the parser, of the decoder, and of numbers with thousands of digits.
        raise DataError(f"{path} is not TOML: {error}.", field="FILE") from None
    return _Reader(path, text).file(data)


class _Reader:
    """Takes the tables of a file apart; every complaint names line and field."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = TomlLines(text)
        self._fields = FieldReader(path)

    def file(self, data: dict[str, Any]) -> ExperimentFile:
        self._known(data, [table.name for table in TABLES], "")
        if (found := field_with_zero_byte(data)) is not None:
            self._fail(*found, "no text may have a zero byte (\\u0000)")
        settings = self._table(data.get("experiment", {}), EXPERIMENT)
        benchmarks = self._entries(data, "benchmark")
        if not benchmarks:
            self._fail("", "benchmark", "the file has no [[benchmark]]: name at least one program")
        read = ExperimentFile(
            path=self._path,
            settings=settings,
            benchmarks=tuple(self._benchmark(*entry) for entry in benchmarks),
            factors=tuple(self._factor(*entry) for entry in self._entries(data, "factor")),
            nuisance=tuple(self._nuisance(*entry) for entry in self._entries(data, "nuisance")),
            constraints=tuple(self._constraint(*e) for e in self._entries(data, "constraint")),
            design=self._design(data.get("design", {})),
            analysis=self._table(data.get("analysis", {}), ANALYSIS),
            cause=self._table(data.get("cause", {}), CAUSE),
            events=self._table(data.get("events", {}), EVENTS),
            hosts=self._table(data.get("hosts", {}), HOSTS),
        )
        for slip in slips(data, experiment_schema()):
            self._fail(slip.table, slip.field, slip.message)
        return read

    def _entries(self, data: dict[str, Any], name: str) -> list[tuple[dict[str, Any], str]]:
        found = data.get(name, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            self._fail("", name, f"{name} must be tables: write [[{name}]] above each")
        return [(item, f"{name}[{index}]") for index, item in enumerate(found)]

    def _benchmark(self, data: dict[str, Any], where: str) -> BenchmarkEntry:
        self._known(data, BENCHMARK.field_names, where)
        if (hidden := hidden_field(data)) is not None:
            self._fail(where, hidden, "*** stands for a value that was hidden: write it anew")
        program, command = data.get("program"), data.get("command")
        package = data.get("package")
        if sum(each is not None for each in (program, command, package)) != 1:
            self._fail(
                where,
                "command",
                'give either `command`, `program = "suite:NAME"` or `package = "FILE"`',
            )
        if package is not None:
            return self._packaged(data, where)
        if program is not None and not str(program).startswith("suite:"):
            self._fail(where, "program", f'it takes a name such as "suite:zstd", not {program!r}')
        options = self._options(data)
        if isinstance(options.get("source"), str):
            options["source"] = self._source(options["source"])
        words = self._command(program if command is None else command, where)
        name = data.get("name", words if isinstance(words, str) else " ".join(words))
        return BenchmarkEntry(
            name=self._text(name, where, "name"),
            command=words,
            options=options,
            expected_s=self._expected(data, where),
            places={name: self._place(where, name) for name in data},
        )

    def _packaged(self, data: dict[str, Any], where: str) -> BenchmarkEntry:
        for name in data:
            if name not in _OF_PACKAGES:
                self._fail(where, name, "it does not go with a package, whose scripts do that")
        package = self._text(data["package"], where, "package")
        return BenchmarkEntry(
            name=self._text(data.get("name", package_name(package)), where, "name"),
            command="",
            options=self._options(data),
            expected_s=self._expected(data, where),
            places={name: self._place(where, name) for name in data},
            package=package,
        )

    def _options(self, data: dict[str, Any]) -> dict[str, Any]:
        own = ("name", "command", "program", "package", "expected_s")
        return {name: data[name] for name in BENCHMARK.field_names if name in {*data} - {*own}}

    def _expected(self, data: dict[str, Any], where: str) -> float | None:
        expected = data.get("expected_s")
        return None if expected is None else self._number(expected, where, "expected_s")

    def _source(self, directory: str) -> str:
        """The directory beside the file where it is there, else as seen by who calls."""
        beside = os.path.join(os.path.dirname(self._path), directory)
        return beside if os.path.isdir(beside) else directory

    def _command(self, value: Any, where: str) -> str | tuple[str, ...]:
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return tuple(value)
        return self._fail(where, "command", f"it takes text or a list of words, not {value!r}")

    def _factor(self, data: dict[str, Any], where: str) -> FactorEntry:
        self._known(data, FACTOR.field_names, where)
        kind = self._required_text(data, where, "factor")
        levels = self._levels(data.get("levels"), where)
        if len(levels) < 2:
            self._fail(where, "levels", "a factor needs at least two levels")
        if len(set(levels)) < len(levels):
            self._fail(where, "levels", "a level is named twice")
        name = self._text(data.get("name", kind), where, "name")
        place = self._place(where, "levels")
        named = self._place(where, "factor")
        texts = self._texts(data, where)
        share = parse_share(data["share"], self._place(where, "share")) if "share" in data else None
        return FactorEntry(name, kind, levels, where=place, texts=texts, named=named, share=share)

    def _nuisance(self, data: dict[str, Any], where: str) -> FactorEntry:
        kind = self._required_text(data, where, "factor")
        levels = self._levels(data["levels"], where) if "levels" in data else ()
        options: list[tuple[str, int]] = []
        for name, value in data.items():
            if name in FACTOR.field_names:
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                self._fail(where, name, f"it takes a whole number, not {value!r}")
            options.append((name, value))
        name = self._text(data.get("name", kind), where, "name")
        place, texts = self._place(where, "factor"), self._texts(data, where)
        return FactorEntry(name, kind, levels, tuple(options), place, texts, named=place)

    def _texts(self, data: dict[str, Any], where: str) -> tuple[tuple[str, str], ...]:
        known = [field.name for field in FACTOR_TEXTS if field.name in data]
        return tuple((name, self._text(data[name], where, name)) for name in known)

    def _constraint(self, data: dict[str, Any], where: str) -> ConstraintEntry:
        self._known(data, CONSTRAINT.field_names, where)
        if ("require" in data) == ("forbid" in data):
            self._fail(where, "forbid", "give either `forbid` or `require`")
        parts = {name: self._choices(data, where, name) for name in data}
        if "when" not in parts:
            self._fail(where, "when", "it is missing")
        return ConstraintEntry(parts["when"], parts.get("require", {}), parts.get("forbid", {}))

    def _choices(self, data: dict[str, Any], where: str, name: str) -> dict[str, tuple[str, ...]]:
        value = data[name]
        if not isinstance(value, dict) or not value:
            example = '{compiler = "gcc"}'
            self._fail(where, name, f"it takes factors with their levels, such as {example}")
        return {
            factor: self._levels(levels if isinstance(levels, list) else [levels], where)
            for factor, levels in value.items()
        }

    def _levels(self, value: Any, where: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            self._fail(where, "levels", f"it takes a list of levels, not {value!r}")
        return tuple(self._level(item, where) for item in value)

    def _level(self, value: Any, where: str) -> str:
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, int | float | str):
            return str(value)
        return self._fail(
            where, "levels", f"a level is text, a number or true/false, not {value!r}"
        )

    def _design(self, value: Any) -> dict[str, Any]:
        design = self._table(value, DESIGN)
        kind = design.get("kind", DESIGN_KINDS[0])
        if kind not in DESIGN_KINDS:
            self._fail("design", "kind", f"it takes {', '.join(DESIGN_KINDS)}, not {kind!r}")
        generators = design.get("generators", [])
        if not isinstance(generators, list) or not all(isinstance(g, str) for g in generators):
            self._fail("design", "generators", 'it takes a list such as ["E = A:B:C"]')
        fraction = design.get("fraction")
        if fraction is not None and (not isinstance(fraction, int) or fraction < 1):
            self._fail("design", "fraction", "it takes p of a fraction of one in 2^p, from 1 on")
        for name in ("points", "interactions"):
            number = design.get(name)
            if name in design and (type(number) is not int or number < 1):
                self._fail("design", name, f"it takes a whole number from 1 on, not {number!r}")
            if name in design and kind != "d-optimal":
                self._fail("design", name, f"it goes with kind d-optimal, not {kind}")
        return design

    def _table(self, value: Any, table: Table) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fail("", table.name, f"{table.name} must be a table: write [{table.name}]")
        self._known(value, table.field_names, table.name)
        return value

    def _known(self, data: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for name in data:
            if name not in known:
                self._fail(where, name, f"there is no such field; known: {', '.join(known)}")

    def _required_text(self, data: Mapping[str, Any], where: str, name: str) -> str:
        if name not in data:
            self._fail(where, name, "it is missing")
        return self._text(data[name], where, name)

    def _text(self, value: Any, where: str, name: str) -> str:
        if not isinstance(value, str) or not value.strip():
            self._fail(where, name, f"it takes text, not {value!r}")
        return value

    def _number(self, value: Any, where: str, name: str) -> float:
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong or not 0 < value <= LARGEST_VALUE:
            self._fail(where, name, f"it takes a number above 0, not {value!r}")
        return float(value)

    def _place(self, where: str, name: str) -> str:
        field = f"{where}.{name}".lstrip(".")
        line = self._lines.line_of(where, name.partition(".")[0])
        return f"{self._path}, line {line}: {field}" if line else f"{self._path}: {field}"

    def _fail(self, where: str, name: str, message: str) -> NoReturn:
        field = f"{where}.{name}".lstrip(".")
        raise DataError(f"{self._place(where, name)}: {message}.", field=field)
