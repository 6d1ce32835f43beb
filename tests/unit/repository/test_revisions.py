from __future__ import annotations

import subprocess

import pytest

from steelyard.core.errors import DataError, UsageError
from steelyard.repository.project_address import project_of
from steelyard.repository.revisions import (
    changed_lines,
    commits_between,
    current_branch,
    find_repository,
    ordered_commits,
    resolve,
    resolved,
)
from tests.repositories import Planned, line_of, make_repository

# Two branches of one root, merged; the clock of the second one is a year behind.
MERGED = [
    Planned("root", files={"a": "1\n"}),
    Planned("left", ("root",), {"a": "2\n"}),
    Planned("right", ("root",), {"b": "1\n2\n"}, time_unix_s=1_500_000_000),
    Planned("merge", ("left", "right"), {"b": "1\n2\n"}),
    Planned("top", ("merge",), {"a": "3\n"}),
]


@pytest.fixture
def merged(tmp_path):
    names = make_repository(tmp_path / "r", MERGED)
    return find_repository(str(tmp_path / "r")), names


def test_commits_come_after_all_of_their_parents_whatever_their_clocks_say(merged):
    repository, names = merged
    commits = ordered_commits(repository, [names["top"]])
    found = [commit.revision for commit in commits]
    assert sorted(found) == sorted(names.values())
    for commit in commits:
        assert all(found.index(p) < found.index(commit.revision) for p in commit.parents)
    assert commits[-1].subject == "top"
    assert commits[-2].parents == (names["left"], names["right"])


def test_what_is_between_two_revisions_has_both_sides_of_a_merge(merged):
    repository, names = merged
    between = commits_between(repository, names["left"], names["top"])
    assert [commit.subject for commit in between] == ["right", "merge", "top"]
    assert between[-1].revision == names["top"]


@pytest.mark.parametrize(("good", "bad"), [("top", "root"), ("left", "right"), ("top", "top")])
def test_a_range_without_a_commit_is_refused(merged, good, bad):
    repository, names = merged
    with pytest.raises(UsageError, match="nothing to search"):
        commits_between(repository, names[good], names[bad])


def test_names_tags_and_beginnings_are_resolved_and_unknown_ones_are_left_out(merged):
    repository, names = merged
    # Whoever runs this may have told git no name.
    named = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    tag = ["git", "-C", repository.path, *named]
    subprocess.run([*tag, "tag", "-am", "x", "v1"], check=True)
    found = resolved(
        repository, ["v1", names["left"][:10], "f" * 40, "--all", "no such", "a\nb", "", "HEAD^2"]
    )
    assert found["v1"] == names["top"]
    assert found[names["left"][:10]] == names["left"]
    assert not set(found) & {"f" * 40, "--all", "no such", "a\nb", ""}
    with pytest.raises(UsageError, match="knows no revision 'gone'"):
        resolve(repository, "gone")


def test_a_repository_is_named_by_its_origin_without_credentials(tmp_path):
    make_repository(tmp_path / "r", line_of(1))
    assert find_repository(str(tmp_path / "r")).name == str(tmp_path / "r")
    subprocess.run(
        [
            *("git", "-C", str(tmp_path / "r"), "remote", "add", "origin"),
            "https://me:hush@example.org/p.git",
        ],
        check=True,
    )
    assert find_repository(str(tmp_path / "r")).name == "https://example.org/p.git"


def test_work_trees_of_one_repository_have_its_name(tmp_path):
    names = make_repository(tmp_path / "r", line_of(2))
    linked = tmp_path / "linked"
    command = ["git", "-C", str(tmp_path / "r"), "worktree", "add", "-q", str(linked), names["c0"]]
    subprocess.run(command, check=True)
    assert find_repository(str(linked)).name == find_repository(str(tmp_path / "r")).name
    assert find_repository(str(linked)).path == str(linked)


def test_a_repository_that_git_does_not_trust_is_named_with_what_mends_it(tmp_path, monkeypatch):
    make_repository(tmp_path / "r", line_of(1))
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UsageError, match=r"another user owns it.*--add safe\.directory"):
        find_repository(str(tmp_path / "r"))


@pytest.mark.parametrize(
    "address",
    [
        *("https://example.org/team/tool", "https://example.org/team/tool.git/"),
        *("git@Example.org:team/tool.git", "ssh://git@example.org:2222/team/tool.git"),
        *("https://me:secret@example.org/team/tool", "example.org:/team/tool"),
    ],
)
def test_addresses_of_one_project_are_told_to_be_of_one(address):
    assert project_of(address) == "example.org/team/tool"


@pytest.mark.parametrize("address", ["/home/me/tool", "/home/me/a:b", "file:///srv/Tool.git", ""])
def test_a_path_is_a_project_of_its_own(address):
    assert project_of(address) == address


def test_a_directory_outside_of_any_repository_is_one_error(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "plain").mkdir()
    for path in (tmp_path / "plain", tmp_path / "absent"):
        with pytest.raises(UsageError) as caught:
            find_repository(str(path))
        assert caught.value.field == "--repository"


def test_a_caller_inside_a_hook_of_another_repository_changes_nothing(merged, monkeypatch):
    repository, names = merged
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    assert resolve(repository, "main") == names["top"]


def test_a_detached_head_is_on_no_branch(merged):
    repository, _ = merged
    assert current_branch(repository) == "main"
    subprocess.run(["git", "-C", repository.path, "checkout", "-q", "--detach"], check=True)
    assert current_branch(repository) == ""


def test_a_merge_has_the_lines_that_it_brings_to_its_first_parent(merged):
    repository, names = merged
    assert changed_lines(repository, names["top"]) == {"a": 2}
    assert changed_lines(repository, names["merge"]) == {"b": 2}
    assert changed_lines(repository, names["root"]) == {"a": 1}


def test_what_git_says_of_a_wrong_revision_is_in_the_error(merged):
    repository, _ = merged
    with pytest.raises(DataError, match=r"`git log` failed"):
        ordered_commits(repository, ["f" * 40])
