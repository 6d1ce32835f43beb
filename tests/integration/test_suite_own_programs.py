"""The programs that the suite brings along itself: what they print, count and refuse."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.needs import needed
from tests.patience import PATIENCE_S

SUITE = Path(__file__).parents[2] / "src" / "steelyard" / "suite"
SOURCES = {
    "hash-join": "hash_join.c",
    "nbody": "nbody.c",
    "file-tree": "file_tree.c",
    "loopback": "loopback.c",
    "wakeup": "wakeup.c",
}
ARGUMENTS = {
    "hash-join": ("4000",),
    "nbody": ("4800", "1"),
    "file-tree": ("40",),
    "loopback": ("60",),
    "wakeup": ("2",),
}
# So much that the arguments above make the programs use all of it.
TEXT = b"".join(b"%d bottles of beer on the wall, take %d down. " % (n, n * n) for n in range(2000))
Build = Callable[[str], Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles a program once and gives its path."""
    directory = tmp_path_factory.mktemp("programs")

    def compiled(name: str) -> Path:
        program = directory / name
        if not program.exists():
            folders = [f"-I{SUITE / 'shared' / folder}" for folder in ("c-program", "iterations")]
            source = str(SUITE / "recipes" / name / SOURCES[name])
            compiler = needed("gcc")
            command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", *folders]
            subprocess.run([*command, source, "-o", str(program), "-lm"], check=True)
        return program

    return compiled


def run(
    place: Path,
    program: Path,
    *arguments: str,
    text: bytes = TEXT,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program in a directory of its own beside its input."""
    (place / "input").write_bytes(text)
    work = place / "work"
    work.mkdir(exist_ok=True)
    return subprocess.run(
        [str(program), "../input", *arguments],
        cwd=work,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize("name", SOURCES)
def test_output_is_the_same_for_any_count_and_the_count_asked_for_is_kept(
    name: str, build: Build, tmp_path: Path
) -> None:
    few = run(tmp_path, build(name), *ARGUMENTS[name], "1")
    iterations = tmp_path / "iterations"
    asked = {"STEELYARD_ITERATION_COUNT": "3", "STEELYARD_ITERATIONS": str(iterations)}
    more = run(tmp_path, build(name), *ARGUMENTS[name], "1", environment=asked)
    assert (few.returncode, more.returncode) == (0, 0), few.stderr + more.stderr
    assert few.stdout == more.stdout
    rows = [json.loads(line) for line in iterations.read_text().splitlines()]
    times = [row["value"] for row in rows if row["metric"] == "iteration_time"]
    assert len(times) == 3
    assert all(0 < time < 60 for time in times)
    assert not any((tmp_path / "work").iterdir())


@pytest.mark.parametrize("name", SOURCES)
def test_a_changed_byte_of_the_input_changes_the_output(
    name: str, build: Build, tmp_path: Path
) -> None:
    whole = run(tmp_path, build(name), *ARGUMENTS[name], "1").stdout
    for place in (0, len(TEXT) // 3, len(TEXT) // 2):
        changed = bytearray(TEXT)
        changed[place] ^= 1
        told = run(tmp_path, build(name), *ARGUMENTS[name], "1", text=bytes(changed))
        assert (told.returncode, told.stdout != whole) == (0, True)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("arguments", [(), ("0", "1"), ("3", "-1"), ("3", "many"), ("3", "1", "x")])
def test_a_wrong_call_ends_with_status_2_and_says_so(
    name: str, arguments: tuple[str, ...], build: Build, tmp_path: Path
) -> None:
    told = run(tmp_path, build(name), *arguments)
    assert told.returncode == 2
    assert "Usage" in told.stderr or "must be a whole number" in told.stderr
    assert told.stdout == ""


@pytest.mark.parametrize("name", SOURCES)
def test_an_empty_input_and_none_are_refused(name: str, build: Build, tmp_path: Path) -> None:
    empty = run(tmp_path, build(name), *ARGUMENTS[name], "1", text=b"")
    assert (empty.returncode, "empty" in empty.stderr) == (2, True)
    (tmp_path / "input").unlink()
    missing = subprocess.run(
        [str(build(name)), str(tmp_path / "none"), *ARGUMENTS[name], "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (missing.returncode, "No such file" in missing.stderr) == (2, True)


def test_the_file_tree_says_what_it_really_wrote_and_synced(build: Build, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    strace = needed("strace")
    inner = str(build("file-tree"))
    (tmp_path / "input").write_bytes(TEXT)
    options = ["-f", "-e", "trace=write,fsync", "-o", str(trace)]
    told = subprocess.run(
        [strace, *options, inner, "input", "50", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in told.stderr:
        pytest.skip("strace may not trace here")
    calls = [line for line in trace.read_text().splitlines() if "write(1," not in line]
    written = sum(int(line.rpartition("= ")[2]) for line in calls if "write(" in line)
    synced = sum("fsync(" in line for line in calls)
    assert f"{written} bytes written" in told.stdout
    assert f"{synced} fsyncs" in told.stdout


def test_wakeups_run_beside_a_background_load_that_must_not_fail(
    build: Build, tmp_path: Path
) -> None:
    alone = run(tmp_path, build("wakeup"), "2", "20")
    loaded = run(tmp_path, build("wakeup"), "2", "20", "--", "sleep", "0.01")
    assert (loaded.returncode, loaded.stdout) == (0, alone.stdout)
    assert loaded.stderr.count("latency") == 20
    named = run(tmp_path, build("wakeup"), "2", "20", environment={"WAKEUP_LOAD": "echo > ran"})
    assert (named.returncode, named.stdout) == (0, alone.stdout)
    assert (tmp_path / "work" / "ran").exists()
    failing = run(tmp_path, build("wakeup"), "2", "20", "--", "false")
    assert (failing.returncode, failing.stdout) == (1, "")
    assert "background load failed" in failing.stderr


CHANGING = """
import java.nio.file.Path;
public final class Changing implements Workload {
    private int calls;
    public void prepare(Path input, int scale) {}
    public void iterate(Checksum checksum) { checksum.add(calls++ < 2 ? 1 : 2); }
}
"""


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Mapping[str, object]]:
    """Runs the harness for the Java virtual machine with a workload whose third result differs."""
    place = tmp_path_factory.mktemp("harness")
    (place / "Changing.java").write_text(CHANGING)
    shared = SUITE / "shared"
    sources = [*(shared / "jvm-harness").glob("*.java"), place / "Changing.java"]
    sources.append(shared / "iterations" / "SteelyardIterations.java")
    compiler = needed("javac")
    subprocess.run([compiler, "-proc:none", "-d", str(place), *map(str, sources)], check=True)

    def runs(*arguments: str, **environment: str) -> Mapping[str, object]:
        told = subprocess.run(
            ["java", "-cp", str(place), "Harness", "Changing", "none", *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return {"status": told.returncode, "out": told.stdout, "err": told.stderr}

    return runs


def test_the_jvm_harness_ends_at_an_iteration_that_differs(
    harness: Callable[..., Mapping[str, object]], tmp_path: Path
) -> None:
    iterations = tmp_path / "iterations"
    whole = harness("1", "9", STEELYARD_ITERATION_COUNT="2", STEELYARD_ITERATIONS=str(iterations))
    assert whole["status"] == 0
    assert str(whole["out"]).startswith("Changing ")
    assert len(iterations.read_text().splitlines()) == 2
    broken = harness("1", "3")
    assert (broken["status"], broken["out"]) == (1, "")
    assert "iteration 2 differs" in str(broken["err"])
    assert harness("1", "none")["status"] == 2
