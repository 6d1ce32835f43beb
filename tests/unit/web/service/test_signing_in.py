"""People are invited, sign in, and are kept apart; forms of other sites do nothing."""

from __future__ import annotations

import re

import pytest

from steelyard.app.service.quotas import Quotas
from steelyard.core.errors import StoreError
from steelyard.service.sign_ins import MOST_OF_NAME, SIGN_IN_S
from steelyard.service.submission_limits import account_cost_s
from tests.asgi_browser import Forms
from tests.unit.web.service.conftest import COOKIE, FILE, result_of, shared_service

PASSWORD = "correct horse battery"
SECRET = re.compile(r"https://bench\.example/welcome/([A-Za-z0-9_-]+)")


def invited(shared, role="member"):
    return shared.people.invite(shared.service.access.owner(), role)


def accepts(shared, secret, name, password=PASSWORD, again=None):
    browser = shared.browser()
    browser.get(f"/welcome/{secret}")
    fields = {"name": name, "password": password, "again": again or password}
    return browser, browser.post(f"/welcome/{secret}", fields)


def signs_in(shared, name, password=PASSWORD, **told):
    browser = shared.browser(**told)
    return browser, browser.post("/sign-in", {"name": name, "password": password})


def test_an_invitation_makes_one_account_and_its_password_signs_in(shared) -> None:
    secret = invited(shared)
    browser, got = accepts(shared, secret, "ada")
    assert "Sign out ada" in browser.follows(got).text
    assert accepts(shared, secret, "bob")[1].status == 401
    browser, got = signs_in(shared, "ada")
    cookie = got.header("set-cookie")
    for word in (f"{COOKIE}=", "HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert word in cookie
    assert "Sign out ada" in browser.follows(got).text


@pytest.mark.parametrize(
    ("name", "password", "again", "told"),
    [
        ("ada", "short", None, "12 to 200 characters, not 5"),
        ("ada", PASSWORD, "correct horse batterz", "differ"),
        ("ada lovelace", PASSWORD, None, "without blanks"),
        ("", PASSWORD, None, "1 to 64 letters"),
        ("\u0430da", PASSWORD, None, "of ASCII"),
        ("OWNER", PASSWORD, None, "is taken"),
        ("a" * 65, PASSWORD, None, "1 to 64 letters"),
    ],
)
def test_what_makes_no_account_is_told_and_leaves_the_invitation(
    shared, name, password, again, told
) -> None:
    secret = invited(shared)
    _, got = accepts(shared, secret, name, password, again)
    assert (got.status, told in got.text) == (422, True), got.text
    assert accepts(shared, secret, "ada")[1].status == 303


def test_a_wrong_password_and_a_wrong_name_are_answered_alike_and_not_shown(shared) -> None:
    accepts(shared, invited(shared), "ada")
    answers = [signs_in(shared, *each)[1] for each in (("ada", "x" * 12), ("my-passphrase", "y"))]
    assert [got.status for got in answers] == [401, 401]
    assert answers[0].text == answers[1].text
    with shared.service.database.reading() as connection:
        kept = [
            str(tuple(row))
            for table in ("audit_entries", "failed_sign_ins", "accounts", "sign_ins")
            for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
        ]
    assert not [row for row in kept if "my-passphrase" in row or PASSWORD in row]


def test_guessing_ends_after_some_attempts_and_may_begin_again_later(shared, monkeypatch) -> None:
    accepts(shared, invited(shared), "ada")
    monkeypatch.setattr("steelyard.app.service.people.is_password", lambda given, _: given == "it")
    for _ in range(MOST_OF_NAME):
        assert signs_in(shared, "ada", "wrong")[1].status == 401
    assert signs_in(shared, "ada", "it")[1].status == 429
    shared.clock[0] += 901
    assert signs_in(shared, "ada", "it")[1].status == 303
    statuses = [signs_in(shared, f"n{i}", "wrong", client="192.0.2.9")[1].status for i in range(51)]
    assert statuses == [401] * 50 + [429]
    assert signs_in(shared, "ada", "it")[1].status == 303


def test_a_lock_out_ends_in_time_where_the_clock_was_set_back(shared, monkeypatch) -> None:
    accepts(shared, invited(shared), "ada")
    monkeypatch.setattr("steelyard.app.service.people.is_password", lambda given, _: given == "it")
    for _ in range(MOST_OF_NAME):
        signs_in(shared, "ada", "wrong")
    shared.clock[0] -= 600
    assert signs_in(shared, "ada", "it")[1].status == 429
    shared.clock[0] -= 86_400
    assert signs_in(shared, "ada", "it")[1].status == 303


def test_what_was_made_by_a_clock_that_ran_ahead_for_years_is_worth_nothing(shared) -> None:
    number = shared.account("ada")
    who = shared.identity("ada")
    shared.clock[0] += 50 * 365 * 86_400
    browser, secret = shared.browser(number), invited(shared)
    token = shared.people.make_token(who, "t", ["read"], 30)
    endless = shared.token(number, "read")
    shared.clock[0] -= 50 * 365 * 86_400
    assert browser.get("/account").status == 303
    assert accepts(shared, secret, "bob")[1].status == 401
    assert browser.calls("GET", "/api/experiments", token).status == 401
    assert browser.calls("GET", "/api/experiments", endless).status == 200


def test_what_was_made_before_a_clock_was_set_back_by_an_hour_still_holds(shared) -> None:
    number = shared.account("ada")
    browser, secret = shared.browser(number), invited(shared)
    token = shared.people.make_token(shared.identity("ada"), "t", ["read"], 30)
    shared.clock[0] -= 3600
    assert browser.get("/account").status == 200
    assert browser.calls("GET", "/api/experiments", token).status == 200
    assert accepts(shared, secret, "bob")[1].status == 303


def test_who_has_many_addresses_of_one_network_guesses_no_more_often(shared, monkeypatch) -> None:
    monkeypatch.setattr("steelyard.app.service.people.is_password", lambda *_: False)

    def statuses(network):
        clients = [f"{network}::{number:x}" for number in range(51)]
        return [signs_in(shared, each, "wrong", client=each)[1].status for each in clients]

    assert statuses("2001:db8:0:1") == [401] * 50 + [429]
    assert signs_in(shared, "a", "wrong", client="2001:db8:0:2::1")[1].status == 401


def test_one_is_signed_out_by_oneself_by_time_and_by_an_administrator(shared) -> None:
    number, admin = shared.account("ada"), shared.account("eve", "administrator")
    browser = shared.browser(number)
    assert browser.get("/account").status == 200
    kept = dict(browser.cookies)
    assert browser.post("/sign-out").status == 303
    assert browser.cookies == {}
    browser.cookies = kept
    assert browser.get("/account").status == 303
    browser = shared.browser(number)
    shared.clock[0] += SIGN_IN_S
    assert browser.get("/account").status == 303
    browser, token = shared.browser(number), shared.token(number, "read")
    assert shared.browser(admin).post(f"/people/{number}/shut-out").status == 303
    assert browser.get("/account").status == 303
    assert browser.calls("GET", "/api/experiments", token).status == 401
    assert shared.browser(admin).post(f"/people/{number}/let-in").status == 303
    assert browser.calls("GET", "/api/experiments", token).status == 200


def test_a_new_password_ends_every_other_sign_in_and_needs_the_old_one(shared) -> None:
    here, _ = accepts(shared, invited(shared), "ada")
    there, _ = signs_in(shared, "ada")
    here.get("/account")
    new = "another long password"
    fields = {"old": "not the old one", "password": new, "again": new}
    assert here.post("/account/password", fields).status == 401
    got = here.post("/account/password", {**fields, "old": PASSWORD})
    assert here.follows(got).status == 200
    assert there.get("/account").status == 303
    assert signs_in(shared, "ada")[1].status == 401
    assert signs_in(shared, "ada", new)[1].status == 303


def test_an_administrator_gives_links_and_roles_but_not_to_themselves(shared) -> None:
    admin, number = shared.account("eve", "administrator"), shared.account("ada")
    browser = shared.browser(admin)
    secret = SECRET.search(browser.post("/people/invite", {"role": "reader"}).text)[1]
    reader, _ = accepts(shared, secret, "rea")
    assert reader.get("/service/new").status == 403
    assert browser.post("/people/invite", {"role": "king"}).status == 422
    secret = SECRET.search(browser.post(f"/people/{number}/new-password").text)[1]
    _, got = accepts(shared, secret, "whoever")
    assert got.status == 303
    assert signs_in(shared, "ada")[1].status == 303
    assert browser.post(f"/people/{number}/role", {"role": "operator"}).status == 303
    for path in ("role", "shut-out"):
        got = browser.post(f"/people/{admin}/{path}", {"role": "reader"})
        assert (got.status, "another administrator" in got.text) == (404, True)
    assert browser.post("/people/999/role", {"role": "reader"}).status == 404
    shown = browser.get("/audit").text
    for word in ("member to operator", "new password", "invite", "role reader"):
        assert word in shown
    assert secret not in shown


def test_a_token_is_made_seen_once_and_revoked_on_a_page_and_by_the_api(shared) -> None:
    number = shared.account("ada")
    browser = shared.browser(number)
    got = browser.post("/account/tokens", {"name": "ci", "scope": ["read", "tokens"], "days": "30"})
    token = re.search(r"steelyard_[A-Za-z0-9_-]{43}", got.text)[0]
    assert token not in browser.get("/account").text
    assert browser.calls("GET", "/api/experiments", token).status == 200
    assert browser.calls("POST", "/api/experiments", token, {"file": FILE}).status == 403
    made = browser.calls("POST", "/api/tokens", token, {"name": "more", "scopes": ["submit"]})
    assert (made.status, "lack the scope" in made.text) == (403, True)
    made = browser.calls("POST", "/api/tokens", token, {"name": "less", "scopes": ["read"]})
    other = made.json()["value"]
    listed = browser.calls("GET", "/api/tokens", token).json()["tokens"]
    assert [each["name"] for each in listed] == ["less", "ci"]
    path = f"/api/tokens/{listed[0]['token']}/revoke"
    assert browser.calls("POST", path, token).status == 200
    assert browser.calls("GET", "/api/experiments", other).status == 401
    eve = shared.browser(shared.account("eve"))
    assert eve.post(f"/account/tokens/{listed[1]['token']}/revoke").status == 404
    assert browser.post(f"/account/tokens/{listed[1]['token']}/revoke").status == 303
    assert browser.calls("GET", "/api/experiments", token).status == 401


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "", "scope": "read", "days": "1"},
        {"name": "x", "days": "1"},
        {"name": "x", "scope": "fly", "days": "1"},
        {"name": "x", "scope": "read", "days": "0"},
        {"name": "x", "scope": "read", "days": "\u0661"},
        {"name": "x", "scope": "read", "days": "9" * 30},
        {"name": "\n", "scope": "read", "days": "1"},
    ],
)
def test_what_makes_no_token_is_one_sentence(shared, fields) -> None:
    browser = shared.browser(shared.account("ada"))
    got = browser.post("/account/tokens", fields)
    assert (got.status, "steelyard_" in got.text) == (422, False)
    assert browser.calls("GET", "/api/tokens", "steelyard_x").status == 401


