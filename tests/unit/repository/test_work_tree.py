from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.core.errors import DataError, UsageError
from steelyard.repository.revisions import find_repository
from steelyard.repository.work_tree import work_tree
from tests.patience import awaited
from tests.repositories import line_of, make_repository


@pytest.fixture
def made(tmp_path):
    names = make_repository(tmp_path / "r", line_of(3))
    return find_repository(str(tmp_path / "r")), names


def _trees(repository):
    told = subprocess.run(
        ["git", "-C", repository.path, "worktree", "list"],
        check=True,
        capture_output=True,
        text=True,
    )
    return told.stdout.splitlines()


def test_a_work_tree_has_the_files_of_its_revision_and_goes_away(made, tmp_path):
    repository, names = made
    with work_tree(repository, names["c1"], str(tmp_path / "w" / "tree")) as directory:
        assert sorted(name for name in os.listdir(directory) if name != ".git") == [
            "c0.txt",
            "c1.txt",
        ]
        Path(directory, "made").write_text("by a build")
        assert len(_trees(repository)) == 2
    assert not os.path.exists(directory)
    assert len(_trees(repository)) == 1


def test_what_was_left_there_before_is_replaced(made, tmp_path):
    repository, names = made
    directory = tmp_path / "tree"
    directory.mkdir()
    (directory / "old").write_text("from a run that the machine's end cut off")
    with work_tree(repository, names["c2"], str(directory)):
        assert not (directory / "old").exists()
        assert (directory / "c2.txt").exists()


def test_a_revision_that_git_does_not_know_is_one_error_and_leaves_nothing(made, tmp_path):
    repository, _ = made
    unknown = work_tree(repository, "f" * 40, str(tmp_path / "tree"))
    with pytest.raises(DataError, match="worktree"), unknown:
        pass
    assert not (tmp_path / "tree").exists()


PROGRAM = """
import sys
from steelyard.repository.revisions import find_repository
from steelyard.repository.work_tree import work_tree
with work_tree(find_repository(sys.argv[1]), sys.argv[2], sys.argv[3]):
    print("made", flush=True)
    sys.stdin.read()
"""


def test_a_work_tree_goes_away_after_a_kill_too(made, tmp_path):
    repository, names = made
    directory = tmp_path / "tree"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, repository.path, names["c0"], str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"made\n"
    assert directory.exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    awaited(lambda: not directory.exists() and len(_trees(repository)) <= 1)
    assert process.stdin is not None
    process.stdin.close()
    process.stdout.close()


def _filtered(repository, program, *more):
    """A repository whose file `c0.txt` has a filter, by settings of its own."""
    Path(repository.path, ".git/info").mkdir(exist_ok=True)
    Path(repository.path, ".git/info/attributes").write_text("c0.txt filter=a=b.c\n")
    for setting in ("smudge", "clean", *more):
        words = ["git", "-C", repository.path, "config", f"filter.a=b.c.{setting}", program]
        subprocess.run(words, check=True)


def test_a_filter_that_the_repository_itself_names_is_not_run(made, tmp_path):
    repository, names = made
    _filtered(repository, f"touch {tmp_path}/ran; cat", "process")
    tree = work_tree(repository, names["c1"], str(tmp_path / "tree"))
    with pytest.raises(UsageError, match=r"c0\.txt.*'a=b\.c'.*git config --global"), tree:
        pass
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "tree").exists()


def test_a_filter_of_the_users_own_settings_runs_in_its_place(made, tmp_path, monkeypatch):
    repository, names = made
    _filtered(repository, f"touch {tmp_path}/ran; cat")
    (tmp_path / "settings").write_text('[filter "a=b.c"]\n smudge = sed s/^/mine/\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    with work_tree(repository, names["c1"], str(tmp_path / "tree")) as tree:
        assert Path(tree, "c0.txt").read_text() == "mine0\n"
    assert not (tmp_path / "ran").exists()


def test_a_filter_that_no_file_of_the_revision_has_does_no_harm(made, tmp_path):
    repository, names = made
    _filtered(repository, "cat")
    Path(repository.path, ".git/info/attributes").unlink()
    with work_tree(repository, names["c1"], str(tmp_path / "tree")) as tree:
        assert Path(tree, "c0.txt").exists()
