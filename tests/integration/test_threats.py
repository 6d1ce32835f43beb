"""What others can do to whoever opens what they made: a test for each line of SECURITY.md that no
other test stands for."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest

from steelyard.design.plan_part import part_document, plan_part
from tests.integration.conftest import User
from tests.plans import PLANS

RECIPE = Path(__file__).parents[2] / "src" / "steelyard" / "suite" / "recipes" / "nbody.toml"


@pytest.fixture
def opened(user: User, script):
    """A user who opens a store that another has made, whose program leaves a mark when it runs."""
    program = script("echo ran >> ran")
    told = user.types("measure", "--runs", "2", "--prepare", f"{program} before", "--", program)
    assert told.status == 0, told.err
    (user.home / "ran").unlink()
    return user


def store_of(user: User) -> Path:
    return user.home / "data" / "steelyard" / "steelyard.sqlite"


def files_of(user: User) -> set[Path]:
    return {path for path in user.home.rglob("*") if "cache" not in path.parts}


@pytest.mark.parametrize(
    "call",
    [
        ("list",),
        ("show", "--trials"),
        ("report", "--format", "text"),
        ("report", "--format", "html", "-o", "-"),
        ("export", "--format", "csv", "-o", "-"),
        ("export", "--format", "steelyard-json", "-o", "-"),
        ("delete", "latest", "--yes"),
    ],
)
def test_reading_a_store_runs_nothing_of_it_and_writes_nothing_beside_it(opened, call):
    before = files_of(opened)
    told = opened.types(*call)
    assert told.status == 0, told.err
    assert not (opened.home / "ran").exists()
    beside = {path for path in files_of(opened) - before if store_of(opened).name not in path.name}
    assert beside == set()


def test_an_identifier_that_is_a_path_removes_nothing(opened):
    victim = opened.home / "data" / "victim.logs"
    victim.mkdir()
    (victim / "kept").touch()
    assert opened.types("list").status == 0  # Which takes the journal into the store.
    with sqlite3.connect(store_of(opened)) as database:
        database.execute("UPDATE experiments SET identifier = '../../victim'")
    database.close()
    told = opened.types("delete", "latest", "--yes")
    assert "Traceback" not in told.err
    assert (victim / "kept").exists()


def test_a_journal_that_names_directories_of_others_removes_nothing(opened):
    kept = opened.home / "kept"
    kept.mkdir()
    (kept / "0.out").write_text("mine\n")
    exported = opened.home / "x.steelyard.json"
    assert opened.types("export", "-o", str(exported)).status == 0
    written = json.loads(exported.read_text())
    spec = {**written["experiment"], "identifier": "0" * 26}
    head = {"journal": 1, "created_unix_s": 0.0, "experiment": spec, "provenance": {}}
    journals = Path(f"{store_of(opened)}.journals")
    line = json.dumps({**head, "files": str(kept)})
    (journals / f"{'0' * 26}.jsonl").write_text(line + "\n")
    told = opened.types("list")
    assert "Traceback" not in told.err
    assert (kept / "0.out").read_text() == "mine\n"
    assert not (opened.home / "ran").exists()


def test_a_recipe_that_is_added_and_shown_runs_nothing(user):
    text = RECIPE.read_text().replace('name = "nbody"', 'name = "prey"')
    marked = text.replace('script = """', f'script = """\ntouch {user.home}/ran')
    assert marked != text
    folder = user.home / "prey"
    folder.mkdir()
    (user.home / "prey.toml").write_text(marked)
    for call in (("suite", "add", "prey.toml"), ("suite", "list"), ("suite", "fetch", "prey")):
        told = user.types(*call)
        assert "Traceback" not in told.err
    assert not (user.home / "ran").exists()


def test_what_a_worker_is_given_can_name_nothing_but_trials_of_a_plan(user):
    part = part_document(plan_part(PLANS["blocks"], [0]))
    reaching = {
        "store": {**part, "store": "/etc"},
        "journal": {**part, "experiment": {**part["experiment"], "journal": "/etc"}},
    }
    for field, given in reaching.items():
        (user.home / "part.json").write_text(json.dumps(given))
        told = user.types("trial", "run", "part.json", "--result", "result.json")
        assert told.status == 2
        assert f"unknown field '{field}'" in told.err
        assert not (user.home / "result.json").exists()
    (user.home / "part.json").write_text(json.dumps(part))
    assert user.types("trial", "run", "part.json", "--result", "result.json").status == 0


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.email=a@example.org", "-c", "user.name=a")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("revision", ["HEAD", "deadbeef" * 5])
def test_a_repository_that_is_read_runs_nothing_and_fetches_nothing(user, script, revision):
    """Its settings name programs: for what it lacks, its signatures, its files, its differences."""
    repository = user.home / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / "file").write_text("1\n")
    git(repository, "add", "file")
    git(repository, "commit", "-qm", "one")
    program = script("echo ran >> ran")
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ssh://example.org/x"),
        ("protocol.ssh.allow", "always"),
        ("protocol.allow", "always"),
        ("core.sshCommand", program),
        ("core.fsmonitor", program),
        ("core.pager", program),
        ("diff.external", program),
        ("gpg.program", program),
        ("log.showSignature", "true"),
    ):
        git(repository, "config", name, value)
    named = git(repository, "rev-parse", "HEAD") if revision == "HEAD" else revision
    (user.home / "values.csv").write_text(f"series,revision,value\np,{named},1\n")
    told = user.types("history", "add", "values.csv", "--repository", "repository")
    assert told.status == (0 if revision == "HEAD" else 2), told.err
    assert not (user.home / "ran").exists()
    assert not (repository / "ran").exists()