@pytest.mark.parametrize("name", ["", "bob", "ada"])
def test_a_form_without_what_its_page_gave_it_changes_nothing(shared, name) -> None:
    number = shared.account("ada")
    browser = shared.browser(number)
    other = shared.browser(shared.account(name)).csrf if name == "bob" else name
    fields = {"name": "x", "scope": "read", "days": "1"}
    assert browser.post("/account/tokens", fields, csrf=other).status == 403
    told = {"origin": "https://evil.example"}
    assert browser.post("/account/tokens", fields, **told).status == 403
    assert browser.post("/account/tokens", fields, sec_fetch_site="same-site").status == 403
    assert browser.post("/account/tokens", fields, origin="null").status == 403
    assert shared.people.tokens(shared.identity("ada"))[1:] == []
    assert browser.post("/account/tokens", fields, origin="https://bench.example").status == 200


def test_after_signing_in_one_goes_on_within_the_service_alone(shared) -> None:
    accepts(shared, invited(shared), "ada")
    browser = shared.browser()
    got = browser.get("/service/new")
    assert got.header("location") == "../sign-in?following=service%2Fnew"
    for following, to in (
        ("service/new", "service/new"),
        ("//evil.example", "service"),
        ("https://evil.example", "service"),
        ("/\\evil.example", "service"),
        ("a/../../b", "service"),
        ("javascript:alert(1)", "service"),
    ):
        page = browser.get(f"/sign-in?following={following}")
        assert f'name="following" value="{to}"' in page.text
        fields = {"name": "ada", "password": PASSWORD, "following": following}
        got = shared.browser().post("/sign-in", fields)
        assert (got.status, got.header("location")) == (303, to)


