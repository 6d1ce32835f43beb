"""Values that no database or no JSON can hold are refused where they come in, and stop nobody."""

from __future__ import annotations

import json

import pytest

from steelyard.service.accounts import ROLES
from tests.postgresql import cluster, fresh_database
from tests.unit.web.service.conftest import FILE, service_over

TEXTS = ("\x00", "a\x00b", "\ud800", "x\udfff", "<script>", "\u202e", "x" * 10_000)
VALUES = (*TEXTS, 2**31, 2**63, 2**70, -1, 1e400, -1e400, 1.5, None, True, [], {}, ["\x00"])
OBJECTS = ({"\x00": 1}, {"\ud800": "\ud800"}, {"a": {"b": ["\x00", "\ud800", 1e400]}})
KEY = "a" * 64


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request, tmp_path, monkeypatch):
    if request.param == "sqlite":
        found = service_over(str(tmp_path / "service.sqlite"), tmp_path, monkeypatch)
        yield found
        found.service.database.close()
        return
    with cluster() as directory, fresh_database(directory, "hostile") as address:
        found = service_over(address, tmp_path, monkeypatch)
        yield found
        found.service.database.close()


@pytest.fixture
def operator(shared):
    return shared.token(shared.account("eve", "administrator"), *ROLES["administrator"])


def enrolled(shared, token, name="w", facts=()):
    body = {"name": name, "facts": {"cpus": 1, **dict(facts)}}
    return shared.browser().calls("POST", "/api/workers", token, body)


def refused_or_taken(got):
    """No call ends in an error of the service itself."""
    assert got.status < 500, (got.path, got.text[:300])
    if got.data:
        json.loads(got.data)


PERSONS = {
    "experiments": {"file": FILE, "name": "e", "batch": "", "packages": {}, "visibility": "shared"},
    "tokens": {"name": "t", "scopes": ["read"], "days": 9},
    "workers": {"name": "w9", "facts": {}},
    "rehearsals": {"file": FILE, "name": "e", "packages": {}},
}
PART = {"part": 1, "attempt": 0}
WORKERS = {
    "next": {"booted_for": "", "lost": ""},
    "beat": {"status": "idle"},
    "ran": {**PART, "ran": 1},
    "reading": {"reading": {}},
    "results": {**PART, "experiment": "e", "failure": "", "provenance": {}, "levels": {}},
    "rehearsals": {"rehearsal": 1, "attempt": 0, "problem": "", "output": ""},
    "builds/wanted": {**PART, "key": KEY},
    "builds/unshared": {**PART, "key": KEY, "state": "own", "message": "m"},
    "builds/refused": {**PART, "key": KEY, "sha256": "x"},
}


@pytest.mark.parametrize("path", PERSONS)
def test_a_persons_call_with_any_value_in_any_field_is_answered(shared, operator, path) -> None:
    enrolled(shared, operator)
    for name in PERSONS[path]:
        for value in (*VALUES, *OBJECTS):
            body = {**PERSONS[path], name: value}
            refused_or_taken(shared.browser().calls("POST", f"/api/{path}", operator, body))


@pytest.mark.parametrize("path", WORKERS)
def test_a_workers_call_with_any_value_in_any_field_is_answered(shared, operator, path) -> None:
    for name in WORKERS[path]:
        for value in (*VALUES, *OBJECTS):
            # Some of these count as faults: nobody but a worker out of quarantine is listened to.
            token = enrolled(shared, operator).json()["token"]
            body = {**WORKERS[path], name: value}
            refused_or_taken(shared.browser().calls("POST", f"/api/worker/{path}", token, body))


def test_facts_of_one_worker_keep_nobody_from_the_others(shared, operator) -> None:
    assert enrolled(shared, operator, "good").status == 200
    wide = {"tags": ["x" * 100] * 20_000}
    facts = [{name: value} for name in ("cpus", "tags", "kernel", "images") for value in VALUES]
    for number, told in enumerate((*facts, *OBJECTS, wide)):
        refused_or_taken(enrolled(shared, operator, f"bad-{number}", told))
        got = shared.browser().calls("GET", "/api/workers", operator)
        assert (got.status, "good" in got.text) == (200, True), told
    assert enrolled(shared, operator, "late", {"cpus": 1e400}).status == 422
    assert enrolled(shared, operator, "late", {"kernel": "\ud800"}).status == 422
    assert enrolled(shared, operator, "late", wide).status == 422
    sent = shared.browser().calls("POST", "/api/experiments", operator, {"file": FILE})
    assert sent.status == 200, sent.text


@pytest.mark.parametrize("number", ["2147483648", "9" * 19, "9" * 40, "9" * 5000])
def test_a_number_that_no_row_has_is_not_found(shared, operator, number) -> None:
    browser = shared.browser(shared.account("eve"))
    token = enrolled(shared, operator).json()["token"]
    identifier = "01M85SC0VHQM52GC8EDA4C9YQW"
    answers = [
        browser.calls("POST", f"/api/tokens/{number}/revoke", operator, {}),
        browser.calls("GET", f"/api/experiments/{identifier}/results/{number}", operator),
        browser.calls("POST", f"/api/worker/archives/{number}/0/0", token, b"x"),
        browser.calls("POST", f"/api/worker/builds/1/{number}/{KEY}", token, b"x"),
        browser.post(f"/account/tokens/{number}/revoke"),
        browser.post(f"/people/{number}/role", {"role": "member"}),
        browser.get(f"/service/{identifier}/results/{number}"),
    ]
    assert {got.status for got in answers} <= {404, 405}, [got.status for got in answers]
