"""Exported files in the hands of the programs that they are for: what those say of the known truth.

`make setup-dev` gets the programs (tools/consumers.sh).
"""

from __future__ import annotations

import csv
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import User
from tests.needs import need
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
CONSUMERS = ROOT / "build" / "consumers"
COMPARE = Path("/usr/share/benchmark/compare.py")
RUNS = 10
# head takes twice as long, so that every consumer has to say so.
BASE_S, HEAD_S = 0.010, 0.020


def consumer(path: str, name: str) -> str:
    if not (CONSUMERS / path).exists():
        pytest.skip(f"needs {name}: make setup-dev")
    return str(CONSUMERS / path)


def said(user: User, *words: str, **changes: str) -> str:
    done = subprocess.run(
        words,
        cwd=user.home,
        env={**user.environment, **changes},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def keeps(user: User) -> None:
    """The store gets an experiment: base and head in turn."""
    with open(user.home / "values.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("variant", "block", "value"))
        for block in range(RUNS):
            for name, value_s in (("base", BASE_S), ("head", HEAD_S)):
                rows.writerow((name, block, value_s * (1 + 0.001 * block)))
    told = user.types("import", "values.csv")
    assert told.status == 0, told.err


def exports(user: User, name: str, *options: str) -> str:
    path = str(user.home / name)
    told = user.types("export", "latest", *options, "-o", path)
    assert told.status == 0, told.err
    return path


def both_sides(user: User, suffix: str, *options: str) -> list[str]:
    return [
        exports(user, f"{side}{suffix}", "--variant", side, *options) for side in ("base", "head")
    ]


def test_pyperf_compares_two_exported_files(user: User) -> None:
    python = consumer("python/bin/python", "pyperf")
    keeps(user)
    files = both_sides(user, ".pyperf.json")
    told = said(user, python, "-m", "pyperf", "compare_to", *files)
    assert "2.00x slower" in told
    assert "10.0 ms" in told
    assert "20.1 ms" in told
    assert "Raw value minimum: 10.0 ms" in said(user, python, "-m", "pyperf", "stats", files[0])


def test_compare_py_of_google_benchmark_matches_the_names_of_two_exported_files(
    user: User,
) -> None:
    if not COMPARE.exists():
        pytest.skip("needs compare.py: apt-get install libbenchmark-tools")
    keeps(user)
    files = both_sides(user, ".googlebench.json")
    told = said(
        *(user, sys.executable, str(COMPARE), "--no-color", "-d", "found.json"),
        *("benchmarks", *files),
    )
    assert re.search(r"^OVERALL_GEOMEAN +\+1\.0000 ", told, re.MULTILINE)
    (found, *_) = json.loads((user.home / "found.json").read_text())
    assert found["name"] == "benchmark"
    assert [each["time"] for each in found["measurements"]] == [pytest.approx(1.0)] * RUNS
    assert found["measurements"][0]["real_time"] == pytest.approx(BASE_S * 1e9)
    assert found["utest"]["time_pvalue"] < 0.001


def test_benchstat_takes_the_baseline_for_the_baseline_and_one_unit_a_metric(user: User) -> None:
    benchstat = consumer("bin/benchstat", "benchstat")
    keeps(user)
    path = exports(user, "run.benchfmt")
    told = said(user, benchstat, "-format", "csv", "-col", "/variant", path)
    rows = list(csv.reader(told.splitlines()))
    heads = [row for row in rows if "base" in row]
    assert [row[1:4:2] for row in heads] == [["base", "head"]], "one table, the baseline first"
    (values,) = (row for row in rows if row and row[0] == "Steelyard-1")
    assert float(values[1]) == pytest.approx(BASE_S, rel=0.01)
    assert values[5] == "+100.00%"


def test_asv_compares_exported_results_of_two_commits(user: User) -> None:
    asv = consumer("python/bin/asv", "asv")
    need("git")
    keeps(user)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    said(user, *git, "init", "--quiet", ".")
    for message in ("base", "head"):
        said(user, *git, "commit", "--quiet", "--allow-empty", "--message", message)
    commits = said(user, "git", "rev-list", "--reverse", "HEAD").split()
    (user.home / "asv.conf.json").write_text(
        json.dumps(
            {
                "version": 1,
                "project": "p",
                "repo": ".",
                "branches": ["main"],
                "environment_type": "existing",
                "results_dir": "results",
            }
        )
    )
    machine = socket.gethostname()
    results = user.home / "results" / machine
    results.mkdir(parents=True)
    (user.home / "benchmarks").mkdir()
    (results / "machine.json").write_text(json.dumps({"machine": machine, "version": 1}))
    (user.home / "results" / "benchmarks.json").write_text('{"version": 2}')
    for file, commit in zip(both_sides(user, ".asv.json"), commits, strict=True):
        document = json.loads(Path(file).read_text())
        document["commit_hash"], document["params"]["machine"] = commit, machine
        name = f"{commit[:8]}-{document['env_name']}.json"
        (results / name).write_text(json.dumps(document))
    told = said(
        user, asv, "compare", "--machine", machine, *commits, PATH=f"/usr/bin:{Path(asv).parent}"
    )
    (row,) = (line for line in told.splitlines() if "steelyard.benchmark" in line)
    change, _before, _after, ratio = (part.strip() for part in row.split("|")[1:5])
    assert (change, float(ratio)) == ("+", 2), "the same benchmark, which got slower"


def test_hyperfines_own_files_and_exported_ones_have_the_same_fields(user: User) -> None:
    need("hyperfine")
    said(user, "hyperfine", "--runs", "2", "--export-json", "real.json", "true")
    keeps(user)
    ours = json.loads(Path(exports(user, "ours.json", "--format", "hyperfine")).read_text())
    real = json.loads((user.home / "real.json").read_text())
    for result in ours["results"]:
        assert set(real["results"][0]) - set(result) <= {"memory_usage_byte"}
        for field, value in real["results"][0].items():
            if field not in ("user", "system", "memory_usage_byte"):
                assert type(result[field]) is type(value), field


@pytest.mark.parametrize("suffix", [".pyperf.json", ".googlebench.json"])
def test_one_side_of_several_benchmarks_has_their_names(user: User, suffix: str) -> None:
    for side, factor in (("base", 1), ("head", 2)):
        lines = [
            json.dumps({"benchmark": name, "value": factor * 0.01})
            for name in ("sort", "sum")
            for _ in range(3)
        ]
        (user.home / f"{side}.jsonl").write_text("\n".join(lines))
    told = user.types("import", "--as", "base", "base.jsonl", "--as", "head", "head.jsonl")
    assert told.status == 0, told.err
    for file in both_sides(user, suffix):
        names = re.findall(r'"name": "(\w+)"', Path(file).read_text())
        assert list(dict.fromkeys(names)) == ["sort", "sum"]


def test_a_side_that_there_is_not_is_refused_with_those_that_there_are(user: User) -> None:
    keeps(user)
    told = user.types("export", "latest", "--variant", "haed", "-o", "x.pyperf.json")
    assert told.status == 2
    assert "has no variant 'haed'. It has: 'base', 'head'." in told.err
    assert not (user.home / "x.pyperf.json").exists()