def test_only_names_of_the_service_are_answered_with_headers_that_keep_browsers_in(shared) -> None:
    got = shared.browser().get("/sign-in")
    assert "frame-ancestors 'none'" in got.header("content-security-policy")
    assert got.header("strict-transport-security")
    assert got.header("cache-control") == "no-store"
    assert got.header("x-content-type-options") == "nosniff"
    # With none, browsers say of every form that it comes from the origin 'null'.
    assert got.header("referrer-policy") == "same-origin"
    assert 'name="referrer" content="same-origin"' in got.text
    assert "default-src 'none'" in got.text
    for host in ("evil.example", "bench.example:81", "", "bench.example.evil.example"):
        assert shared.browser(host=host).get("/sign-in").status == 404
    assert shared.browser(host="Bench.Example").get("/sign-in").status == 200


def test_a_service_may_lie_below_a_path(tmp_path, monkeypatch, empty) -> None:
    shared = shared_service(tmp_path, monkeypatch, empty, "https://bench.example/steelyard/")
    number = shared.account("ada")
    browser = shared.browser()
    assert browser.get("/service").status == 404
    got = browser.get("/steelyard/account")
    assert browser.follows(got).status == 200
    browser.cookies = shared.browser(number).cookies
    page = browser.get("/steelyard/service/new")
    assert page.status == 200
    for link in (*Forms.of(page.text).links, *Forms.of(page.text).actions):
        assert not link.startswith("/")
    accepts_at = f"/steelyard/welcome/{invited(shared)}"
    fields = {"name": "bob", "password": PASSWORD, "again": PASSWORD}
    assert "Path=/steelyard/" in shared.browser().post(accepts_at, fields).header("set-cookie")
    shared.service.database.close()


