"""Experiments whose factors and nuisances are in how a program is built."""

from __future__ import annotations

import signal

import pytest

from tests.integration.conftest import User
from tests.needs import need


def program_of_two_objects(user: User, first: str = "") -> None:
    """A program in src/, whose build script begins with the line `first`."""
    source = user.home / "src"
    source.mkdir()
    (source / "a.c").write_text("int a(void) { return 1; }\n")
    (source / "m.c").write_text("int a(void);\nint main(void) { return a() - 1; }\n")
    link = "$CC $CFLAGS -c a.c m.c\n$CC $LDFLAGS m.o a.o -o m\n"
    (source / "build.sh").write_text(first + link)


def test_builds_are_a_part_of_the_experiment(user: User) -> None:
    need("gcc")
    source = user.home / "src"
    source.mkdir()
    (source / "a.c").write_text("int a(void) { return 1; }\n")
    (source / "m.c").write_text(
        "#include <stdio.h>\nint a(void);\n"
        'int main(void) { printf("%d\\n", OPTIMISED + a()); return 0; }\n'
    )
    (source / "build.sh").write_text(
        "set -e\n$CC $CFLAGS -c a.c\n$CC $CFLAGS -c m.c\n$CC $LDFLAGS m.o a.o -o m\n"
    )
    (user.home / "e.toml").write_text("""
[experiment]
runs = 2
metrics = ["printed=regex:([0-9]+):units"]
[[benchmark]]
name = "m"
build = "sh build.sh"
source = "src"
command = "{build}/m"
[[factor]]
factor = "flags"
levels = ["-DOPTIMISED=0", "-DOPTIMISED=10", "-broken-flag"]
[[nuisance]]
factor = "link-order"
""")
    told = user.types("experiment", "run", "e.toml", "--json", "-")
    # One level cannot be built: that is data, and the others are measured.
    assert told.status == 3, told.err
    assert told.document()["stopped"] == "runs"
    document = user.types("experiment", "analyze", "--json", "-", "--option", "coding=treatment")
    found = {item["term"]: item["effect"]["estimate"] for item in document.document()["effects"]}
    assert any(value == pytest.approx(10) for value in found.values())
    assert "failed-trials" in [item["code"] for item in document.document()["warnings"]]


def test_builds_whose_layout_is_drawn_again_are_not_made_again(user: User) -> None:
    need("gcc")
    program_of_two_objects(user, f"echo built >> {user.home}/builds\n")
    (user.home / "e.toml").write_text("""
[experiment]
runs = 12
[[benchmark]]
name = "m"
build = "sh -e build.sh"
source = "src"
command = "{build}/m"
[[factor]]
factor = "flags"
levels = ["-O1", "-O2"]
[[nuisance]]
factor = "link-order"
orders = 2
[[nuisance]]
factor = "section-padding"
levels = ["random:5"]
""")
    told = user.types("experiment", "run", "e.toml", "--json", "-")
    assert told.status == 0, told.err
    # Two orders with two flags; and each randomisation has the seed of its own level.
    assert (user.home / "builds").read_text().count("built") == 4
    builds = told.document()["provenance"]["builds"]
    assert {len(build["realised"]["seeds"]) for build in builds} == {2}
    digests = {
        (build["variant"], build["realised"]["seeds"]["link-order"]): build["program"]["sha256"]
        for build in builds
    }
    assert len(digests) == 4
    assert all(build["realised"]["seeds"]["section-padding"] == 5 for build in builds)
    left = [path for path in user.home.rglob("*.work/builds/*") if path.is_dir()]
    assert not left


@pytest.mark.parametrize("drawn", ["", '[[nuisance]]\nfactor = "link-order"\n'])
def test_a_level_that_cannot_be_built_leaves_the_others_all_their_runs(
    user: User, drawn: str
) -> None:
    need("gcc")
    (user.home / "src").mkdir()
    (user.home / "src" / "m.c").write_text("int a(void);\nint main(void) { return a(); }\n")
    (user.home / "src" / "a.c").write_text("int a(void) { return 0; }\n")
    (user.home / "e.toml").write_text(
        """
[experiment]
runs = 5
[[benchmark]]
name = "m"
build = "sh -ec '${CC:-cc} $CFLAGS -c m.c a.c; ${CC:-cc} m.o a.o -o m'"
source = "src"
command = "{build}/m"
[[factor]]
factor = "flags"
levels = ["-O1", "-broken-flag", "-O2"]
"""
        + drawn
    )
    told = user.types("experiment", "run", "e.toml", "--json", "-")
    assert told.status == 3, told.err
    document = told.document()
    assert document["stopped"] == "runs"
    answer = user.types("experiment", "analyze", "--json", "-").document()
    assert answer["count"] == 10
    warned = {item["code"]: item["message"] for item in answer["warnings"]}
    assert warned["failed-trials"] == (
        "5 failed trials left out. Nothing is left of m (flags=-broken-flag): the design lacks it."
    )


@pytest.mark.parametrize("built", [1, 3])
def test_an_experiment_killed_between_drawn_builds_resumes_to_its_end(
    user: User, built: int
) -> None:
    need("gcc")
    program_of_two_objects(user)
    (user.home / "e.toml").write_text("""
[experiment]
seed = 3
runs = 6
[[benchmark]]
name = "m"
build = "sh -e build.sh"
source = "src"
command = "{build}/m"
[[factor]]
factor = "flags"
levels = ["-O1", "-O2"]
[[nuisance]]
factor = "link-order"
orders = 2
""")
    process = user.start("experiment", "run", "e.toml")
    while process.poll() is None:
        found = list((user.home / "data").rglob("*.jsonl"))
        if found and found[0].read_bytes().count(b'"built"') >= built:
            break
    process.send_signal(signal.SIGKILL)
    process.communicate()
    told = user.types("experiment", "resume", "latest", "--json", "-")
    assert told.status == 0, told.err
    assert told.document()["stopped"] == "runs"
    answer = user.types("experiment", "analyze", "--json", "-").document()
    assert answer["count"] == 12
    assert not [path for path in (user.home / "data").rglob("*.work") if any(path.iterdir())]


def test_a_source_is_looked_for_beside_the_file_that_names_it(user):
    folder = user.home / "files"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "program").write_text("#!/bin/sh\ntrue\n")
    (folder / "src" / "program").chmod(0o755)
    (folder / "study.toml").write_text(
        '[experiment]\nruns = 2\n[[benchmark]]\ncommand = "{build}/program"\nbuild = "true"\n'
        'source = "src"\n[[factor]]\nfactor = "environment-size"\nlevels = [16, 32]\n'
    )
    told = user.types("experiment", "run", "files/study.toml")
    assert told.status == 0, told.err
