"""A skip that this machine gives no reason for is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import skips

ROOT = Path(__file__).parents[2]
CONFTEST = (
    "from tests.conftest import pytest_sessionfinish, pytest_terminal_summary  # noqa: F401\n"
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """From a reason to the exit status and the words of a run with one test that is skipped."""
    monkeypatch.setattr(skips, "NOT_HAD", tmp_path / "none")

    def ran(reason, setting="refused"):
        (tmp_path / "conftest.py").write_text(CONFTEST)
        (tmp_path / "test_one.py").write_text(
            f"import pytest\ndef test_one():\n    pytest.skip({reason!r})\n"
        )
        told = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
            cwd=tmp_path,
            env={
                "PYTHONPATH": f"{ROOT}:{ROOT}/src",
                "PATH": "/usr/bin:/bin",
                "TMPDIR": str(tmp_path),
                skips.SETTING: setting,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return told.returncode, told.stdout

    return ran


def test_a_run_with_a_needless_skip_fails_and_names_it(run):
    status, words = run("it was too cold")
    assert status == 1
    assert "1 x it was too cold" in words


def test_a_run_with_a_skip_for_what_this_machine_lacks_passes_and_names_the_lack(run):
    status, words = run("this machine gives no samples: no events")
    assert status == 0
    assert "1 x samples or counters of this kernel" in words


def test_skips_are_anybodys_own_where_nobody_refuses_them(run):
    status, words = run("it was too cold", setting="")
    assert status == 0
    assert "refused" not in words


def test_root_is_not_excused_for_not_being_root(monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert skips.excuse("it takes root") is None
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert skips.excuse("it takes root") == "root"


def test_what_set_up_could_not_get_is_excused_by_its_name_and_not_by_a_part_of_it(
    tmp_path, monkeypatch
):
    (tmp_path / "not-had").write_text("clang-19 clang-19 async-profiler\n")
    monkeypatch.setattr(skips, "NOT_HAD", tmp_path / "not-had")
    assert skips.excuse("it takes clang-19: apt-get install clang-19")
    assert skips.excuse("async-profiler is not installed.")
    assert skips.excuse("it takes clang: apt-get install clang") is None


def test_a_program_that_set_up_installs_is_no_excuse(monkeypatch, tmp_path):
    monkeypatch.setattr(skips, "NOT_HAD", tmp_path / "none")
    for reason in (
        "it takes gfortran: apt-get install gfortran",
        "The profiler py-spy is not installed.",
        "there is no build/viewers/node_modules/speedscope: make profile-viewers",
    ):
        assert skips.needless([reason]) == [reason]
