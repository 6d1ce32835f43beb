"""Who may do what: every page and call of the route table, by everyone who may ask.

A route without a row here fails, and so does a row without a route.
"""

from __future__ import annotations

import io
import os
import tarfile
from dataclasses import dataclass

import pytest

from steelyard.app.service.oidc_settings import OidcSettings
from steelyard.service.accounts import SCOPES
from tests.oidc_issuer import CLIENT, ISSUER, TestIssuer
from tests.packages import package
from tests.unit.web.service.conftest import FILE, SharedService, shared_service

# Who asks, in the order of the columns below: nobody, a reader, a member whose the experiment is
# not, the member whose it is, an operator, an administrator, and one who was shut out.
WHO = ("nobody", "reader", "member", "author", "operator", "administrator", "shut-out")
# What comes of it: done (200 or 303), the way to sign in, forbidden, unknown, not found.
LETTERS = {"+": "done", "s": "sign in", "-": "forbidden", "?": "unknown", "0": "not found"}
LETTERS["w"] = "told what is wrong with it"
EVERYONE = "+++++++"
SIGNED_IN = "s+++++s"
SENDS = "s-++++s"
KEEPS = "s----+s"
# Forms of the same, which lead nowhere else.
SIGNED_IN_FORM, SENDS_FORM, KEEPS_FORM = "?+++++?", "?-++++?", "?----+?"
# The experiment is private: it is there for its owner, and for who keeps the service.
ONE = "000+++0"
PAGES = {
    "GET /": EVERYONE,
    "GET /{path:path}": KEEPS,
    "GET /service": EVERYONE,
    "GET /service/workers": SIGNED_IN,
    "GET /service/new": SENDS,
    "POST /service/new": SENDS_FORM,
    "GET /service/{experiment}": ONE,
    "GET /service/{experiment}/answer": ONE,
    "GET /service/{experiment}/download/{format}": ONE,
    "GET /service/{experiment}/reproductions": ONE,
    "GET /service/{experiment}/archive": ONE,
    "GET /service/{experiment}/facets": ONE,
    "GET /service/{experiment}/results": ONE,
    "GET /service/{experiment}/results.json": ONE,
    "GET /service/{experiment}/results.tar": ONE,
    # Its trials left no archives.
    "GET /service/{experiment}/results/{position:number}": "0000000",
    "GET /service/{experiment}/reproduction/{again}": ONE,
    "POST /service/{experiment}/cancel": "?-0+++?",
    "POST /service/{experiment}/visibility": "?-0+++?",
    "GET /account": SIGNED_IN,
    "POST /account/tokens": SIGNED_IN_FORM,
    "POST /account/tokens/{token:number}/revoke": "?00+00?",
    "POST /account/password": SIGNED_IN_FORM,
    "GET /audit": KEEPS,
    "GET /people": KEEPS,
    "POST /people/invite": KEEPS_FORM,
    "POST /people/{account:number}/new-password": KEEPS_FORM,
    "POST /people/{account:number}/role": KEEPS_FORM,
    "POST /people/{account:number}/shut-out": KEEPS_FORM,
    "POST /people/{account:number}/let-in": KEEPS_FORM,
    "GET /sign-in": EVERYONE,
    "POST /sign-in": EVERYONE,
    "POST /sign-in/oidc": EVERYONE,
    # Nobody has begun one.
    "GET /sign-in/oidc/back": "???????",
    "POST /sign-out": SIGNED_IN_FORM,
    "GET /welcome/{secret}": EVERYONE,
    "POST /welcome/{secret}": EVERYONE,
}
CALLS = {
    "GET /api/experiments": "?+++++?",
    "POST /api/experiments": "?-++++?",
    "GET /api/experiments/{experiment}": "?00+++?",
    "GET /api/experiments/{experiment}/trials": "?00+++?",
    "GET /api/experiments/{experiment}/download/{format}": "?00+++?",
    "GET /api/experiments/{experiment}/reproduction/{again}": "?00+++?",
    "GET /api/experiments/{experiment}/archive": "?00+++?",
    "GET /api/experiments/{experiment}/results": "?00+++?",
    "GET /api/experiments/{experiment}/results.tar": "?00+++?",
    "GET /api/experiments/{experiment}/results/{position:number}": "?00000?",
    "POST /api/experiments/{experiment}/cancel": "?-0+++?",
    "POST /api/experiments/{experiment}/visibility": "?-0+++?",
    "GET /api/tokens": "?+++++?",
    "POST /api/tokens": "?+++++?",
    "POST /api/tokens/{token:number}/revoke": "?00+00?",
    "GET /api/workers": "?+++++?",
    "POST /api/workers": "?---++?",
    "POST /api/workers/{worker}/release": "?---++?",
    "GET /api/packages": "?+++++?",
    # What is sent here is no archive and no package; no such rehearsal was asked for.
    "POST /api/packages": "?-wwww?",
    "POST /api/rehearsals": "?-wwww?",
    "GET /api/rehearsals/{batch}": "?-0000?",
    # These take the token of a worker, which no person has.
    "POST /api/worker/next": "???????",
    "POST /api/worker/beat": "???????",
    "POST /api/worker/reading": "???????",
    "POST /api/worker/ran": "???????",
    "POST /api/worker/rehearsals": "???????",
    "GET /api/worker/packages/{digest}": "???????",
    "POST /api/worker/builds/wanted": "???????",
    "POST /api/worker/builds/unshared": "???????",
    "POST /api/worker/builds/refused": "???????",
    "GET /api/worker/builds/{part:number}/{attempt:number}/{key}": "???????",
    "POST /api/worker/builds/{part:number}/{attempt:number}/{key}": "???????",
    "POST /api/worker/archives/{part:number}/{attempt:number}/{position:number}": "???????",
    "POST /api/worker/results": "???????",
}
# What stands in place of the names in a path, and what is sent.
FIELDS = {
    "POST /service/new": {"ask": "send", "file": FILE},
    "POST /service/{experiment}/visibility": {"visibility": "private"},
    "POST /account/tokens": {"name": "x", "scope": "read", "days": "1"},
    "POST /account/password": {"old": "o" * 12, "password": "n" * 12, "again": "n" * 12},
    "POST /people/invite": {"role": "reader"},
    "POST /people/{account:number}/role": {"role": "reader"},
    "POST /sign-in": {"name": "somebody", "password": "o" * 12},
    "POST /welcome/{secret}": {"name": "new", "password": "n" * 12, "again": "n" * 12},
}
BODIES = {
    "POST /api/experiments": {"file": FILE},
    "POST /api/experiments/{experiment}/visibility": {"visibility": "private"},
    "POST /api/tokens": {"name": "x", "scopes": ["tokens"]},
    "POST /api/workers": {"name": "another"},
}
OUTCOMES = {401: "unknown", 403: "forbidden", 404: "not found", 422: LETTERS["w"]}


