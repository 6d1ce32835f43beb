"""The form gives what a file gives, and keeps what was typed where something is wrong."""

from __future__ import annotations

import re
import tarfile
import tomllib
from html import unescape

import pytest

from steelyard.service.accounts import SCOPES
from tests.packages import package

FIELDS = {
    "by": "fields",
    "ask": "plan",
    "command": "true",
    "factor": ["environment-size", "aslr"],
    "factor_levels": ["0, 64", "on, off"],
    "replicates": "2",
}


@pytest.fixture
def form(shared):
    """What the form answers to fields, of a member."""
    ada = shared.account("ada", "member")
    shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
    browser = shared.browser(ada)
    browser.get("/service/new")

    def ask(**fields):
        return browser.post("/service/new", {**FIELDS, **fields})

    ask.browser, ask.shared, ask.account = browser, shared, ada
    return ask


def file_of(text):
    """The file that a page says its fields stand for."""
    return tomllib.loads(unescape(re.search(r'<pre id="file">(.*?)</pre>', text, re.S)[1]))


def section_of(text, legend):
    """The fields below a legend."""
    return re.search(rf"<legend>{legend}</legend>(.*?)</fieldset>", text, re.S)[1]


def test_constraints_leave_combinations_out(form) -> None:
    got = form(when="environment-size=64", constraint="forbid", then="aslr=off")
    assert got.status == 200, got.text
    assert file_of(got.text)["constraint"] == [
        {"when": {"environment-size": "64"}, "forbid": {"aslr": "off"}}
    ]
    assert "6 trials in 2 blocks" in got.text


def test_a_screening_is_followed_by_the_full_design(form) -> None:
    names = ["environment-size", "aslr", "stack-start"]
    fields = {
        "factor": names,
        "factor_levels": ["0, 64", "on, off", "0, 16"],
        "design": "plackett-burman",
        "follow_up": "yes",
    }
    got = form(**fields)
    assert got.status == 200, got.text
    found = file_of(got.text)
    assert found["design"] == {"kind": "plackett-burman"}
    assert found["analysis"] == {"method": "screening"}
    sent = form(**fields, ask="send")
    assert sent.status == 303, sent.text
    page = form.browser.get("/service/" + sent.header("location")).text
    assert "the full design of the factors that it proposes follows" in page


def test_a_package_that_was_sent_is_chosen_with_its_limits(form, tmp_path) -> None:
    assert "Benchmark packages that you have sent" not in form().text
    service = form.shared.service
    who = service.access.identity(form.shared.token(form.account, *SCOPES), "submit")
    upload = service.packages.upload_directory(1000)
    with tarfile.open(f"{upload}/archive", "w") as packed:
        packed.add(package(tmp_path / "sorting"), ".")
    digest = service.packages.receive(who, f"{upload}/archive").package.digest
    page = form.browser.get("/service/new").text
    label = unescape(re.search(rf">({digest[:12]} [^<]*)</option>", page)[1])
    chosen = {"package": label, "package_name": "sorting", "package_memory": "1GiB"}
    got = form(command="", **chosen, ask="send")
    assert got.status == 303, got.text
    identifier = got.header("location")
    with service.database.reading() as connection:
        from steelyard.service.submissions import find_submission
        from steelyard.service.submitted_packages import packages_of

        sent = find_submission(connection, identifier)
        assert packages_of(connection, sent.id) == {label: digest}
    (benchmark,) = tomllib.loads(sent.file)["benchmark"]
    assert benchmark == {
        "name": "sorting",
        "package": label,
        "package_options": {"memory": "1GiB"},
    }


@pytest.mark.parametrize(
    ("fields", "legend", "said"),
    [
        ({"command": ""}, "What to run", "Choose a program of the suite"),
        ({"package": "0" * 12}, "What to run", "names none that was sent"),
        ({"design": "round"}, "What to vary", "not 'round'"),
        ({"design_points": "5"}, "What to vary", "points: this goes with a design"),
        ({"design": "d-optimal", "design_points": "few"}, "What to vary", "whole number"),
        ({"when": "aslr", "then": "x=1"}, "What to vary", "factor=level"),
        ({"when": "aslr=on"}, "What to vary", "levels on both sides"),
        ({"factor": ["", "aslr"]}, "What to vary", "names no factor"),
        ({"require": "memory"}, "On which hosts", "a fact and a value"),
        ({"executions": "many"}, "How often, and how long", "whole number"),
        ({"follow_up": "yes", "ask": "send"}, "What to vary", "only a screening"),
    ],
)
def test_an_error_stands_beside_its_fields_and_nothing_is_lost(form, fields, legend, said) -> None:
    typed = {"name": "k<e>pt", "warmup": "3", "nuisance": "environment-size"}
    got = form(**typed, **fields)
    assert got.status == 422, got.text
    assert said in unescape(section_of(got.text, legend))
    assert got.text.count('role="alert"') == 1
    assert 'value="k&lt;e&gt;pt"' in got.text
    assert 'name="warmup" value="3"' in got.text
