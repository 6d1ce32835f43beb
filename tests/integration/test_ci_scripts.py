"""What servers of continuous integration run: the script, and the files that call it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "integrations" / "weigh_and_gate.sh"
ACTION = ROOT / "integrations" / "github" / "action.yml"
TEMPLATE = ROOT / "integrations" / "gitlab" / "steelyard.yml"
# What a program prints decides alike on a busy machine.
OPTIONS = r"--runs 6 --metric cost=regex:cost.(\d+):count"
FILES = ("answer.json", "answer.md", "junit.xml", "report.html")


def gated(user, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join((str(ROOT / ".venv" / "bin"), os.environ["PATH"]))
    environment = {**os.environ, **user.environment, "PATH": paths, **settings}
    return subprocess.run(
        [str(SCRIPT)],
        cwd=folder,
        env={"RESULTS": str(folder / "results"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_slower_head_ends_with_status_1_and_leaves_everything_to_show(user, tmp_path):
    summary = tmp_path / "summary.md"
    told = gated(
        user,
        tmp_path,
        BASE="echo cost 10",
        HEAD="echo cost 20",
        OPTIONS=OPTIONS,
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert told.returncode == 1, told.stderr
    results = tmp_path / "results"
    assert all((results / name).stat().st_size for name in FILES)
    assert summary.read_text().startswith(
        "- **gate failed: head needs 100.000 % ± 0.000 % more cost than base"
    )
    suite = ElementTree.parse(results / "junit.xml").getroot()[0]
    assert suite.get("failures") == "1"


def test_a_head_that_is_no_slower_ends_with_status_0(user, tmp_path):
    told = gated(
        user,
        tmp_path,
        BASE="echo cost 20",
        HEAD="echo cost 10",
        OPTIONS=OPTIONS,
        GATES="--fail-if slower:2%",
    )
    assert told.returncode == 0, told.stderr
    assert "gate passed" in told.stdout


@pytest.mark.parametrize(
    "settings", [{"HEAD": "true"}, {"BASE": "true", "HEAD": "no-such-program"}]
)
def test_a_wrong_call_ends_with_another_status(user, tmp_path, settings):
    told = gated(user, tmp_path, **settings)
    assert told.returncode not in (0, 1, 3) or "the command of the version" in told.stderr


@pytest.mark.parametrize("path", [ACTION, TEMPLATE], ids=["github", "gitlab"])
def test_every_setting_that_is_handed_over_is_one_of_the_script(path):
    known = set(re.findall(r"^#   ([A-Z, ]+?)  ", SCRIPT.read_text(), re.MULTILINE))
    named = {name for text in known for name in text.split(", ")}
    assert named == {"BASE", "HEAD", "GATES", "OPTIONS", "RESULTS"}
    text = path.read_text()
    handed = set(re.findall(r"^ +([A-Z]+): ", text, re.MULTILINE)) - {"WHEEL", "PULL"}
    assert handed <= named
    assert SCRIPT.name in text


def test_every_input_of_the_action_is_used_and_documented():
    text, page = ACTION.read_text(), (ROOT / "docs" / "ci.md").read_text()
    inputs = re.findall(r"^  ([a-z]+):$", text.split("outputs:")[0], re.MULTILINE)
    assert inputs == ["base", "head", "wheel", "gates", "options", "comment"]
    for name in inputs:
        assert f"inputs.{name}" in text
        assert f"`{name}`" in page
