"""A patch of a repository against its base, through a service."""

from __future__ import annotations

import subprocess

import pytest

from tests.integration.test_service import serving  # noqa: F401 - a fixture
from tests.packages import RESULTS, need_containers, package

FILE = """\
[experiment]
name = "mine"
runs = 2

[[benchmark]]
package = "one"

[[benchmark]]
package = "two"
package_options = {memory = "64MiB"}
"""


@pytest.fixture
def repository(user):
    """A program whose revisions are `base`, `patch` and one that cannot be built, `broken`."""
    path = user.home / "program"
    path.mkdir()
    run_git(path, "init", "--quiet")
    for name, text in (("base", "exit 0"), ("patch", "true; exit 0"), ("broken", "cannot")):
        (path / "main.sh").write_text(f"{text}\n")
        run_git(path, "add", "main.sh")
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        run_git(path, *who, "commit", "--quiet", "-m", name)
        run_git(path, "tag", name)
    return path


def run_git(path, *words):
    subprocess.run(["git", "-C", str(path), *words], check=True)


def packages(user):
    setup = "if grep -q cannot source/main.sh; then exit 9; fi; cp source/main.sh built"
    for name in ("one", "two"):
        package(user.home / name, run=f"{RESULTS}sh ./built", setup_sh=setup)
    (user.home / "e.toml").write_text(FILE)


def submitted(user, patch, *words):
    names = ("--base", "base", "--patch", patch, "--repository", "program")
    told = user.types("submit", "e.toml", *names, *words)
    found = [line.split()[-1] for line in told.out.splitlines() if line.startswith("sent as")]
    return told, found


def test_a_patch_is_compared_with_its_base_by_every_package(user, serving, repository) -> None:  # noqa: F811
    need_containers(user.home)
    packages(user)
    served = serving("--no-worker")
    assert user.types("worker", "--once", "--name", "w").status == 0
    told, found = submitted(user, "patch")
    assert told.status == 0, told.err
    assert user.types("worker", "--once", "--name", "w").status == 0
    assert len(found) == 2
    for identifier, name in zip(found, ("one", "two"), strict=True):
        ended = served.ended(identifier)
        assert (ended["state"], ended["committed"]) == ("done", 4), ended
        trials = served.gets(f"api/experiments/{identifier}/trials")
        variants = [each["name"].split()[0] for each in trials["experiment"]["variants"]]
        assert variants == ["base", "patch"]
        assert {each["status"] for each in trials["trials"]} == {"ok"}
        assert f"mine: {name}, patch" in ended["name"]
    # The repository is as it was.
    worktrees = subprocess.run(
        ["git", "-C", str(repository), "worktree", "list"], capture_output=True, check=True
    )
    assert worktrees.stdout.count(b"\n") == 1


def test_a_patch_that_cannot_be_built_ends_all_that_was_asked_about_it(
    user,
    serving,  # noqa: F811
    repository,
) -> None:
    need_containers(user.home)
    packages(user)
    served = serving("--no-worker")
    assert user.types("worker", "--once", "--name", "w").status == 0
    _, found = submitted(user, "broken")
    _, good = submitted(user, "patch")
    assert user.types("worker", "--once", "--name", "w").status == 0
    told = [served.gets(f"api/experiments/{each}") for each in (*found, *good)]
    assert [each["state"] for each in told] == ["cancelled", "cancelled", "done", "done"]
    assert [each["committed"] for each in told] == [2, 0, 4, 4]
    assert told[1]["stopped"].endswith(f"of {found[0]} could not be built")
    assert "could not be built" in served.asks("GET", f"service/{found[1]}")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--patch", "patch"), "--base and --patch go together"),
        (("--base", "base", "--patch", "base"), "are one commit"),
        (("--base", "base", "--patch", "none"), "Git knows no revision 'none'"),
        (("--base", "base", "--patch", "patch", "--json", "-"), "Leave --json out"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_answer(
    user,
    serving,  # noqa: F811
    repository,
    words,
    said,
) -> None:
    packages(user)
    serving("--no-worker")
    told = user.types("submit", "e.toml", "--repository", str(repository), *words)
    assert told.status == 2
    assert said in told.err