TEST_ISSUER = TestIssuer()


@pytest.fixture
def shared(tmp_path, monkeypatch, empty):
    """A service with all of its pages."""
    found = shared_service(tmp_path, monkeypatch, empty, oidc=OidcSettings(ISSUER, CLIENT))
    yield found
    found.service.database.close()


def routes(site):
    """Each row of the route table that the service really has."""
    inner = site._app
    return sorted(
        f"{method} {route.path}"
        for route in inner.routes
        for method in route.methods
        if method != "HEAD"
    )


@dataclass
class Cast:
    """An account, a browser and a token for each of `WHO`, and what stands for names in paths."""

    shared: SharedService
    browsers: dict
    tokens: dict
    names: dict

    def path(self, row: str) -> str:
        """The path of a row, as it is asked for."""
        path = row.partition(" ")[2]
        if "{secret}" in path:
            secret = self.shared.people.invite(self.shared.service.access.owner(), "reader")
            path = path.replace("{secret}", secret)
        for name, value in self.names.items():
            path = path.replace(name, value)
        return path

    def page(self, row: str, who: str):
        """What comes of a page."""
        browser = self.browsers[who]
        if row.startswith("GET"):
            return browser.get(self.path(row))
        browser.get("/sign-in")
        fields = dict(FIELDS.get(row, {}))
        if fields.get("name") == "new":
            fields["name"] = f"new-{who}"
        return browser.post(self.path(row), fields)

    def call(self, row: str, who: str):
        """What comes of a call of the API, with a token of all scopes."""
        method = row.partition(" ")[0]
        body = BODIES.get(row)
        if body and body.get("name") == "another":
            body = {"name": f"another of {who}"}
        return self.browsers[who].calls(method, self.path(row), self.tokens.get(who, "x"), body)


