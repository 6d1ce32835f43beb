"""The header, the module and the class with which programs write their iterations."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.core.errors import DataError
from steelyard.harness.adapter import Series, Source, read_series
from steelyard.harness.adapters import ADAPTERS
from tests.needs import needed
from tests.patience import PATIENCE_S

WRITERS = Path(__file__).parents[2] / "native" / "iterations"
C_PROGRAM = """
#include "steelyard.h"
int main(void) {
    steelyard_warmup(0.5);
    for (int i = 1; i <= steelyard_iteration_count(3); ++i)
        steelyard_iteration(i * 0.125);
    const double start_s = steelyard_now();
    if (start_s <= 0 || steelyard_now() < start_s)
        return 1;
    steelyard_rate("requests", "1/s", 1.0 / 3, 0);
    steelyard_value("latency", "ms", 2, 0);
    return 0;
}
"""
PYTHON_PROGRAM = """
from steelyard_iterations import iteration, iteration_count, write_value
write_value(0.5, warmup=True)
for i in range(1, iteration_count(3) + 1):
    write_value(i * 0.125)
write_value(1 / 3, "requests", "1/s", direction="higher")
write_value(2, "latency", "ms")
with iteration(benchmark="timed"):
    pass
"""
JAVA_PROGRAM = """
public class Program {
    public static void main(String[] arguments) {
        SteelyardIterations.warmup(0.5);
        for (int i = 1; i <= SteelyardIterations.count(3); i++) {
            SteelyardIterations.iteration(i * 0.125);
        }
        SteelyardIterations.rate("requests", "1/s", 1.0 / 3, false);
        SteelyardIterations.value("latency", "ms", 2, false);
    }
}
"""
Prepare = Callable[[Path], list[str]]


def c_program(compiler: str, *flags: str) -> Prepare:
    def prepare(directory: Path) -> list[str]:
        source = directory / ("program.cc" if compiler == "g++" else "program.c")
        source.write_text(C_PROGRAM)
        program = str(directory / "program")
        strict = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", str(WRITERS))
        command = [needed(compiler), *flags, *strict, str(source), "-o", program]
        subprocess.run(command, check=True, timeout=PATIENCE_S)
        return [program]

    return prepare


def python_program(directory: Path) -> list[str]:
    shutil.copy(WRITERS / "steelyard_iterations.py", directory)
    program = directory / "program.py"
    program.write_text(PYTHON_PROGRAM)
    return [sys.executable, "-S", str(program)]


def java_program(directory: Path) -> list[str]:
    java, javac = needed("java"), needed("javac")
    source = directory / "Program.java"
    source.write_text(JAVA_PROGRAM)
    writer = str(WRITERS / "SteelyardIterations.java")
    command = [javac, "-Xlint:all", "-Werror", "-d", str(directory), str(source), writer]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    return [java, "-Xshare:auto", "-cp", str(directory), "Program"]


every_writer = pytest.mark.parametrize(
    "prepare",
    [
        pytest.param(c_program("gcc", "-std=gnu99"), id="C"),
        pytest.param(c_program("gcc", "-std=c99"), id="strict C99"),
        pytest.param(c_program("gcc", "-std=c11", "-O2"), id="strict C11"),
        pytest.param(c_program("clang-19", "-std=c11", "-O2"), id="clang, strict C11"),
        pytest.param(c_program("g++", "-std=c++17"), id="C++"),
        pytest.param(python_program, id="Python"),
        pytest.param(java_program, id="Java"),
    ],
)


def run(argv: list[str], directory: Path, path: Path | None) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "STEELYARD_ITERATIONS"}
    if path is not None:
        environment["STEELYARD_ITERATIONS"] = str(path)
    done = subprocess.run(
        argv, env=environment, cwd=directory, check=True, timeout=PATIENCE_S, capture_output=True
    )
    return done.stdout.decode()


@every_writer
def test_what_it_writes_is_read_by_the_adapter(tmp_path: Path, prepare: Prepare) -> None:
    path = tmp_path / "iterations"
    assert run(prepare(tmp_path), tmp_path, path) == ""
    series = read_series(ADAPTERS.get("json-lines"), Source(path.read_text(), "file"), ADAPTERS)
    times, rates, latencies = series[:3]
    assert times == Series("", "iteration_time", "s", (0.5, 0.125, 0.25, 0.375), warmup_count=1)
    assert rates == Series("", "requests", "1/s", (1 / 3,), direction="higher")
    assert latencies.direction == "lower"


@pytest.mark.parametrize("value", ["NAN", "-NAN", "INFINITY", "-INFINITY"])
def test_what_is_no_number_is_named_and_not_taken_for_broken_json(
    tmp_path: Path, value: str
) -> None:
    program = f"int main(void) {{ steelyard_iteration({value}); return 0; }}"
    source, path = tmp_path / "program.c", tmp_path / "iterations"
    source.write_text(f'#include <math.h>\n#include "steelyard.h"\n{program}\n')
    argv = [str(tmp_path / "program")]
    command = [needed("gcc"), "-I", str(WRITERS), str(source), "-o", *argv]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    run(argv, tmp_path, path)
    with pytest.raises(DataError, match="line 1: value must be a finite number, not "):
        read_series(ADAPTERS.get("json-lines"), Source(path.read_text(), "file"), ADAPTERS)


THREADS = """
#include <pthread.h>
#include "steelyard.h"
static void* run(void* unused) {
    for (int i = 0; i < 2000; ++i)
        steelyard_iteration(0.5);
    return unused;
}
int main(void) {
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 8; ++i)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


def test_threads_of_a_program_in_c_write_whole_lines_and_lose_none(tmp_path: Path) -> None:
    source, path = tmp_path / "program.c", tmp_path / "iterations"
    source.write_text(THREADS)
    argv = [str(tmp_path / "program")]
    command = [needed("gcc"), "-pthread", "-I", str(WRITERS), str(source), "-o", *argv]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    run(argv, tmp_path, path)
    (series,) = read_series(ADAPTERS.get("json-lines"), Source(path.read_text(), "file"), ADAPTERS)
    assert series.values == (0.5,) * 16000


@every_writer
def test_what_cannot_be_written_is_told(tmp_path: Path, prepare: Prepare) -> None:
    environment = {**os.environ, "STEELYARD_ITERATIONS": "/dev/full"}
    argv = prepare(tmp_path)
    done = subprocess.run(
        argv, env=environment, cwd=tmp_path, check=False, timeout=PATIENCE_S, capture_output=True
    )
    assert b"No space left on device" in done.stderr


@every_writer
def test_no_field_of_a_line_is_written_twice(tmp_path: Path, prepare: Prepare) -> None:
    path = tmp_path / "iterations"
    run(prepare(tmp_path), tmp_path, path)
    for line in path.read_text().splitlines():
        fields = json.loads(line, object_pairs_hook=lambda pairs: [name for name, _ in pairs])
        assert len(fields) == len(set(fields))


@every_writer
def test_it_makes_as_many_iterations_as_it_is_asked_for(
    tmp_path: Path, prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_ITERATION_COUNT", "5")
    path = tmp_path / "iterations"
    run(prepare(tmp_path), tmp_path, path)
    series = read_series(ADAPTERS.get("json-lines"), Source(path.read_text(), "file"), ADAPTERS)
    assert len(series[0].values) == 1 + 5


@every_writer
def test_it_writes_nothing_where_nobody_asks(tmp_path: Path, prepare: Prepare) -> None:
    argv = prepare(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert run(argv, tmp_path, None) == ""
    assert sorted(p for p in tmp_path.iterdir() if p.name != "__pycache__") == before
