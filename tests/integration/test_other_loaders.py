"""Call paths of programs that the loader of glibc does not load: other C libraries, and none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.test_path_clients import PROGRAM, keys_of, reported
from tests.integration.test_profile_record_paths import built
from tests.needs import needs_x86_64

pytestmark = needs_x86_64
# Notes what it is preloaded with: a program of another C library would fail to load that.
OTHER_LOADER = "#include <stdio.h>\n" + PROGRAM.replace(
    "    return 0;",
    """
    const char* loaded = getenv("LD_PRELOAD");
    if (count > 2) fputs(loaded ? loaded : "nothing", fopen(words[2], "w"));
    return 0;""",
)


@pytest.fixture
def other_loader(tmp_path: Path) -> str:
    """A program whose loader is not called as that of glibc is."""
    loader = tmp_path / "ld-other-x86_64.so.1"
    shutil.copy("/lib64/ld-linux-x86-64.so.2", loader)
    return built(tmp_path, "other", OTHER_LOADER, f"-Wl,--dynamic-linker={loader}", "-O2")


def test_into_a_program_of_another_c_library_nothing_is_loaded(
    user, other_loader, tmp_path, monkeypatch
):
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    preloaded = tmp_path / "preloaded"
    profile = keys_of(user, tmp_path / "profile", other_loader, "1", str(preloaded))
    assert preloaded.read_text() == "nothing"
    compared = user.types("profile", "paths", "compare", profile, profile, "--json", "-")
    assert "leaf" in {one["function"] for one in compared.document()["keys"]}
    auto = str(tmp_path / "auto")
    told = user.types("profile", "record", "--paths", "auto", "-o", auto, "--", other_loader)
    assert told.status == 0, told.err
    assert ["main", "far", "leaf"] in [one["frames"] for one in reported(user, auto)["paths"]]


@pytest.mark.parametrize("what", ["learn", "judge"])
def test_paths_of_a_program_of_another_c_library_are_not_learnt(user, other_loader, tmp_path, what):
    output = ("-o", str(tmp_path / "map")) if what == "learn" else ()
    told = user.types("profile", "paths", what, *output, "--", other_loader)
    assert told.status == 2
    assert "it is loaded by" in told.err
    assert "ld-other-x86_64.so.1" in told.err
    assert not (tmp_path / "map").exists()


def test_the_code_of_a_program_of_another_c_library_says_no_first_height(user, other_loader):
    told = user.types("profile", "paths", "map", "--static", other_loader)
    assert told.status == 2
    assert "--paths auto" in told.err


def test_a_static_program_is_refused_before_it_runs_where_its_stacks_would_be_walked(
    user, tmp_path
):
    static = built(tmp_path, "static", PROGRAM, "-static")
    profile = tmp_path / "profile"
    told = user.types("profile", "record", "--paths", "auto", "-o", str(profile), "--", static)
    assert told.status == 2
    assert "linked statically" in told.err
    assert not profile.exists()
    assert keys_of(user, profile, static)
