"""`steelyard suite` as a user types it, with a program of their own and an archive of their own."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.core.install_hint import install_command
from tests.integration.conftest import User
from tests.needs import need
from tests.patience import PATIENCE_S

SOURCE = """#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "r");
    unsigned long sum = 0;
    int c;
    while (file && (c = getc(file)) != EOF)
        sum = sum * 31 + (unsigned long)c;
    printf("%lu\\n", sum);
    return argc < 2 || getenv("FAIL") ? 3 : 0;
}
"""
RECIPE = """
name = "tiny"
title = "Sums bytes"
description = "Sums the bytes of made-up prose."
languages = ["c"]
licence = "MIT"
groups = ["native"]
[source]
kind = "own"
version = "1"
[build]
script = "$CC $CFLAGS own/tiny.c -o tiny"
program = "tiny"
[run]
argv = ["{program}", "{input}/prose"]
inputs = [{ file = "prose", generator = "text", seed = 1, bytes = 1000 }]
check = [{ comparator = "sha256", expected = "@DIGEST@" }]
[sizes.test]
[sizes.train]
[sizes.ref]
"""


@pytest.fixture
def recipe(user: User):
    """Writes the user's recipe, with changes, and gives its path."""
    need("gcc")

    def write(*changes: tuple[str, str], digest: str | None = None, name: str = "tiny") -> str:
        folder = user.home / "mine" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tiny.c").write_text(SOURCE)
        text = RECIPE.replace("@DIGEST@", digest or "0" * 64).replace('"tiny"\n', f'"{name}"\n', 1)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = user.home / "mine" / f"{name}.toml"
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def added(user: User, recipe):
    """The user's program, known and right."""
    user.types("suite", "add", recipe())
    told = user.types("suite", "accept", "tiny", "--size", "test")
    digest = told.out.partition('expected = "')[2][:64]
    assert user.types("suite", "add", "--replace", recipe(digest=digest)).status == 0
    return user


def test_a_program_of_the_users_own_is_listed_built_and_run(added):
    listed = {
        p["name"]: p for p in added.types("suite", "list", "--json", "-").document()["programs"]
    }
    assert listed["tiny"]["language"] == "c"
    assert {"exceptions", "threads", "source", "version", "sizes"} <= listed["tiny"].keys()
    built = added.types(
        "suite", "build", "tiny", "--cc", "gcc", "--flags=-O1", "--flags=-O3", "--json", "-"
    )
    builds = built.document()["builds"]
    assert [build["flags"] for build in builds] == ["-O1", "-O3"]
    assert all(os.path.exists(f"{build['directory']}/tiny") for build in builds)
    run = added.types("suite", "run", "tiny@-O1", "--size", "test", "--runs", "2", "--json", "-")
    (program,) = run.document()["programs"]
    assert (run.status, program["failed"], len(program["wall_time_s"])) == (0, 0, 2)


def test_programs_are_compared_by_name_and_built_as_asked(added):
    names = ("suite:tiny@cc=gcc,-O1", "suite:tiny@cc=gcc,flags=-O3 -fno-inline")
    answer = added.types("compare", "--runs", "3", "--json", "-", *names).document()
    assert [v["name"] for v in answer["variants"]] == ["tiny gcc -O1", "tiny gcc -O3 -fno-inline"]
    assert len(answer["comparisons"]) == 1
    assert answer["geometric_mean"] is None
    weighed = added.types(
        "measure", "--runs", "2", "--json", "-", "suite:tiny@size=test"
    ).document()
    assert weighed["variants"][0]["failed"] == 0


def test_a_group_is_compared_program_by_program(added, recipe):
    added.types("suite", "add", recipe(name="tinier"))
    told = added.types("suite", "accept", "tinier", "--size", "test")
    digest = told.out.partition('expected = "')[2][:64]
    added.types("suite", "add", "--replace", recipe(name="tinier", digest=digest))
    names = ("suite:tiny+tinier@-O1", "suite:tiny+tinier@-O3")
    answer = added.types("compare", "--runs", "3", "--json", "-", *names).document()
    assert len(answer["comparisons"]) == 2
    mean = answer["geometric_mean"]
    assert (mean["groups"], mean["candidates"][0]["candidate"]) == (2, "-O3")
    ratios = [c["ratio"]["estimate"] for c in answer["comparisons"]]
    expected = (ratios[0] * ratios[1]) ** 0.5
    assert mean["candidates"][0]["ratio"]["estimate"] == pytest.approx(expected)


