"""Tables that hold what no measurement is, and files that become large when they are read."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet
import pytest

from steelyard.app.results.library import open_library
from steelyard.core.errors import DataError

WRONG = {
    "a wall time below 0": ("variant,value\na,-1.5\n", "0 or above, as a time"),
    "a block below 0": ("variant,block,value\na,-1,1\n", "row 1, column 'block' must be"),
    "a position below 0": ("variant,position,value\na,-1,1\n", "trial.position"),
    "a build below 0": ("variant,build,value\na,-1,1\n", "row 1, column 'build' must be"),
    "a block of 10^18": ("variant,block,value\na,1000000000000000000,1\n", "row 1, column 'block'"),
    "two rows at one place": ("variant,position,value\na,0,1\na,0,2\n", "column 'iteration'"),
    "two rows of one execution": ("variant,execution,value\na,0,1\na,0,2\n", "'iteration'"),
    "an iteration twice": (
        "variant,execution,iteration,value\na,0,3,1\na,0,3,2\n",
        "row 2, column 'iteration' must be another number",
    ),
    "an iteration below 0": ("variant,iteration,value\na,-1,1\n", "from 0 to"),
    "rows that contradict each other": (
        "variant,position,iteration,block,value\na,0,0,1,1\na,0,1,2,1\n",
        "row 2, column 'block' must be '1' as before, not '2'",
    ),
    "a status that changes": (
        "variant,position,iteration,status,value\na,0,0,ok,1\na,0,1,failed,1\n",
        "column 'status'",
    ),
    "a column twice": ("variant,value,value\na,1,2\n", "has the column 'value' twice"),
    "a truth as a value": ("variant,value\na,True\n", "'value' must be of type float"),
    "digits with underscores": ("variant,value\na,1_000\n", "'value' must be of type float"),
    "a block with underscores": ("variant,block,value\na,1_0,5\n", "'block' must be of type int"),
    "a reason of what ran well": ("variant,reason,value\na,exit,1\n", "trial.reason"),
    "a header that is cut off": ('variant,value,"note\na,1,2\n', "is not CSV"),
}


def imported(path, tmp_path):
    with open_library(str(tmp_path / "s.sqlite")) as library:
        try:
            return library.import_file(str(path)).experiment
        finally:
            assert library.listing() == ()


@pytest.mark.parametrize("name", WRONG)
def test_what_no_measurement_is_is_refused_and_named(name, tmp_path):
    text, said = WRONG[name]
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError) as told:
        imported(path, tmp_path)
    assert said in told.value.message
    assert str(path) in told.value.message


def test_iterations_stand_in_the_order_of_their_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("variant,execution,iteration,value\na,0,10,3\na,0,2,2\na,0,1,1\n")
    with open_library(str(tmp_path / "s.sqlite")) as library:
        (trial,) = library.import_file(str(path)).experiment.trials
    assert trial.measurements["wall_time"] == (1.0, 2.0, 3.0)


def parquet(tmp_path, **columns):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table(columns), str(path))
    return path


BOMBS = {
    "a hundred million rows": lambda: {
        "variant": pa.DictionaryArray.from_arrays(pa.array([0] * 10**7, pa.int8()), ["a"]),
        "value": pa.array([1.0] * 10**7),
    },
    "a long text in each row": lambda: {
        "variant": pa.DictionaryArray.from_arrays(pa.array([0] * 9000, pa.int32()), ["a" * 10**6]),
        "value": pa.array([1.0] * 9000),
    },
    "a truth in each row": lambda: {"variant": ["a"], "value": [True]},
    "a list in each row": lambda: {"variant": ["a"], "value": [[1.0]]},
    "a text in each row": lambda: {"variant": ["a"], "value": ["1"]},
    "texts that are numbers": lambda: {"variant": [1], "value": [1.0]},
    "a time below 0": lambda: {"variant": ["a"], "value": [-1.0]},
    "no number": lambda: {"variant": ["a"], "value": [float("nan")]},
    "no value column": lambda: {"variant": ["a"], "values": [1.0]},
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_parquet_file_is_one_clear_error(name, tmp_path):
    path = parquet(tmp_path, **BOMBS[name]())
    assert os.path.getsize(path) < 1_100_000
    with pytest.raises(DataError) as told:
        imported(path, tmp_path)
    assert str(path) in told.value.message
    assert "\n" not in told.value.message


# A child's largest memory counts that of the process it was forked from: a small one tells.
MEMORY_OF_READER = """
import resource, subprocess, sys
program = "from steelyard.store.parquet_rows import main; raise SystemExit(main())"
subprocess.run([sys.executable, "-c", program, sys.argv[1]], capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.parametrize("name", ["a hundred million rows", "a long text in each row"])
def test_a_parquet_file_that_would_fill_the_memory_is_read_in_less_than_500_mb(name, tmp_path):
    path = parquet(tmp_path, **BOMBS[name]())
    command = [sys.executable, "-c", MEMORY_OF_READER, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500_000


def test_a_parquet_file_with_a_column_twice_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table([["a"], [1.0], [2.0]], names=["variant", "value", "value"])
    pyarrow.parquet.write_table(table, str(path))
    with pytest.raises(DataError, match="has the column 'value' twice"):
        imported(path, tmp_path)


@pytest.mark.parametrize("at", [4, 20, 60, -9, -40])
def test_a_damaged_parquet_file_is_one_clear_error_or_an_experiment(at, tmp_path):
    path = parquet(tmp_path, variant=["a"] * 100, value=[1.0] * 100)
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
    with open_library(str(tmp_path / "s.sqlite")) as library, suppress(DataError):
        library.import_file(str(path), "parquet")


def test_a_pipe_is_no_parquet_file_and_nobody_waits_for_it(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    run = subprocess.run(
        [sys.executable, "-m", "steelyard.cli.main", "import", "--format", "parquet", str(path)],
        env={**os.environ, "STEELYARD_STORE": str(tmp_path / "s.sqlite")},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 2
    assert b"not a regular file" in run.stderr
