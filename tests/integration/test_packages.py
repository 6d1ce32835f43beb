"""Benchmark packages are made, checked and run by typed commands."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.integration.conftest import validate
from tests.integration.test_full_disk import mounted_at
from tests.packages import COLLECT, RESULTS, need_containers, need_trusted, package

RUN = ("package", "run")


@pytest.fixture(autouse=True)
def _own_packages(user):
    user.environment["STEELYARD_PACKAGES"] = str(user.home / "packages")


def trials_of(user) -> list[dict]:
    """The trials of the newest experiment."""
    path = user.home / "exported.json"
    told = user.types("export", "latest", "--format", "steelyard-json", "--output", str(path))
    assert told.status == 0, told.err
    return json.loads(path.read_text())["trials"]


def test_a_new_package_is_taken_by_the_service_and_works_at_once(user):
    need_containers(user.home)
    made = user.types("package", "init", "sort", "--json", "-")
    assert made.document()["package"]["has_setup"]
    checked = user.types("package", "check", "sort", "--execute", "--json", "-")
    assert checked.status == 0
    assert checked.document()["faults"] == []
    told = user.types(*RUN, "sort", "--runs", "3", "--json", "answer.json")
    assert told.status == 0, told.err
    validate(json.loads((user.home / "answer.json").read_text()))
    assert "in the archives of results:" in told.out
    for trial in trials_of(user):
        metrics = trial["details"]["package"]["metrics"]
        assert metrics["sort_s"]["unit"] == "s"
        assert len(metrics["sort_s"]["values"]) == 5
        with tarfile.open(trial["details"]["package"]["kept"]) as kept:
            assert kept.getnames() == ["results.csv"]


def test_a_package_whose_files_lie_on_layers_runs_as_on_one_disk(user):
    need_containers(user.home)
    with mounted_at(user.home / "below") as below, mounted_at(user.home / "above") as above:
        for name in ("upper", "work"):
            (above / name).mkdir()
        place = user.home / "layers"
        place.mkdir()
        layers = f"lowerdir={below},upperdir={above}/upper,workdir={above}/work"
        mount = ["mount", "-t", "overlay", "-o", layers, "overlay", str(place)]
        subprocess.run(mount, check=True, capture_output=True)
        try:
            user.environment["XDG_DATA_HOME"] = str(place / "data")
            assert user.types("package", "init", str(place / "sort")).status == 0
            told = user.types(*RUN, str(place / "sort"), "--runs", "1", "--json", "-")
            assert told.status == 0, told.err
        finally:
            subprocess.run(["umount", str(place)], check=True)


def test_a_package_for_a_command_runs_that_command(user):
    need_containers(user.home)
    assert user.types("package", "init", "p", "--", "echo", "a b", "$HOME").status == 0
    assert user.types(*RUN, "p", "--runs", "1", "--json", "-").status == 0
    kept = trials_of(user)[0]["details"]["package"]["kept"]
    with tarfile.open(kept) as archive:
        assert archive.extractfile("output.txt").read() == b"a b $HOME\n"


def test_a_metric_of_the_results_is_answered_about(user):
    need_containers(user.home)
    rows = "; ".join(f"echo {value} >> results.csv" for value in (3, 4, 5))
    package(user.home / "p", f"echo 'rate (MB/s)' > results.csv; {rows}")
    told = user.types(*RUN, "p", "--runs", "2", "--metric", "rate=iterations:MB/s:higher")
    assert told.status == 0, told.err
    assert told.out.startswith("rate [MB/s]")
    assert trials_of(user)[0]["measurements"]["rate"] == [3.0, 4.0, 5.0]


def test_two_packages_are_compared_and_may_be_archives(user):
    need_containers(user.home)
    package(user.home / "a")
    with tarfile.open(user.home / "b.tar.xz", "w:xz") as archive:
        archive.add(package(user.home / "other", RESULTS + "true\n"), "b")
    told = user.types(*RUN, "a", "b.tar.xz", "--runs", "3", "--json", "-")
    assert told.status == 0, told.err
    document = told.document()
    assert document["kind"] == "comparison"
    assert [variant["name"] for variant in document["variants"]] == ["a", "b"]


def test_setup_is_run_once_and_every_trial_begins_from_what_it_left(user):
    need_containers(user.home)
    package(
        user.home / "p",
        'test "$(cat made)" = "3 4" || exit 9; test ! -e mark || exit 8; touch mark /new\n'
        + RESULTS,
        setup_sh='echo "$GIVEN $OTHER" > made; test ! -e /package/again; touch again\n',
        env="# given\nGIVEN=3\nexport OTHER='4'\n",
    )
    told = user.types(*RUN, "p", "--runs", "3")
    assert told.status == 0, told.err + told.out


@pytest.mark.parametrize(
    ("collect", "said"),
    [
        ("echo ../../etc/shadow", "leads out of the package's folder"),
        ("echo /etc/shadow", "lies outside of the package's folder"),
        ("ln -s /etc/passwd l; echo l", "symbolic link"),
        ("ln -s / d; echo d/etc/passwd", "symbolic link"),
        ("mkfifo p; echo p", "is a FIFO"),
        ("mkdir d; echo d", "is a folder"),
        ("echo /dev/zero", "lies outside"),
        ("truncate -s 10G r; echo r", "has 10737418240 bytes"),
        ("touch r; printf 'r\\nx\\n'", "more than one line"),
        ("true", "printed nothing"),
        ("echo none", "is not there"),
        ("yes r", "wrote more than 65536 bytes"),
        ("exit 3", "failed with exit code 3"),
        ("kill -9 $$", "ended by signal 9"),
        ("echo text > r; echo r", "is refused"),
        ("echo x > r; tar -cf r.tar -P --transform s,r,../r, r; echo r.tar", "leads out"),
    ],
)
def test_results_that_no_collect_script_may_name_are_refused_by_name(user, collect, said):
    need_containers(user.home)
    package(user.home / "p", collect=collect)
    told = user.types(*RUN, "p", "--runs", "1")
    assert told.status == 3
    assert said in told.err
    assert "Traceback" not in told.err
    assert told.err.startswith("steelyard: error: ")


def test_a_set_up_that_fails_is_a_failed_trial_with_its_last_words(user):
    need_containers(user.home)
    package(user.home / "p", setup_sh="echo the compiler is not there >&2; exit 7")
    told = user.types(*RUN, "p", "--runs", "1")
    assert told.status == 3
    assert "'./setup.sh' failed with exit code 7" in trials_of(user)[0]["details"]["stderr_tail"]
    assert "the compiler is not there" in trials_of(user)[0]["details"]["stderr_tail"]


def test_a_rehearsal_shows_what_every_script_prints(user):
    need_containers(user.home)
    package(
        user.home / "p",
        "echo running\n" + RESULTS,
        "echo collecting >&2\n" + COLLECT,
        setup_sh="echo setting up",
    )
    told = user.types(*RUN, "p", "--debug", "--runs", "1")
    assert told.status == 0, told.err
    words = [line.removeprefix("steelyard: ") for line in told.err.splitlines()]
    assert words[:7] == [
        *("rehearsal of p", "== ./setup.sh ==", "setting up", "== ./run.sh ==", "running"),
        *("== ./collect.sh ==", "collecting"),
    ]


def test_all_faults_of_a_package_are_listed_at_once(user):
    folder = package(user.home / "p", "if true\n", env="A B\n", setup_sh="x")
    (folder / "run.sh").chmod(0o644)
    (folder / "setup.sh").write_bytes(b"#!/usr/bin/env none-such\r\nmake\r\n")
    (folder / "collect.sh").write_text("echo r\n")
    told = user.types("package", "check", "p", "--json", "-")
    assert told.status == 2
    codes = {(fault["member"], fault["code"]) for fault in told.document()["faults"]}
    assert codes == {
        ("run.sh", "not-executable"),
        ("run.sh", "syntax"),
        ("setup.sh", "line-ends"),
        ("setup.sh", "interpreter-missing"),
        ("collect.sh", "no-interpreter"),
        ("env", "variables"),
    }
    run = user.types(*RUN, "p")
    assert run.status == 2
    assert "steelyard package check p" in run.err


def test_what_a_script_lacks_is_noted(user):
    package(user.home / "p", "curl -O https://example.org/x\n", setup_sh="cmake . && make")
    told = user.types("package", "check", "p", "--json", "-")
    notes = {(note["member"], note["code"]) for note in told.document()["notes"]}
    assert ("run.sh", "network") in notes
    again = user.types("package", "check", "p", "--network", "--json", "-")
    assert ("run.sh", "network") not in {
        (note["member"], note["code"]) for note in again.document()["notes"]
    }


def test_a_missing_script_is_named_with_where_it_lies(user):
    folder = package(user.home / "p")
    (folder / "inner").mkdir()
    (folder / "run.sh").rename(folder / "inner" / "run.sh")
    told = user.types("package", "check", "p")
    assert told.status == 2
    assert "There is no run.sh at the top of the package. There is 'inner/run.sh'" in told.out


def test_the_folder_of_a_new_package_is_a_new_one(user):
    (user.home / "full").mkdir()
    (user.home / "full" / "x").write_text("x")
    for words, said in (
        (["full"], "is not empty"),
        (["p", "--", "suite:zstd"], "needs no package"),
    ):
        told = user.types("package", "init", *words)
        assert told.status == 2
        assert said in told.err
    assert os.listdir(user.home / "full") == ["x"]
    assert not Path(user.home / "p").exists()


def test_trusted_is_for_root_and_changes_nothing_outside(user):
    need_trusted()
    package(
        user.home / "p",
        "test -e /usr/steelyard-mark || exit 4; id -u > results.csv; echo x > /etc/steelyard-mark\n"
        + RESULTS,
        setup_sh="touch /usr/steelyard-mark",
    )
    told = user.types(*RUN, "p", "--environment", "trusted", "--runs", "2", "--disk", "200M")
    assert told.status == 0, told.err
    assert not os.path.exists("/usr/steelyard-mark")
    assert not os.path.exists("/etc/steelyard-mark")
    assert "steelyard" not in Path("/proc/self/mounts").read_text()
