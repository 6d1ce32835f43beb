"""What is done with keys: paths that are named, found later, or not needed at all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.conftest import User, validate
from tests.integration.test_profile_record_paths import built, recorded
from tests.needs import needs_root, needs_x86_64

pytestmark = needs_x86_64
# `left` and `right` call `leaf` at one height, `far` at another; the first word says how long each.
PROGRAM = r"""
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
FUNCTION void left(long n) { leaf(n); sink += 1; }
FUNCTION void right(long n) { leaf(n); sink += 1; }
FUNCTION void far(long n) { volatile char room[2000]; room[0] = 1; leaf(n); sink += room[0]; }
int main(int count, char** words) {
    long turns = count > 1 ? atol(words[1]) : 1;
    for (int k = 0; k < 60; k++) { left(1000000); right(1000000); right(1000000); }
    for (int k = 0; k < 60 * turns; k++) far(1000000);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> str:
    return built(tmp_path_factory.mktemp("clients"), "program", PROGRAM)


@pytest.fixture
def learnt(user: User, program: str, tmp_path: Path) -> str:
    path_map = str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", program)
    assert told.status == 0, told.err
    return path_map


def keys_of(user: User, profile: Path, *argv: str) -> str:
    told = user.types("profile", "record", "--paths", "keys", "-o", str(profile), "--", *argv)
    assert told.status == 0, told.err
    return str(profile)


def reported(user: User, *words: str):
    document = user.types("profile", "report", *words, "--json", "-").document()
    validate(document)
    return document


def test_all_the_most_frequent_or_none_of_the_candidates_are_named(user, program, learnt):
    profile = recorded(user, learnt, "--", program)
    whole = reported(user, profile)
    for asked, named, ratio in (("all", 2, 0), ("1", 1, 1 / 3), ("none", 0, 1)):
        document = reported(user, profile, "--candidates", asked)
        for name in ("resolved", "ambiguous", "missing", "samples"):
            assert document[name] == whole[name]
        (unsure,) = (one for one in document["paths"] if one["candidate_count"] > 1)
        assert len(unsure["candidates"]) == named
        assert unsure["frames"] == ["leaf"]
        assert unsure["undetermined_ratio"] == pytest.approx(ratio)
        for one in document["paths"]:
            if one["candidate_count"] == 1:
                assert one["candidates"][0]["frames"] == one["frames"]
    told = user.types("profile", "report", profile, "--candidates", "none")
    assert "undetermined: one of 2 that end with leaf" in told.out
    assert "main > left" not in told.out
    assert "main > far > leaf" in told.out


def test_other_viewers_and_the_page_show_what_is_undetermined(user, program, learnt, tmp_path):
    profile = recorded(user, learnt, "--", program)
    folded, page = tmp_path / "folded", tmp_path / "page.html"
    words = ("--candidates", "1", "--format", "folded", "-o", str(folded), "--html", str(page))
    told = user.types("profile", "report", profile, *words)
    assert told.status == 0, told.err
    stacks = dict(line.rsplit(" ", 1) for line in folded.read_text().splitlines())
    assert {"[ambiguous];main;right;leaf", "[ambiguous];[undetermined];leaf"} <= stacks.keys()
    assert "main;far;leaf" in stacks
    assert not any("left" in stack for stack in stacks)
    assert "[undetermined]" in page.read_text()


@pytest.mark.parametrize("asked", ["0", "-1", "some", "", "1.5", "²"])
def test_a_number_of_candidates_that_is_none_is_refused(user, program, learnt, asked):
    profile = recorded(user, learnt, "--duration", "50ms", "--", program)
    told = user.types("profile", "report", profile, f"--candidates={asked}")
    assert told.status == 2
    assert "--candidates" in told.err
    assert "Traceback" not in told.err


def test_keys_that_were_recorded_without_a_map_have_paths_by_one_that_is_learnt_later(
    user, program, tmp_path
):
    profile = keys_of(user, tmp_path / "profile", program)
    told = user.types("profile", "report", profile)
    assert told.status == 2
    assert "was recorded without a map" in told.err
    path_map = str(tmp_path / "map")
    assert user.types("profile", "paths", "learn", "-o", path_map, "--", program).status == 0
    document = reported(user, profile, "--map", path_map)
    assert document["resolved"] > 0.1 * document["samples"]
    assert ["main", "far", "leaf"] in [one["frames"] for one in document["paths"]]


def test_the_code_is_searched_for_keys_that_have_samples_alone(user, program, tmp_path):
    profile = keys_of(user, tmp_path / "profile", program)
    document = reported(user, profile, "--static")
    for name in ("resolved", "ambiguous"):
        assert document[name] == document["by_code"][name] > 0
    assert all(one["by_code"] == one["samples"] for one in document["paths"])
    unsure = next(one for one in document["paths"] if one["candidate_count"] == 2)
    assert [one["ratio"] for one in unsure["candidates"]] == [0.5, 0.5]
    paths = {
        tuple(map(tuple, (path["frames"] for path in one["allowed"]["paths"])))
        for one in document["allowed"]
        if one["function"] == "leaf"
    }
    assert (("main", "far", "leaf"),) in paths
    assert {("main", "left", "leaf"), ("main", "right", "leaf")} in map(set, paths)


@needs_root
def test_a_sample_where_the_program_begins_is_told_above_where_the_stack_does(
    user, program, tmp_path
):
    profile = str(tmp_path / "profile")
    words = ("--paths", "keys", "--at-call", "_start", "-o", profile, "--", program)
    told = user.types("profile", "record", *words)
    assert told.status == 0, told.err
    (one,) = reported(user, profile, "--static")["allowed"]
    assert (one["function"], one["samples"]) == ("_start", 1)
    assert one["height_bytes"] < 0


def test_paths_by_the_code_are_in_all_that_a_report_gives(user, program, tmp_path):
    profile = keys_of(user, tmp_path / "profile", program)
    folded, page = tmp_path / "folded", tmp_path / "page.html"
    words = ("--static", "--format", "folded", "-o", str(folded), "--html", str(page))
    told = user.types("profile", "report", profile, *words)
    assert told.status == 0, told.err
    stacks = dict(line.rsplit(" ", 1) for line in folded.read_text().splitlines())
    assert {"[ambiguous];main;left;leaf", "[ambiguous];main;right;leaf", "main;far;leaf"} <= (
        stacks.keys()
    )
    assert "[missing];leaf" not in stacks
    assert "main > far > leaf  (by the code)" in told.out
    assert "one of 2 that end with leaf  (by the code)" in told.out
    assert "% learnt:" not in told.out
    assert "of these by the code" in told.out
    assert "of these by the code" in page.read_text()


def test_candidates_by_the_code_are_named_as_many_as_are_asked_for(user, program, tmp_path):
    profile = keys_of(user, tmp_path / "profile", program)
    document = reported(user, profile, "--static", "--candidates", "none")
    unsure = next(one for one in document["paths"] if one["candidate_count"] == 2)
    assert (unsure["candidates"], unsure["undetermined_ratio"]) == ([], 1)
    assert unsure["by_code"] == unsure["samples"]


def test_stacks_that_were_walked_judge_paths_by_the_code_too(user, program, tmp_path):
    path_map, profile = str(tmp_path / "map"), str(tmp_path / "profile")
    assert user.types("profile", "paths", "learn", "-o", path_map, "--", program, "0").status == 0
    words = ("--paths", path_map, "--stacks=dwarf", "-o", profile, "--", program, "2")
    told = user.types("profile", "record", *words)
    assert told.status == 0, told.err
    plain, searched = reported(user, profile), reported(user, profile, "--static")
    assert plain["by_code"] is None
    assert searched["by_code"]["resolved"] > 0
    assert searched["missing"] == plain["missing"] - sum(searched["by_code"].values())
    assert searched["checked"]["samples"] > plain["checked"]["samples"]
    assert searched["checked"]["wrong"] == plain["checked"]["wrong"]


def test_a_map_with_call_sites_leaves_what_was_never_learnt_missing(user, program, tmp_path):
    path_map, profile = str(tmp_path / "map"), str(tmp_path / "profile")
    learn = ("profile", "paths", "learn", "--call-sites", "-o", path_map, "--", program, "0")
    assert user.types(*learn).status == 0
    words = ("--paths", path_map, "-o", profile, "--", program, "2")
    assert user.types("profile", "record", *words).status == 0
    document = reported(user, profile, "--static")
    assert document["by_code"] == {"resolved": 0, "ambiguous": 0}
    assert document["missing"] > 0
    assert document["allowed"]


def test_profiles_are_compared_by_their_keys_without_a_map(user, program, tmp_path):
    first = keys_of(user, tmp_path / "first", program)
    second = keys_of(user, tmp_path / "second", program, "4")
    told = user.types("profile", "paths", "compare", first, second, "--json", "-")
    document = told.document()
    validate(document)
    of_leaf = sorted(
        (one for one in document["keys"] if one["function"] == "leaf"),
        key=lambda one: one["height_bytes"],
    )
    verdicts = {one["height_bytes"]: one["verdict"] for one in of_leaf}
    # `far` has 2,000 bytes of its own: its key had a quarter of the time, then more than half.
    assert verdicts[max(verdicts)] == "more"
    assert "less" in verdicts.values()
    text = user.types("profile", "paths", "compare", first, second).out
    assert f"leaf@{max(verdicts)}" in text
    assert "far >" not in text


def test_profiles_of_different_builds_are_not_compared(user, program, tmp_path):
    (tmp_path / "other").mkdir()
    other = built(tmp_path / "other", "program", PROGRAM, "-O1")
    first = keys_of(user, tmp_path / "first", program)
    second = keys_of(user, tmp_path / "second", other)
    told = user.types("profile", "paths", "compare", first, second)
    assert told.status == 2
    assert "compare two recordings of one build" in told.err


def test_profiles_of_different_events_are_not_compared(user, program, tmp_path):
    first = keys_of(user, tmp_path / "first", program)
    second = str(tmp_path / "second")
    words = ("--paths", "keys", "--event", "page-faults", "-o", second, "--", program)
    assert user.types("profile", "record", *words).status == 0
    told = user.types("profile", "paths", "compare", first, second)
    assert told.status == 2
    assert "page-faults" in told.err


def test_a_profile_without_keys_cannot_be_compared(user, program, tmp_path):
    plain = str(tmp_path / "plain")
    assert user.types("profile", "record", "-o", plain, "--", program).status == 0
    told = user.types("profile", "paths", "compare", plain, plain)
    assert told.status == 2
    assert "without --paths" in told.err


@pytest.mark.parametrize("option", ["--watch", "--walk-ambiguous"])
def test_what_needs_a_map_is_refused_with_keys_alone(user, program, tmp_path, option):
    profile = tmp_path / "profile"
    told = user.types(
        "profile", "record", "--paths", "keys", option, "-o", str(profile), "--", program
    )
    assert told.status == 2
    assert option in told.err
    assert not profile.exists()


@pytest.mark.parametrize("idle", [["--static"], ["--candidates", "none"]])
def test_options_of_paths_are_refused_where_a_profile_has_none(user, program, tmp_path, idle):
    plain = str(tmp_path / "plain")
    words = ("--duration", "50ms", "-o", plain, "--", program)
    assert user.types("profile", "record", *words).status == 0
    told = user.types("profile", "report", plain, *idle)
    assert told.status == 2
    assert f"{idle[0]} does not belong to a profile without --paths" in told.err


def test_a_moved_program_is_named_where_its_tables_are_gone(user, program, tmp_path):
    copied = shutil.copy(program, tmp_path / "copied")
    first = keys_of(user, tmp_path / "first", str(copied))
    (tmp_path / "copied").unlink()
    told = user.types("profile", "paths", "compare", first, first)
    assert told.status == 2
    assert "is not there any more" in told.err
