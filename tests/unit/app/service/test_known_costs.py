"""What an experiment costs is known from trials of the same benchmarks that one may see."""

from __future__ import annotations

import pytest

from steelyard.service.accounts import ROLES
from tests.unit.web.service.conftest import FILE, empty, shared  # noqa: F401 - fixtures


@pytest.fixture
def ran(shared):  # noqa: F811
    """A service where the experiment of one member has run: its trials took 0.5 s each."""
    author = shared.account("ada")
    shared.sent(author)
    return shared


def planned(ran, account, text):
    who = ran.service.access.identity(ran.token(account, *ROLES["administrator"]), "submit")
    return ran.service.plan(text, "f", None, who).summary


def test_the_same_benchmark_in_another_design_takes_as_long_a_trial(ran) -> None:
    text = FILE.replace("[0, 64]", "[0, 64, 128]").replace("runs = 2", "runs = 4")
    told = planned(ran, ran.account("ada"), text)
    assert (told.estimated_s, told.estimated_from) == (12 * 0.5, "earlier trials")


@pytest.mark.parametrize(
    "changed",
    [
        FILE.replace('"true"', '"false"'),
        FILE.replace("[[factor]]", '[[benchmark]]\nname = "c"\ncommand = "other"\n[[factor]]'),
    ],
)
def test_what_never_ran_costs_what_nobody_knows(ran, changed) -> None:
    told = planned(ran, ran.account("ada"), changed)
    assert (told.estimated_s, told.estimated_from) == (None, None)


def test_what_the_file_says_goes_before(ran) -> None:
    text = FILE.replace('command = "true"', 'command = "true"\nexpected_s = 3')
    told = planned(ran, ran.account("ada"), text)
    assert (told.estimated_s, told.estimated_from) == (4 * 3.0, "the file")


def test_what_someone_may_not_see_tells_them_nothing(ran) -> None:
    told = planned(ran, ran.account("bob"), FILE)
    assert told.estimated_s is None