@pytest.fixture
def cast(shared, monkeypatch):
    monkeypatch.setattr("steelyard.service.issuer.answer_of", TEST_ISSUER.answer_of)
    monkeypatch.setattr("steelyard.app.service.people.is_password", lambda given, _: "o" in given)
    roles = {"author": "member", "shut-out": "administrator"}
    accounts = {who: shared.account(who, roles.get(who, who)) for who in WHO if who != "nobody"}
    somebody = shared.account("somebody")
    with shared.service.database.writing() as connection:
        connection.exec_driver_sql("UPDATE accounts SET password = 'x'")
    tokens = {who: shared.token(number, *SCOPES) for who, number in accounts.items()}
    author = shared.service.access.identity(tokens["author"], "submit")
    experiment = shared.sent(accounts["author"])
    names = {
        "{experiment}": experiment,
        "{again}": experiment,
        "{format}": "csv",
        "{token:number}": str(shared.people.tokens(author)[0].id),
        "{account:number}": str(somebody),
        "{path:path}": "experiments.json",
        "{batch}": "none",
        "{digest}": "none",
        "{part:number}": "1",
        "{attempt:number}": "0",
        "{position:number}": "0",
    }
    browsers = {who: shared.browser(accounts.get(who)) for who in WHO}
    shared.people.change_account(
        shared.service.access.owner(), accounts["shut-out"], is_disabled=True
    )
    return Cast(shared, browsers, tokens, names)


def outcome(got) -> str:
    """Of the words of `LETTERS`; any other status stays what it is."""
    if got.status == 303:
        return "sign in" if "sign-in" in got.header("location") else "done"
    return "done" if got.status == 200 else OUTCOMES.get(got.status, f"{got.status} {got.text}")


def test_every_route_has_its_row_and_every_row_its_route(shared) -> None:
    assert routes(shared.site) == sorted({**PAGES, **CALLS})


@pytest.mark.parametrize("row", PAGES)
def test_a_page_is_for_whom_it_is_for(cast, row) -> None:
    found = {who: outcome(cast.page(row, who)) for who in WHO}
    assert found == {who: LETTERS[sign] for who, sign in zip(WHO, PAGES[row], strict=True)}


def test_an_archive_is_taken_of_whom_the_form_is_for(cast, tmp_path) -> None:
    folder = package(tmp_path / "sorting")
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as packed:
        packed.add(folder, ".")
    found = {}
    for who, browser in cast.browsers.items():
        browser.get("/sign-in")
        fields = {"by": "fields", "ask": "send", "replicates": "2"}
        got = browser.sends("/service/new", fields, {"archive": ("a.tar", data.getvalue())})
        found[who] = outcome(got)
    assert found == {who: LETTERS[sign] for who, sign in zip(WHO, SENDS_FORM, strict=True)}
    with cast.shared.service.database.reading() as connection:
        assert len(connection.exec_driver_sql("SELECT * FROM packages").all()) == 4


@pytest.mark.parametrize("row", [row for row in PAGES if row.startswith("POST")])
def test_no_other_form_takes_files(cast, row) -> None:
    author = cast.browsers["author"]
    author.get("/sign-in")
    got = author.sends(cast.path(row), FIELDS.get(row, {}), {"archive": ("a.tar", b"x")})
    assert got.status in (401, 403, 404) or (row == "POST /service/new" and got.status != 500)
    assert not os.path.exists(cast.shared.service.packages._directory) or not os.listdir(
        cast.shared.service.packages._directory
    )


@pytest.mark.parametrize("row", CALLS)
def test_a_call_is_for_whom_it_is_for(cast, row) -> None:
    found = {who: outcome(cast.call(row, who)) for who in WHO}
    assert found == {who: LETTERS[sign] for who, sign in zip(WHO, CALLS[row], strict=True)}


@pytest.mark.parametrize("row", [row for row in CALLS if "/worker/" not in row])
def test_a_call_needs_a_token_with_its_scope_whatever_the_role(cast, row) -> None:
    boss = cast.shared.account("boss", "administrator")
    tokens = {scope: cast.shared.token(boss, scope) for scope in SCOPES}
    method = row.partition(" ")[0]
    nobody = cast.browsers["nobody"]
    found = {
        scope: nobody.calls(method, cast.path(row), token, BODIES.get(row)).status
        for scope, token in tokens.items()
    }
    assert len([scope for scope, status in found.items() if status != 403]) == 1, found


@pytest.mark.parametrize(
    ("visibility", "sign"), [("private", "000+++0"), ("shared", "0+++++0"), ("public", "+++++++")]
)
def test_an_experiment_is_shown_to_whom_its_author_says(cast, visibility, sign) -> None:
    author = cast.browsers["author"]
    path = f"/service/{cast.names['{experiment}']}"
    assert author.post(f"{path}/visibility", {"visibility": visibility}).status == 303
    wanted = {who: LETTERS[letter] for who, letter in zip(WHO, sign, strict=True)}
    for page in (path, f"{path}/answer", f"{path}/download/csv"):
        assert {who: outcome(cast.browsers[who].get(page)) for who in WHO} == wanted
    listed = {who: path[1:] in cast.browsers[who].get("/service").text for who in WHO}
    assert listed == {who: told == "done" for who, told in wanted.items()}