def test_an_output_that_differs_fails_and_says_where(user, recipe):
    user.types("suite", "add", recipe())
    told = user.types("suite", "run", "tiny", "--size", "test")
    assert told.status == 3
    assert "its output has the SHA-256" in told.err
    assert f"not {'0' * 64}" in told.err
    weighed = user.types("measure", "--runs", "3", "suite:tiny@size=test")
    assert weighed.status == 3
    assert "its output is not what it should be" in weighed.err


def test_a_build_that_fails_keeps_and_names_its_log(user, recipe):
    broken = recipe(("$CC $CFLAGS own/tiny.c -o tiny", "echo so far; $CC -c own/none.c"))
    user.types("suite", "add", broken)
    told = user.types("suite", "build", "tiny")
    assert told.status == 3
    assert "own/none.c" in told.err
    log = next(word.rstrip(":") for word in told.err.split() if word.rstrip(":").endswith("/log"))
    assert "so far" in Path(log).read_text()


def test_a_compiler_that_is_missing_is_told_with_its_package(added):
    told = added.types("measure", "suite:tiny@cc=clang-99")
    assert told.status == 4
    assert f"`{install_command('clang-99')}`" in told.err
    doctor = added.types("suite", "doctor", "tiny", "--cc", "clang-99", "--json", "-")
    assert doctor.status == 4
    assert doctor.document()["install"] == install_command("clang-99")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("suite:none", "The suite has no program 'none'"),
        ("suite:tiny@sise=test", "unknown option 'sise=test'"),
        ("suite:tiny@size=huge", "Sizes: test, train, ref"),
        ("suite:tiny@cc=", "cc without a value"),
        ("suite:", "names nothing of the suite"),
    ],
)
def test_a_wrong_name_is_one_clear_error(added, name, said):
    told = added.types("measure", "--runs", "2", name)
    assert told.status == 2
    assert said in told.err
    assert len(told.err.splitlines()) == 1


def test_options_that_the_recipe_says_itself_are_refused(added):
    told = added.types("measure", "--prepare", "true", "suite:tiny")
    assert told.status == 2
    assert "--prepare does not go with programs of the suite" in told.err
    mixed = added.types("compare", "suite:tiny", "true")
    assert mixed.status == 2
    assert "compared with each other, not with 'true'" in mixed.err


def test_a_full_disk_is_one_clear_error_and_the_cache_stays_whole(added):
    path = added.home / "data/steelyard/recipes/tiny.toml"
    path.write_text(path.read_text().replace("bytes = 1000 ", "bytes = 3_000_000 "))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # noqa: E731
    process = added.start("suite", "run", "tiny", "--size", "ref", preexec_fn=limit)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    assert b"The disk has no room for" in err
    left = [str(p) for p in (added.home / "cache").rglob("*.partial")]
    assert left == []
    assert not list((added.home / "cache/steelyard/suite/inputs").glob("tiny-ref-*"))
    path.write_text(path.read_text().replace("bytes = 3_000_000 ", "bytes = 1000 "))
    assert added.types("suite", "run", "tiny", "--size", "ref").status == 0


def test_a_recipe_with_a_mistake_is_refused_and_named(user, recipe):
    told = user.types("suite", "add", recipe(("seed = 1", "sead = 1")))
    assert told.status == 2
    assert "sizes.test.inputs[0]" in told.err
    told = user.types("suite", "add", recipe(("bytes = 1000", "bites = 1000")))
    assert "no parameter 'bites'" in told.err
    assert user.types("suite", "list", "tiny").status == 2


