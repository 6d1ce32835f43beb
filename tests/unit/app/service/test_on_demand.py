"""A patch whose change the trees that are sent do not hold is not compared."""

from __future__ import annotations

import subprocess

import pytest

from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.service.on_demand import Patch, patch_experiments
from steelyard.core.errors import UsageError
from steelyard.service.service_client import ServiceClient
from tests.repositories import line_of, make_repository

TEXT = '[experiment]\nruns = 2\n[[benchmark]]\npackage = "one"\n'


def git(path, *words):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(path), *who, *words], check=True, capture_output=True)


def compared(path, base, patch, said):
    client = ServiceClient("http://127.0.0.1:1/", "t")
    file = experiment_file_of(TEXT, "e.toml")
    return patch_experiments(client, file, TEXT, Patch(path, base, patch), said.append)


@pytest.fixture
def asked(tmp_path):
    """From `one` to `two` a submodule is another commit, to `three` a file."""
    path = tmp_path / "r"
    names = make_repository(path, line_of(2))
    for tag, commit, file in (("one", "c0", "a"), ("two", "c1", "a"), ("three", "c1", "b")):
        (path / "file").write_text(file)
        git(path, "add", "file")
        git(path, "update-index", "--add", "--cacheinfo", f"160000,{names[commit]},lib")
        git(path, "commit", "-qm", tag)
        git(path, "tag", tag)
    said = []

    def compares(base, patch):
        return compared(str(path), base, patch, said)

    compares.said = said
    return compares


def test_another_commit_of_a_submodule_is_refused(asked) -> None:
    with pytest.raises(UsageError, match=r"The submodule 'lib' is not the same.*not sent"):
        asked("one", "two")


def test_a_submodule_that_both_sides_have_is_said_to_be_empty(asked) -> None:
    with pytest.raises(UsageError, match="'one'"):
        asked("two", "three")
    assert asked.said == ["the submodule 'lib' is not sent: its folder is empty in both trees"]


@pytest.fixture
def stored(tmp_path):
    """What `one` and `two` have alike is kept by Git LFS; so is what `three` has otherwise."""
    path = tmp_path / "r"
    make_repository(path, line_of(1))
    (path / ".gitattributes").write_text("*.bin filter=absent diff=lfs merge=lfs -text\n")
    for tag, data, file in (("one", "1", "a"), ("two", "1", "b"), ("three", "3", "b")):
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{data * 64}\nsize 9\n"
        (path / "data.bin").write_text(pointer)
        (path / "file").write_text(file)
        git(path, "add", ".gitattributes", "data.bin", "file")
        git(path, "commit", "-qm", tag)
        git(path, "tag", tag)
    return str(path)


def test_another_content_that_git_lfs_keeps_and_nobody_fetched_is_refused(stored) -> None:
    with pytest.raises(UsageError, match=r"'data.bin' differs .* pointer of Git LFS .*git-lfs"):
        compared(stored, "one", "three", [])


def test_content_that_git_lfs_keeps_and_both_sides_have_is_said_to_be_missing(stored) -> None:
    said = []
    with pytest.raises(UsageError, match="'one'"):
        compared(stored, "one", "two", said)
    assert [line.partition(":")[0] for line in said] == [
        "1 file is a pointer of Git LFS in both trees, and sent without content, such as 'data.bin'"
    ]
