"""The cache of builds: the same build once, another one anew, and nothing half-made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.build import cache_key
from steelyard.build.build_cache import cached_build, entries, prune
from steelyard.build.cache_key import build_key
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError
from tests.patience import PATIENCE_S


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source with a file, a folder, and a link."""
    folder = tmp_path / "source"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/a.c").write_text("one")
    (folder / "link").symlink_to("sub/a.c")
    return folder


def counting(tmp_path: Path, source: Path, then: str = "cp link program") -> BuildSpec:
    """A build that counts how often it is run."""
    return BuildSpec(("/bin/sh", "-c", f"echo x >> {tmp_path}/runs; {then}"), str(source))


def runs(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text().splitlines())


def test_the_same_build_is_built_once(tmp_path: Path, source: Path) -> None:
    cache = str(tmp_path / "cache")
    first = cached_build(counting(tmp_path, source), 1, cache)
    again = cached_build(counting(tmp_path, source), 1, cache)
    assert again == first
    assert runs(tmp_path) == 1
    assert Path(again.directory, "program").read_text() == "one"
    assert Path(again.log).exists()


CHANGES: dict[str, Callable[[BuildSpec, Path], object]] = {
    "command": lambda spec, _: replace(spec, argv=("true",)),
    "environment": lambda spec, _: replace(spec, environment=(("CFLAGS", "-O3"),)),
    "randomisation": lambda spec, _: replace(spec, randomize=("link-order",)),
    "compiler": lambda spec, _: replace(spec, compilers=(("CC", "sh"),)),
    "contents": lambda _, source: (source / "sub/a.c").write_text("two") and None,
    "name": lambda _, source: (source / "sub/a.c").rename(source / "sub/b.c") and None,
    "place": lambda _, source: (source / "sub/a.c").rename(source / "a.c") and None,
    "link": lambda _, source: ((source / "l").symlink_to("sub") or None) and None,
    "mode": lambda _, source: (source / "sub/a.c").chmod(0o755),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_another_build(what: str, source: Path, tmp_path: Path) -> None:
    spec = counting(tmp_path, source)
    before = build_key(spec, 1)
    assert build_key(spec, 1) == before
    assert build_key(CHANGES[what](spec, source) or spec, 1) != before


def test_the_seed_and_the_callers_words_are_part_of_the_key(tmp_path: Path, source: Path) -> None:
    spec = counting(tmp_path, source)
    keys = {build_key(spec, 1), build_key(spec, 2), build_key(spec, 1, ("version 2",))}
    assert len(keys) == 3


def test_the_time_limit_and_the_history_are_not(tmp_path: Path, source: Path) -> None:
    spec = counting(tmp_path, source)
    before = build_key(spec, 1)
    (source / ".git").mkdir()
    assert build_key(replace(spec, timeout_s=3.0), 1) == before


def test_a_flag_in_the_users_environment_is_part_of_the_key(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = build_key(counting(tmp_path, source), 1)
    monkeypatch.setenv("CFLAGS", "-O3 -DSEEN")
    assert build_key(counting(tmp_path, source), 1) != before


def test_a_compiler_that_changes_under_its_name_is_another_build(
    tmp_path: Path, source: Path
) -> None:
    compiler = tmp_path / "mycc"
    keys: set[str] = set()
    for version in ("1", "22"):
        compiler.unlink(missing_ok=True)
        compiler.write_text(f"#!/bin/sh\necho {version}\n")
        compiler.chmod(0o755)
        spec = BuildSpec(("true",), str(source), compilers=(("CC", str(compiler)),))
        keys.add(build_key(spec, 1))
    assert len(keys) == 2


def test_what_steelyard_cc_links_in_is_part_of_the_key_of_its_builds_alone(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_key, "NATIVE", str(tmp_path))
    (tmp_path / "layout").mkdir()
    for name in ("steelyard", "clang"):
        (tmp_path / name).write_text("#!/bin/sh\necho 1\n")
        (tmp_path / name).chmod(0o755)
    compilers = {"steelyard": f"{tmp_path}/steelyard cc", "clang": f"{tmp_path}/clang"}
    keys: dict[str, set[str]] = {name: set() for name in compilers}
    for runtime in ("old", "new"):
        (tmp_path / "layout" / "libsteelyard-heap.so").write_text(runtime)
        for name, command in compilers.items():
            spec = BuildSpec(("true",), str(source), compilers=(("CC", command),))
            keys[name].add(build_key(spec, 1))
    assert {name: len(found) for name, found in keys.items()} == {"steelyard": 2, "clang": 1}


def test_a_failed_build_publishes_nothing_and_keeps_its_log(tmp_path: Path, source: Path) -> None:
    cache = str(tmp_path / "cache")
    spec = counting(tmp_path, source, "echo oh no; test -e ../../mended")
    with pytest.raises(BuildFailedError, match="oh no") as failure:
        cached_build(spec, 1, cache)
    log = next(word for word in failure.value.message.split() if word.endswith("/log:"))
    assert Path(log.rstrip(":")).read_text() == "oh no\n"
    assert entries(cache) == []
    (tmp_path / "mended").touch()
    cached_build(spec, 1, cache)
    assert len(entries(cache)) == 1


def test_a_killed_build_publishes_nothing_and_the_next_one_succeeds(
    tmp_path: Path, source: Path
) -> None:
    waits = f"echo half > program; test -e {tmp_path}/go || (mkfifo {tmp_path}/f; cat {tmp_path}/f)"
    script = (
        f"from steelyard.build.build_cache import cached_build\n"
        "from steelyard.core.build_spec import BuildSpec\n"
        f"cached_build({counting(tmp_path, source, waits)!r}, 1, {str(tmp_path / 'cache')!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    while not (tmp_path / "f").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE_S)
    assert entries(str(tmp_path / "cache")) == []
    (tmp_path / "go").touch()
    made = cached_build(counting(tmp_path, source, waits), 1, str(tmp_path / "cache"))
    assert Path(made.directory, "program").read_text() == "half\n"
    assert runs(tmp_path) == 2
    assert len(entries(str(tmp_path / "cache"))) == 1


def test_two_at_once_build_once(tmp_path: Path, source: Path) -> None:
    spec = counting(tmp_path, source, f"while [ ! -e {tmp_path}/second ]; do :; done")
    script = (
        f"from steelyard.build.build_cache import cached_build\n"
        "from steelyard.core.build_spec import BuildSpec\n"
        "import sys, pathlib\n"
        f"if sys.argv[1] == '2': pathlib.Path({str(tmp_path / 'second')!r}).touch()\n"
        f"cached_build({spec!r}, 1, {str(tmp_path / 'cache')!r})\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", script, number]) for number in "12"]
    assert [process.wait(PATIENCE_S) for process in both] == [0, 0]
    assert runs(tmp_path) == 1


def test_a_marker_that_is_damaged_means_not_published(tmp_path: Path, source: Path) -> None:
    cache = tmp_path / "cache"
    cached_build(counting(tmp_path, source), 1, str(cache))
    next(cache.glob("*.json")).write_text("{")
    cached_build(counting(tmp_path, source), 1, str(cache))
    assert runs(tmp_path) == 2


def test_pruning_removes_the_longest_unused_first(tmp_path: Path, source: Path) -> None:
    cache = str(tmp_path / "cache")
    spec = counting(tmp_path, source, "head -c 100000 /dev/zero > program")
    made = [cached_build(spec, seed, cache) for seed in (1, 2, 3)]
    for age, build in enumerate(made):
        os.utime(build.directory + ".json", (1e9 - age, 1e9 - age))
    cached_build(spec, 3, cache)
    removed = prune(cache, 250_000)
    assert [entry.key for entry in removed] == [os.path.basename(made[1].directory)]
    assert [os.path.isdir(build.directory) for build in made] == [True, False, True]
    assert sum(entry.size_bytes for entry in entries(cache)) <= 250_000


def test_pruning_sweeps_what_failed_builds_left(tmp_path: Path, source: Path) -> None:
    cache = tmp_path / "cache"
    with pytest.raises(BuildFailedError):
        cached_build(counting(tmp_path, source, "false"), 1, str(cache))
    prune(str(cache), 10**9)
    assert {path.suffix for path in cache.iterdir()} == {".lock"}


def test_a_cache_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert entries(str(tmp_path / "none")) == []
    assert prune(str(tmp_path / "none"), 0) == []
    assert not (tmp_path / "none").exists()