@pytest.fixture
def archive(user: User, recipe):
    """An archive of source packages with one in it, in the user's own configuration of apt."""
    need("dpkg-source", "dpkg-scansources")
    place = user.home / "archive"
    tree = place / "tinysrc-1.0"
    (tree / "debian/source").mkdir(parents=True)
    (tree / "tiny.c").write_text(SOURCE)
    (tree / "debian/source/format").write_text("3.0 (native)\n")
    (tree / "debian/control").write_text(
        "Source: tinysrc\nMaintainer: A <a@b.c>\nStandards-Version: 4.6.2\n\n"
        "Package: tinysrc\nArchitecture: any\nDescription: tiny\n"
    )
    (tree / "debian/changelog").write_text(
        "tinysrc (1.0) unstable; urgency=low\n\n  * First.\n\n"
        " -- A <a@b.c>  Mon, 01 Jan 2024 00:00:00 +0000\n"
    )
    subprocess.run(["dpkg-source", "-b", tree.name], cwd=place, check=True, capture_output=True)
    shutil.rmtree(tree)
    with open(place / "Sources", "wb") as listed:
        subprocess.run(
            ["dpkg-scansources", "."],
            cwd=place,
            check=True,
            stdout=listed,
            stderr=subprocess.DEVNULL,
        )
    etc = user.home / "apt"
    etc.mkdir()
    (etc / "own.list").write_text(f"deb [trusted=yes] file:{place} ./\n")
    (etc / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{etc}/own.list";\nDir::Etc::sourceparts "/dev/null";\n'
    )
    user.environment["APT_CONFIG"] = str(etc / "apt.conf")
    files = [
        f'{{ file = "{path.name}", size = {path.stat().st_size}, '
        f'sha256 = "{hashlib.sha256(path.read_bytes()).hexdigest()}" }}'
        for path in sorted(place.glob("tinysrc_*"))
    ]
    release = (
        f'package = "tinysrc"\n[[source.releases]]\nversion = "1.0"\nfiles = [{", ".join(files)}]\n'
    )
    user.types(
        *("suite", "add"),
        recipe(('kind = "own"\nversion = "1"\n', 'kind = "debian"\n' + release), ("own/", "src/")),
    )
    return place


def cached(user: User) -> list[str]:
    place = user.home / "cache/steelyard/suite/artifacts"
    return sorted(path.name for path in place.rglob("*") if path.is_file())


def test_a_source_package_is_fetched_by_any_user_and_unpacked(user, archive):
    told = user.types("suite", "fetch", "tiny", "--json", "-")
    assert told.document()["programs"][0]["version"] == "1.0"
    assert cached(user) == ["tinysrc_1.0.dsc", "tinysrc_1.0.tar.xz"]
    assert user.types("suite", "build", "tiny").status == 0
    again = user.types("suite", "fetch", "tiny", "--json", "-").document()
    assert again["programs"][0]["fetched_bytes"] == 0


def test_a_digest_that_differs_is_refused_and_nothing_is_kept(user, archive):
    path = user.home / "data/steelyard/recipes/tiny.toml"
    text = path.read_text()
    right = text.partition('sha256 = "')[2][:64]
    path.write_text(text.replace(right, "0" * 64))
    told = user.types("suite", "fetch", "tiny")
    assert told.status == 4
    assert f"should have the SHA-256 {'0' * 64}, but has {right}" in told.err
    assert cached(user) == []
    path.write_text(text)
    assert user.types("suite", "fetch", "tiny").status == 0


def test_a_source_that_is_gone_is_one_clear_error(user, archive):
    (archive / "tinysrc_1.0.tar.xz").unlink()
    told = user.types("suite", "fetch", "tiny")
    assert told.status == 4
    assert "tinysrc_1.0.tar.xz" in told.err
    assert "steelyard suite fetch tiny" in told.err
    assert cached(user) == []


def test_a_version_that_is_no_longer_offered_names_those_that_are_known(user, archive):
    path = user.home / "data/steelyard/recipes/tiny.toml"
    path.write_text(path.read_text().replace('version = "1.0"', 'version = "0.9"'))
    told = user.types("suite", "fetch", "tiny")
    assert told.status == 4
    assert "do not offer the source package tinysrc=0.9" in told.err
    assert "sources.list.d" in told.err


def test_two_fetches_at_once_do_not_disturb_each_other(user, archive):
    both = [user.start("suite", "fetch", "tiny") for _ in range(2)]
    said = [process.communicate(timeout=PATIENCE_S)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert cached(user) == ["tinysrc_1.0.dsc", "tinysrc_1.0.tar.xz"]


def test_a_file_that_is_there_in_part_is_gone_on_with(user, archive):
    part = user.home / "cache/steelyard/suite/partial/tiny-1.0/tinysrc_1.0.tar.xz"
    part.parent.mkdir(parents=True)
    part.write_bytes((archive / "tinysrc_1.0.tar.xz").read_bytes()[:100])
    assert user.types("suite", "fetch", "tiny").status == 0
    assert not part.exists()
