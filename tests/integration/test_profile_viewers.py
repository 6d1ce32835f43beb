"""Exported profiles, opened by what they are for; `make profile-viewers` fetches it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import User
from tests.integration.profiling import sampled
from tests.needs import need

ROOT = Path(__file__).parents[2]
VIEWERS = ROOT / "build" / "viewers"
SCRIPTS = ROOT / "tests" / "viewers"
# Two threads, the second of which computes as long as the first.
PROGRAM = """
import threading
def work():
    sum(i * i for i in range(1_500_000))
thread = threading.Thread(target=work, name="second")
thread.start()
thread.join()
work()
"""


def viewer(path: str) -> str:
    """A viewer that was fetched; skips where it was not."""
    if not (VIEWERS / path).exists():
        pytest.skip(f"there is no build/viewers/{path}: make profile-viewers")
    return str(VIEWERS / path)


def opened(*words: str) -> str:
    """What a viewer says of a file."""
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr[-2000:]
    return told.stdout


@pytest.fixture
def profile(user: User) -> dict[str, Any]:
    """The document of a profile with call chains in the user's folder."""
    (user.home / "program.py").write_text(PROGRAM)
    sampled(user, "record", "--stacks=dwarf", "--", sys.executable, "program.py")
    return user.types("profile", "report", "--json", "-").document()


def exported(user: User, name: str, suffix: str) -> str:
    """The profile in a format."""
    path = str(user.home / f"profile{suffix}")
    told = user.types("profile", "report", "--format", name, "--output", path)
    assert told.status == 0, told.err
    return path


def hottest(document: dict[str, Any]) -> dict[str, Any]:
    return max(document["functions"], key=lambda item: item["samples"])


def test_pprof_names_the_program_and_its_hottest_function_with_its_share(
    user: User, profile: dict[str, Any]
) -> None:
    program = viewer("bin/pprof")
    path = exported(user, "pprof", ".pb.gz")
    text = opened(program, "-top", "-nodecount=1", path)
    function = hottest(profile)
    assert Path(sys.executable).resolve().name in text.splitlines()[0]
    share = 100 * function["samples"] / profile["samples"]
    # Its columns: time, its part of the whole, their sums, with callees, its part, the name.
    row = text.splitlines()[-1].split(None, 5)
    assert row[5] == function["name"]
    assert float(row[1].rstrip("%")) == pytest.approx(share, abs=0.01)
    raw = opened(program, "-sample_index=samples", "-raw", path)
    assert "samples/count" in raw


def test_speedscope_shows_a_list_of_the_threads_with_their_time(
    user: User, profile: dict[str, Any]
) -> None:
    need("node")
    viewer("node_modules/speedscope")
    path = exported(user, "speedscope", ".speedscope.json")
    told = json.loads(opened("node", str(SCRIPTS / "speedscope.cjs"), str(VIEWERS), path))
    assert "log: Importing as speedscope json file" in told["said"]
    assert told["title"].endswith("speedscope")
    for thread in profile["threads"]:
        if thread["samples"] >= 10:
            assert f"{thread['name']} {thread['thread']}".strip() in told["text"]
    (user.home / "none.json").write_text('{"no": "profile"}')
    refused = opened(
        "node", str(SCRIPTS / "speedscope.cjs"), str(VIEWERS), str(user.home / "none.json")
    )
    assert json.loads(refused)["title"] == ""


def test_the_loader_of_the_firefox_profiler_takes_every_sample_and_function(
    user: User, profile: dict[str, Any]
) -> None:
    need("node")
    bundle = viewer("firefox.cjs")
    path = exported(user, "firefox", ".firefox.json")
    told = json.loads(opened("node", str(SCRIPTS / "firefox.cjs"), bundle, path))
    assert sum(thread["samples"] for thread in told["threads"]) == profile["samples"]
    assert {item["name"] for item in profile["functions"]} <= set(told["functions"])


def test_inferno_draws_a_box_for_the_hottest_function(user: User, profile: dict[str, Any]) -> None:
    program = viewer("bin/inferno-flamegraph")
    picture = opened(program, exported(user, "folded", ".folded"))
    assert picture.lstrip().startswith("<?xml")
    name = hottest(profile)["name"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert name in picture