def test_what_is_too_large_is_not_read_and_strangers_send_nothing(shared) -> None:
    browser = shared.browser(shared.account("ada"))
    got = browser.post("/service/new", {"file": "x" * (5 << 20)})
    assert (got.status, "at most 4 MiB" in got.text) == (422, True)
    data = b"&".join(b"a=1" for _ in range(500))
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert browser.asks("POST", "/service/new", data, kind).status == 422
    stranger = shared.browser()
    assert stranger.post("/service/new", {"file": "x" * (5 << 20)}).status == 401
    assert stranger.asks("POST", "/api/experiments", b"x" * 100).status == 401


def test_a_member_has_no_more_trials_open_than_the_quota_and_keepers_have_none(shared) -> None:
    shared.service.quotas = Quotas(trials=7)
    shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
    fields = {"ask": "send", "file": FILE}
    browser = shared.browser(shared.account("ada"))
    first = browser.post("/service/new", fields)
    assert first.status == 303
    got = browser.post("/service/new", fields)
    assert (got.status, "7 trials waiting or running, has 4, and this" in got.text) == (422, True)
    assert shared.browser(shared.account("bob")).post("/service/new", fields).status == 303
    keeper = shared.browser(shared.account("eve", "operator"))
    assert [keeper.post("/service/new", fields).status for _ in range(2)] == [303, 303]
    assert browser.post(f"/service/{first.header('location')}/cancel").status == 303
    assert browser.post("/service/new", fields).status == 303


def test_a_member_uses_no_more_hours_of_workers_in_a_month_than_the_quota(shared) -> None:
    ada = shared.account("ada")
    worker = shared.service.access.worker(
        shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
    )
    shared.service.quotas = Quotas(hours=2)
    browser, fields = shared.browser(ada), {"ask": "send", "file": FILE}
    long = FILE.replace('command = "true"', 'command = "true"\nexpected_s = 1801')
    got = browser.post("/service/new", {**fields, "file": long})
    assert (got.status, "has used 0.0, and this experiment takes 2.0" in got.text) == (422, True)
    assert browser.post("/service/new", fields).status == 303
    given = shared.service.parts.give(worker)
    shared.clock[0] += 2.5 * 3600
    shared.service.parts.take(worker, result_of(given))
    shared.service.parts.beat(worker, "idle")
    got = browser.post("/service/new", fields)
    assert (got.status, "2 hours of workers in 30 days, has used 2.5" in got.text) == (422, True)
    assert shared.browser(shared.account("bob")).post("/service/new", fields).status == 303
    with shared.service.database.reading() as connection:
        assert account_cost_s(connection, ada, shared.clock[0], shared.clock[0]) == 0.0
    shared.clock[0] -= 365 * 86_400.0
    assert shared.browser(ada).post("/service/new", fields).status == 303


def test_a_database_that_is_away_is_said_to_who_has_signed_in(shared, monkeypatch) -> None:
    browser = shared.browser(shared.account("ada"))
    why = StoreError("The service's database postgresql:///s refused: it is away.")

    def away(_people, _cookie):
        raise why

    monkeypatch.setattr("steelyard.app.service.people.People.signed_in", away)
    for got in (browser.get("/service"), browser.post("/service/new", {"by": "fields"})):
        assert (got.status, why.message in got.text) == (503, True)
