"""The manual pages: what they hold is what the commands say of themselves."""

from __future__ import annotations

import pytest

from steelyard.cli.main import COMMANDS, program
from tools.manual_pages import escaped, pages

PAGES = dict(pages(program, ["steelyard"]))


def test_every_command_has_a_page_with_its_options():
    assert {f"steelyard-{name}" for name in COMMANDS} < PAGES.keys()
    assert "steelyard-history-check" in PAGES
    assert r".B \-\-bench NAME" in PAGES["steelyard-compare"]
    assert ".SH EXIT STATUS" in PAGES["steelyard"]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_no_text_of_a_page_is_taken_for_a_request(name):
    requests = {".TH", ".SH", ".PP", ".TP", ".B", ".BR", ".nf", ".fi"}
    for line in PAGES[name].splitlines():
        assert not line.startswith("'")
        assert not line.startswith(".") or line.split()[0] in requests


def test_dashes_backslashes_and_dots_are_printed_as_they_are():
    assert escaped("--x a\\n\n.so /etc/passwd") == "\\-\\-x a\\en\n\\&.so /etc/passwd"
