"""Steelyard without its optional packages: it weighs and reports, and says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from steelyard.core.optional_parts import PARTS

WITHOUT = (
    f"import sys; sys.modules.update(dict.fromkeys({tuple(PARTS)!r}));"
    "from steelyard.cli.main import run; sys.exit(run(sys.argv[1:]))"
)


@pytest.fixture
def core(user):
    """A call of the command line where none of the optional packages can be imported."""

    def call(*words):
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", WITHOUT, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=user.home,
            env=user.environment,
        )

    return call


CALLS = [
    ("compare", "--runs", "20", "--method", "bootstrap", "true", "true"),
    ("compare", "--runs", "10", "--parameter", "n=1,2,3", "seq {n}"),
    ("report", "latest", "-o", "report.html"),
    ("report", "latest", "--format", "markdown"),
    ("report", "latest", "--format", "junit"),
    ("resume", "latest", "--runs", "+2"),
    ("dimension", "--", "true"),
    ("list",),
    ("show",),
    ("export", "-o", "all.csv"),
    ("import", "all.csv"),
    ("host", "status"),
    ("suite", "list"),
    ("experiment", "init", "first.toml"),
]


def test_it_weighs_reports_keeps_and_exchanges(core):
    told = core("measure", "--runs", "20", "--", "true")
    assert told.returncode == 0, told.stderr
    for call in CALLS:
        told = core(*call)
        assert told.returncode == 0, (call, told.stderr)


@pytest.mark.parametrize(
    ("call", "package"),
    [
        (("report", "latest", "--plots", "plots"), "matplotlib"),
        (("export", "-o", "all.parquet"), "pyarrow"),
    ],
)
def test_what_takes_a_missing_package_names_it_and_how_to_get_it(core, call, package):
    assert core("measure", "--runs", "2", "--", "true").returncode == 0
    told = core(*call)
    assert told.returncode == 4
    assert f"{package} is not installed" in told.stderr
    assert f"[{PARTS[package][0]}]" in told.stderr
    assert "Traceback" not in told.stderr
