"""Packages of others that register extensions which cannot be used: commands go on without them."""

from __future__ import annotations

import pytest

from tests.integration.conftest import User

GROUPS = ("file_formats", "knobs", "settings", "metrics", "plots", "profilers", "recipes")


@pytest.fixture
def plagued(user: User) -> User:
    """A user who has a package whose every extension fails, each with escapes in its words."""
    site = user.home / "site"
    about = site / "plague-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plague\nVersion: 1\n")
    lines = [f"[steelyard.{group}]\nplague = plague:EXTENSION\n" for group in GROUPS]
    (about / "entry_points.txt").write_text("".join(lines))
    (site / "plague.py").write_text("raise RuntimeError('cursed \\x1b[2J')\n")
    return User(user.home, {**user.environment, "PYTHONPATH": str(site)})


@pytest.mark.parametrize(
    "call",
    [
        ("host", "status"),
        ("export", "--format", "csv", "-o", "-"),
        ("import", "plague"),
        ("suite", "list"),
        ("report", "--plots", "plots"),
        ("measure", "--metric", "no-such", "--", "true"),
    ],
)
def test_a_plugin_that_fails_is_warned_of_and_breaks_no_command(plagued, call):
    (plagued.home / "plague").write_text("no known format\n")
    assert plagued.types("measure", "--runs", "2", "--", "true").status == 0
    told = plagued.types(*call)
    assert "Traceback" not in told.err
    if call[0] != "export":  # One format by its name is found without the others.
        assert "plague:EXTENSION could not be loaded: RuntimeError: cursed" in told.err
    assert "\x1b" not in told.err
    assert told.status in ((2,) if call[0] in ("import", "measure") else (0,))


SAYS_NOTHING = """
class Extension:
    name = {name}
    def __getattr__(self, wanted):
        if wanted[:2] == "__":
            raise AttributeError(wanted)
        {answer}
def raises(*_):
    raise RuntimeError("cursed \\x1b[2J")
EXTENSION = Extension()
"""
BODIES = {
    "a number for a name": SAYS_NOTHING.format(name=7, answer="return None"),
    "a list for a name": SAYS_NOTHING.format(name=[1], answer="return None"),
    "escapes for a name": SAYS_NOTHING.format(name=r"'a\x1b[2J'", answer="return None"),
    "an empty name": SAYS_NOTHING.format(name="''", answer="return None"),
    "nothing but a name": SAYS_NOTHING.format(name="'plague'", answer="return None"),
    "attributes that fail": SAYS_NOTHING.format(name="'plague'", answer="raises()"),
    "calls that fail": SAYS_NOTHING.format(name="'plague'", answer="return raises"),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_extension_that_is_not_what_it_should_be_ends_no_command_in_a_traceback(plagued, body):
    (plagued.home / "site" / "plague.py").write_text(body)
    (plagued.home / "plague").write_text("no known format\n")
    calls = (("host", "status"), ("import", "plague"), ("measure", "--metric", "no", "--", "true"))
    for call in calls:
        told = plagued.types(*call)
        assert "Traceback" not in told.err
        assert "\x1b" not in told.err
        assert "plague:EXTENSION" in told.err
        assert told.status in (0, 2)


def test_a_plugin_that_fails_in_use_is_named_by_the_error(plagued):
    (plagued.home / "site" / "plague.py").write_text(
        "import copy\n"
        "from steelyard.store.formats.csv import EXTENSION as csv\n"
        "from dataclasses import replace\n"
        "def raises(*_):\n    raise OSError('cursed')\n"
        "EXTENSION = replace(csv, name='plague', sniff=raises)\n"
    )
    (plagued.home / "plague").write_text("no known format\n")
    told = plagued.types("import", "plague")
    assert "Traceback" not in told.err
    assert "The plugin plague:EXTENSION failed: OSError: cursed" in told.err
    assert told.status == 2
