"""Experiment files keep their published schema, and whoever breaks it is told where."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from steelyard.app.experiment.experiment_fields import (
    DESIGN_KINDS,
    TABLES,
    experiment_schema,
    field_rows,
)
from steelyard.app.experiment.experiment_file import read_experiment_file
from steelyard.app.experiment.field_types import Table
from steelyard.app.experiment.schema_slips import slips
from steelyard.core.errors import DataError

EXAMPLES = sorted((Path(__file__).parents[4] / "examples").rglob("*.toml"))
WHOLE = """\
[experiment]
name = "what the input does"
runs = 5

[[benchmark]]
command = "count {input}"

[[factor]]
factor = "input"
levels = [100, 200]

[[nuisance]]
factor = "environment-size"
maximum = 1000

[[constraint]]
when = {input = 100}
forbid = {input = [200]}

[design]
kind = "full-factorial"

[analysis]
method = "anova"
options = {interactions = 2}
"""


def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(experiment_schema())
    return Draft202012Validator(experiment_schema())


def fields_of(table: str) -> set[str]:
    schema = experiment_schema()["properties"][table]
    return set(schema.get("items", schema)["properties"])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_keeps_the_schema(path: Path) -> None:
    data = tomllib.loads(path.read_text())
    assert [error.message for error in validator().iter_errors(data)] == []
    assert list(slips(data, experiment_schema())) == []
    assert read_experiment_file(str(path)).benchmarks


def refusal(path: Path) -> str:
    """What is said against a file; nothing where it is read."""
    try:
        read_experiment_file(str(path))
    except DataError as error:
        return error.message
    return ""


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_field_is_known_to_the_reader_where_the_schema_has_it(
    table: Table, tmp_path: Path
) -> None:
    header = f"[[{table.name}]]" if table.about else f"[{table.name}]"
    before = "" if table.name == "benchmark" else '[[benchmark]]\ncommand = "x"\n'
    assert fields_of(table.name) == set(table.field_names)
    for name in (*table.field_names, "nowhere"):
        path = tmp_path / "e.toml"
        path.write_text(f"{before}{header}\n{name} = {{}}\n")
        unknown = "there is no such field; known: " + ", ".join(table.field_names)
        is_told = unknown in refusal(path)
        assert is_told is (name == "nowhere" and table.others is None), name


def test_a_table_that_is_declared_is_read_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text("[nowhere]\n")
    known = ", ".join(table.name for table in TABLES)
    with pytest.raises(DataError, match=f"there is no such field; known: {known}"):
        read_experiment_file(str(path))
    assert list(experiment_schema()["properties"]) == known.split(", ")


@pytest.mark.parametrize("kind", DESIGN_KINDS)
def test_every_kind_of_design_that_is_declared_is_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text(WHOLE.replace("full-factorial", kind))
    assert read_experiment_file(str(path)).design["kind"] == kind


def test_every_field_has_a_row_of_the_documentation_with_what_it_takes() -> None:
    rows = [row.split(" | ") for row in field_rows()[2:]]
    for table in TABLES:
        for field in table.fields:
            (said,) = (
                r[2] for r in rows if (table.name in r[0], r[1]) == (True, f"`{field.name}`")
            )
            assert field.takes["description"] in said
    assert len(rows) == sum(len(table.fields) + (table.others is not None) for table in TABLES)


def test_every_value_says_what_it_takes() -> None:
    def nodes(node: Any):
        if isinstance(node, dict):
            if "type" in node or "enum" in node:
                yield node
            for name, value in node.items():
                if name not in ("oneOf", "required", "enum"):
                    yield from nodes(value)

    found = list(nodes(experiment_schema()))
    assert len(found) >= sum(len(table.fields) for table in TABLES)
    assert [node for node in found if not node.get("description")] == []


BROKEN = {
    "unknown table": ("[design]", "[desing]", "desing", "line 20: desing: there is no such field"),
    "unknown field": ("runs = 5", "run = 5", "experiment.run", "line 3: experiment.run: there is"),
    "no number": (
        "runs = 5",
        'runs = "x"',
        "experiment.runs",
        "line 3: experiment.runs: it takes a",
    ),
    "too small": ("runs = 5", "runs = 0", "experiment.runs", "a whole number from 1 on, not 0"),
    "no seed": ("runs = 5", "seed = -1", "experiment.seed", "line 3: experiment.seed: it takes a"),
    "no order": ("runs = 5", 'order = "any"', "experiment.order", 'takes "blocks" or "sequential"'),
    "power": ("runs = 5", 'power = {change = "1%"}', "experiment.power.variation", "line 3: "),
    "repeat": ("runs = 5", "repeat = {build = 2}", "experiment.repeat.build", "line 3: "),
    "metrics": ("runs = 5", 'metrics = "wall_time"', "experiment.metrics", "a list of metrics"),
    "no name": ('name = "what the input does"', 'name = ""', "experiment.name", "line 2: "),
    "no command": ('command = "count {input}"', 'name = "x"', "benchmark[0].command", "line 5: "),
    "both": ("command =", 'program = "suite:x"\ncommand =', "benchmark[0].command", "either"),
    "no program": (
        'command = "count {input}"',
        'program = "zstd"',
        "benchmark[0].program",
        "suite:",
    ),
    "shell": ("command =", "shell = 1\ncommand =", "benchmark[0].shell", "line 6: "),
    "time": ("command =", "expected_s = 0\ncommand =", "benchmark[0].expected_s", "line 6: "),
    "codes": ("command =", "exit_codes = [256]\ncommand =", "benchmark[0].exit_codes", "line 6: "),
    "variables": (
        "command =",
        "environment = 5\ncommand =",
        "benchmark[0].environment",
        "line 6: ",
    ),
    "one level": ("[100, 200]", "[100]", "factor[0].levels", "line 10: factor[0].levels"),
    "level twice": ("[100, 200]", "[100, 100]", "factor[0].levels", "line 10: factor[0].levels"),
    "no levels": ("[100, 200]", "100", "factor[0].levels", "line 10: factor[0].levels"),
    "strange level": ("[100, 200]", "[100, {a = 1}]", "factor[0].levels", "line 10: "),
    "no factor": ('factor = "input"\n', "", "factor[0].factor", "line 8: factor[0].factor"),
    "option": ("maximum = 1000", 'maximum = "x"', "nuisance[0].maximum", "line 14: "),
    "constraint": ("forbid = {input = [200]}\n", "", "constraint[0].forbid", "line 16: "),
    "choices": ("when = {input = 100}", "when = 100", "constraint[0].when", "line 17: "),
    "no design": ('"full-factorial"', '"half"', "design.kind", "line 21: design.kind"),
    "fraction": ('kind = "full', 'fraction = 0\nkind = "full', "design.fraction", "line 21: "),
    "folded": ('kind = "full', 'folded = "yes"\nkind = "full', "design.folded", "line 21: "),
    "options": ("options = {interactions = 2}", "options = 2", "analysis.options", "line 25: "),
    "quantiles": (
        "options = {interactions = 2}",
        "quantiles = 0.5",
        "analysis.quantiles",
        "line 25",
    ),
    "rows": ("options = {interactions = 2}", 'rows = "all"', "analysis.rows", '"iterations", not'),
    "single table": ("[[benchmark]]", "[benchmark]", "benchmark", "write [[benchmark]] above each"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_by_line_and_field_and_breaks_the_schema(
    name: str, tmp_path: Path
) -> None:
    old, new, field, message = BROKEN[name]
    assert WHOLE.count(old) >= 1
    text = WHOLE.replace(old, new, 1)
    path = tmp_path / "e.toml"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_experiment_file(str(path))
    assert caught.value.field == field
    assert message in caught.value.message
    assert f"{path}, line " in caught.value.message
    assert not validator().is_valid(tomllib.loads(text))


@pytest.mark.parametrize(
    ("old", "new", "field", "message"),
    [
        ("command =", "expected_s = nan\ncommand =", "benchmark[0].expected_s", "above 0, not nan"),
        ("command =", "expected_s = inf\ncommand =", "benchmark[0].expected_s", "above 0, not inf"),
        ("runs = 5", f"runs = {10**30}", "experiment.runs", "not 1000000000000"),
        ("runs = 5", f"seed = 1{'0' * 5000}", "FILE", "is not TOML"),
        ("runs = 5", f"seed = {'[' * 5000}", "FILE", "is not TOML"),
    ],
)
def test_numbers_and_depths_beyond_all_reason_are_told(
    old: str, new: str, field: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "e.toml"
    path.write_text(WHOLE.replace(old, new, 1))
    with pytest.raises(DataError) as caught:
        read_experiment_file(str(path))
    assert caught.value.field == field
    assert message in caught.value.message


def test_the_whole_file_is_right(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text(WHOLE)
    assert read_experiment_file(str(path)).settings["runs"] == 5
    assert validator().is_valid(tomllib.loads(WHOLE))


def test_a_type_that_python_takes_for_another_is_none() -> None:
    """True is a number to Python, and to nobody else."""
    data = {"benchmark": [{"command": "x"}], "experiment": {"runs": True}}
    assert [slip.field for slip in slips(data, experiment_schema())] == ["runs"]
    assert not validator().is_valid(data)


def test_a_byte_order_mark_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    path.write_text(WHOLE, "utf-8-sig")
    marked = read_experiment_file(str(path))
    path.write_text(WHOLE, "utf-8")
    assert marked == read_experiment_file(str(path))


@pytest.mark.parametrize(
    ("field", "is_hidden"),
    [
        ('environment = {KEY = "***"}', True),
        ('build = "make --token ***"', True),
        ('setup = "curl https://ada:***@example.org"', True),
        ('setup = "rsync --include dir/*** a b"', False),
    ],
)
def test_a_hidden_value_is_not_taken_for_the_value(tmp_path, field, is_hidden):
    path = tmp_path / "e.toml"
    path.write_text(f'[experiment]\nruns = 2\n[[benchmark]]\ncommand = "true"\n{field}\n')
    if not is_hidden:
        assert read_experiment_file(str(path)).benchmarks
        return
    with pytest.raises(DataError, match=r"line 5: .*\*\*\* stands for a value that was hidden"):
        read_experiment_file(str(path))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[experiment]\nname = "a\\u0000b"', "line 2: experiment.name"),
        ('[[benchmark]]\ncommand = ["true", "\\u0000"]', "line 2: benchmark[0].command"),
        (
            '[[benchmark]]\ncommand = "true"\nenvironment = {"A\\u0000" = 1}',
            "line 3: benchmark[0].environment",
        ),
        ('[[factor]]\nfactor = "x"\nlevels = [0, "\\u0000"]', "line 3: factor[0].levels"),
        ('[hosts.factors]\n"\\u0000" = "100%"', "hosts.factors"),
    ],
)
def test_a_zero_byte_is_no_text(tmp_path, text, place):
    path = tmp_path / "e.toml"
    path.write_text(f"{text}\n")
    with pytest.raises(DataError, match=rf"{re.escape(place)}: no text may have a zero byte"):
        read_experiment_file(str(path))
