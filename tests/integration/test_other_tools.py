"""Files that other tools write here and now, and what they say of them themselves.

`make setup-dev` gets the tools (tools/consumers.sh, and Debian's packages).
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.integration.conftest import User
from tests.needs import need
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
CONSUMERS = ROOT / "build" / "consumers"
PYTHON = CONSUMERS / "python" / "bin"


def needs_tool(path: Path, name: str) -> None:
    if not path.exists():
        pytest.skip(f"needs {name}: make setup-dev")


def said(user: User, *words: str, **changes: str) -> str:
    # pytest-benchmark measures nothing where a worker of pytest-xdist is told of.
    ours = ("PYTHONWARNINGS", "PYTEST_")
    environment = {k: v for k, v in user.environment.items() if not k.startswith(ours)}
    done = subprocess.run(
        words,
        cwd=user.home,
        env={**environment, **changes},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def imported(user: User, *words: str) -> dict[str, dict[str, Any]]:
    """What `report` says of the primary metric of each variant of an imported file."""
    told = user.types("import", *words)
    assert told.status == 0, told.err
    document = user.types("report", "latest", "--json", "-").document()
    return {
        variant["name"]: variant["metrics"][document["metric"]] for variant in document["variants"]
    }


def mean_of(found: dict[str, Any]) -> float:
    return found["mean"]["estimate"]


def test_the_mean_of_a_file_of_pyperf_is_pyperfs(user: User) -> None:
    needs_tool(PYTHON / "pyperf", "pyperf")
    python = str(PYTHON / "python")
    counts = ("-p", "3", "-n", "2", "-w", "1", "-l", "200")
    said(
        user, python, "-m", "pyperf", "timeit", *counts, "--name", "sum", "-o", "f.json", "sum(())"
    )
    program = "import pyperf; print(pyperf.Benchmark.load('f.json').mean())"
    theirs = float(said(user, python, "-c", program))
    found = imported(user, "f.json")
    assert mean_of(found["sum"]) == pytest.approx(theirs, rel=1e-9)


def test_the_mean_of_a_file_of_pytest_benchmark_is_its_own(user: User) -> None:
    needs_tool(PYTHON / "pytest", "pytest-benchmark")
    (user.home / "test_it.py").write_text(
        "def test_sum(benchmark):\n    benchmark(sum, range(100))\n"
        "def test_rounds(benchmark):\n    benchmark.pedantic(sorted, ((3, 1),), rounds=7)\n"
    )
    options = (
        "--benchmark-json",
        "f.json",
        "--benchmark-max-time",
        "0.02",
        "-p",
        "no:cacheprovider",
    )
    said(user, str(PYTHON / "python"), "-m", "pytest", *options, "test_it.py")
    theirs = json.loads((user.home / "f.json").read_text())["benchmarks"]
    found = imported(user, "f.json")
    assert len(found) == len(theirs) == 2
    for own in theirs:
        (ours,) = (value for name, value in found.items() if name.endswith(own["name"]))
        assert mean_of(ours) == pytest.approx(own["stats"]["mean"], rel=1e-6)


def test_the_mean_of_a_file_of_rebench_is_rebenchs(user: User) -> None:
    needs_tool(PYTHON / "rebench", "rebench")
    harness = user.home / "harness.sh"
    # What ReBench's log reader takes: name, iterations and the mean of them in microseconds.
    harness.write_text(
        '#!/bin/sh\nfor i in 1 2 3; do echo "$1: iterations=1 runtime: $((900 + 10 * i))us"; done\n'
    )
    harness.chmod(0o755)
    (user.home / "rebench.conf").write_text(
        "benchmark_suites:\n  Words:\n    gauge_adapter: RebenchLog\n"
        '    command: "%(benchmark)s"\n    benchmarks: [Sum, Sort]\n'
        "executors:\n  Sh: {path: ., executable: harness.sh}\n"
        "experiments:\n  All: {executions: [{Sh: {suites: [Words]}}]}\n"
        "runs: {invocations: 3}\ndefault_data_file: f.data\ndefault_experiment: All\n"
    )
    told = said(user, str(PYTHON / "rebench"), "-D", "rebench.conf")
    found = imported(user, "f.data")
    assert sorted(found) == ["Sort", "Sum"]
    for name in found:
        (line,) = (line for line in told.splitlines() if re.match(rf" *{name} ", line))
        theirs_ms = float(line.split()[-1])
        assert mean_of(found[name]) == pytest.approx(theirs_ms * 1e-3, abs=0.5e-3)
        assert mean_of(found[name]) == pytest.approx(920e-6)


def test_the_mean_of_a_file_of_hyperfine_is_hyperfines(user: User) -> None:
    need("hyperfine")
    said(user, "hyperfine", "-N", "--runs", "5", "--export-json", "f.json", "true", "sleep 0.01")
    theirs = {
        each["command"]: each["mean"]
        for each in json.loads((user.home / "f.json").read_text())["results"]
    }
    found = imported(user, "f.json")
    assert {name: mean_of(value) for name, value in found.items()} == pytest.approx(theirs)


def test_the_median_of_gos_benchmarks_is_benchstats(user: User) -> None:
    need("go")
    benchstat = CONSUMERS / "bin" / "benchstat"
    needs_tool(benchstat, "benchstat")
    (user.home / "go.mod").write_text("module words\n\ngo 1.19\n")
    (user.home / "words_test.go").write_text(
        'package words\n\nimport "testing"\n\nvar sink int\n\n'
        "func BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n"
        "\t\tfor j := 0; j < 100; j++ {\n\t\t\tsink += j\n\t\t}\n\t}\n}\n"
    )
    options = ("-bench", ".", "-count", "6", "-benchtime", "2ms")
    (user.home / "f.txt").write_text(
        said(user, "go", "test", *options, GOCACHE=str(ROOT / "build" / "go-cache"))
    )
    rows = csv.reader(said(user, str(benchstat), "-format", "csv", "f.txt").splitlines())
    theirs = next(float(row[1]) for row in rows if row and row[0].startswith("Sum"))
    assert len(imported(user, "f.txt")) == 1
    ours = csv.DictReader(
        user.types("export", "latest", "--format", "csv", "-o", "-").out.splitlines()
    )
    assert median(float(row["value"]) for row in ours) == pytest.approx(theirs, rel=1e-3)


def test_the_mean_of_a_file_of_google_benchmark_is_its_own(user: User) -> None:
    need("g++")
    if not Path("/usr/include/benchmark/benchmark.h").exists():
        pytest.skip("needs google-benchmark: apt-get install libbenchmark-dev")
    (user.home / "words.cpp").write_text(
        "#include <benchmark/benchmark.h>\n"
        "static void sum(benchmark::State& state) { long all = 0;\n"
        "for (auto _ : state) benchmark::DoNotOptimize(all += state.iterations()); }\n"
        "BENCHMARK(sum)->Arg(8)->MinTime(0.002);\nBENCHMARK_MAIN();\n"
    )
    said(user, "g++", "-O1", "words.cpp", "-lbenchmark", "-lpthread", "-o", "words")
    said(
        user,
        "./words",
        "--benchmark_repetitions=5",
        "--benchmark_out=f.json",
        "--benchmark_out_format=json",
    )
    rows = json.loads((user.home / "f.json").read_text())["benchmarks"]
    (theirs_ns,) = (row["real_time"] for row in rows if row["name"].endswith("_mean"))
    (found,) = imported(user, "f.json").values()
    assert mean_of(found) == pytest.approx(theirs_ns * 1e-9, rel=1e-9)


def test_the_mean_of_a_file_of_tinybench_is_its_own(user: User) -> None:
    need("node")
    needs_tool(CONSUMERS / "node_modules" / "tinybench", "tinybench")
    (user.home / "words.mjs").write_text(
        f"import {{ Bench }} from '{CONSUMERS}/node_modules/tinybench/dist/index.js';\n"
        "const options = { iterations: 16, time: 2, warmup: false, retainSamples: true };\n"
        "const bench = new Bench(options);\n"
        "bench.add('sum', () => [...Array(100).keys()].reduce((a, b) => a + b));\n"
        "await bench.run();\n"
        "const rows = bench.tasks.map(({ name, result }) => ({ name, result }));\n"
        "console.log(JSON.stringify(rows));\n"
    )
    text = said(user, "node", "words.mjs")
    (user.home / "f.json").write_text(text)
    theirs_ms = json.loads(text)[0]["result"]["latency"]["mean"]
    found = imported(user, "f.json")
    assert mean_of(found["sum"]) == pytest.approx(theirs_ms * 1e-3, rel=1e-6)
