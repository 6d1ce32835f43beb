"""People sign in by an issuer of OpenID Connect, and by nothing that it did not say."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import urlencode

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from steelyard.app.service.oidc_settings import OidcSettings
from tests.oidc_issuer import CLIENT, ISSUER, SECRET, TestIssuer, elliptic_key
from tests.unit.web.service.conftest import COOKIE, shared_service

AWAY = re.compile(r'href="(https://issuer\.example/realm/authorize[^"]*)"')
SETTINGS = {"allowed_domains": ("example.org",), "allowed_subjects": ("subject-1",)}


@pytest.fixture
def issuer(monkeypatch):
    found = TestIssuer()
    monkeypatch.setattr("steelyard.service.issuer.answer_of", found.answer_of)
    return found


@pytest.fixture
def opens(tmp_path, monkeypatch, empty):
    """A service with the settings of an issuer."""
    opened = []

    def open_with(**changed):
        (tmp_path / "secret").write_text(f"{SECRET}\n")
        settings = {"client_secret_file": str(tmp_path / "secret"), **SETTINGS, **changed}
        oidc = OidcSettings(ISSUER, CLIENT, **settings)
        opened.append(shared_service(tmp_path, monkeypatch, empty, oidc=oidc))
        return opened[-1]

    yield open_with
    for each in opened:
        each.service.database.close()


def leaves(browser, **fields):
    """Where the issuer is asked."""
    browser.get("/sign-in")
    got = browser.post("/sign-in/oidc", {"following": "service/new", **fields})
    assert got.status == 200, got.text
    return html.unescape(AWAY.search(got.text)[1])


def comes_back(browser, told):
    return browser.get(f"/sign-in/oidc/back?{urlencode(told)}")


def signs_in(shared, issuer, **fields):
    browser = shared.browser()
    return browser, comes_back(browser, issuer.authorizes(leaves(browser, **fields)))


def names(shared):
    return sorted(each.name for each in shared.people.accounts())


def is_refused(shared, browser, got, status, told):
    assert (got.status, told in html.unescape(got.text)) == (status, True), got.text
    assert COOKIE not in browser.cookies
    with shared.service.database.reading() as connection:
        for table in ("sign_ins", "linked_subjects"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0
    assert browser.get("/account").status == 303
    return True


def everything_kept(shared):
    with shared.service.database.reading() as connection:
        tables = ("audit_entries", "failed_sign_ins", "sign_ins", "linked_subjects", "accounts")
        return str([connection.exec_driver_sql(f"SELECT * FROM {t}").all() for t in tables])


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_newcomer_gets_an_account_once_and_comes_back_to_it(opens, issuer, algorithm) -> None:
    shared = opens(newcomers="member")
    issuer.keys.append(elliptic_key())
    issuer.signing, issuer.algorithm = issuer.keys[algorithm == "ES256"], algorithm
    issuer.claims = {"preferred_username": "ada"}
    browser, got = signs_in(shared, issuer)
    assert got.header("location").endswith("service/new")
    assert "Sign out ada" in browser.follows(got).text
    cookie = next(v for k, v in got.headers if k == "set-cookie" and f"{COOKIE}=" in v)
    assert not [word for word in ("HttpOnly", "Secure", "SameSite=lax") if word not in cookie]
    issuer.claims = {"preferred_username": "lovelace"}
    again, got = signs_in(shared, issuer)
    assert "Sign out ada" in again.follows(got).text
    assert "lovelace" not in names(shared)


def test_a_name_or_an_address_that_an_account_has_is_never_that_account(opens, issuer) -> None:
    shared = opens(newcomers="reader")
    shared.account("ada@example.org", "administrator")
    issuer.claims = {"preferred_username": "ADA@example.org", "email": "ada@example.org"}
    browser, got = signs_in(shared, issuer, following="service")
    assert "Sign out ADA@example.org-2" in browser.follows(got).text
    assert browser.get("/people").status == 403


def test_without_a_role_for_newcomers_an_invitation_links_an_account(opens, issuer) -> None:
    shared = opens()
    browser, got = signs_in(shared, issuer)
    is_refused(shared, browser, got, 401, "may not sign in here")
    ada = shared.account("ada", "operator")
    secret = shared.people.invite_again(shared.service.access.owner(), ada)
    assert "Sign in at issuer.example" in shared.browser().get(f"/welcome/{secret}").text
    browser, got = signs_in(shared, issuer, invitation=secret)
    assert "Sign out ada" in browser.follows(got).text
    assert "Sign out ada" in signs_in(shared, issuer)[0].get("/service").text
    assert shared.browser().get(f"/welcome/{secret}").status == 401
    listed = shared.browser(shared.account("eve", "administrator")).get("/people").text
    assert "signs in elsewhere" in listed


def test_an_invitation_for_somebody_new_makes_an_account_of_its_role(opens, issuer) -> None:
    shared = opens(newcomers="reader")
    issuer.claims = {"name": "Ada Łovelace"}
    secret = shared.people.invite(shared.service.access.owner(), "operator")
    browser, got = signs_in(shared, issuer, invitation=secret)
    assert "Sign out Ada-ovelace" in browser.follows(got).text
    issuer.claims = {"sub": "another", "email": "b@example.org", "email_verified": True}
    browser, got = signs_in(shared, issuer, invitation=secret)
    assert (got.status, "was used" in got.text) == (401, True)
    assert COOKIE not in browser.cookies


def test_who_is_shut_out_is_not_let_in_elsewhere(opens, issuer) -> None:
    shared = opens(newcomers="member")
    signs_in(shared, issuer)
    [number] = [each.id for each in shared.people.accounts() if each.is_linked]
    shared.people.change_account(shared.service.access.owner(), number, is_disabled=True)
    browser, got = signs_in(shared, issuer)
    assert (got.status, COOKIE in browser.cookies) == (401, False)
    secret = shared.people.invite_again(shared.service.access.owner(), number)
    issuer.claims = {"sub": "another", "email": "b@example.org", "email_verified": True}
    browser, got = signs_in(shared, issuer, invitation=secret)
    assert (got.status, COOKIE in browser.cookies) == (401, False)


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"email": "a@example.org", "email_verified": True}, 303),
        ({"email": "a@Example.ORG", "email_verified": True}, 303),
        ({"email": "a@example.org"}, 401),
        ({"email": "a@example.org", "email_verified": False}, 401),
        ({"email": "a@example.org", "email_verified": "true"}, 401),
        ({"email": "a@evil.example.org", "email_verified": True}, 401),
        ({"email": "a@example.org@evil.example", "email_verified": True}, 401),
        ({"email": ["a@example.org"], "email_verified": True}, 401),
        ({}, 401),
    ],
)
def test_a_domain_is_that_of_a_verified_address(opens, issuer, claims, status) -> None:
    shared = opens(newcomers="member")
    issuer.claims = {"sub": "somebody", **claims}
    browser, got = signs_in(shared, issuer)
    assert got.status == status
    if status != 303:
        assert is_refused(shared, browser, got, 401, "may not sign in here")
        assert "subject somebody" in everything_kept(shared)


@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ({"nonce": "other"}, "another sign-in"),
        ({"nonce": None}, "another sign-in"),
        ({"aud": "another"}, "another service"),
        ({"aud": None}, "another service"),
        ({"aud": [CLIENT, "another"]}, "another service"),
        ({"azp": "another"}, "another service"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"exp": 1_800_000_000 - 61}, "has expired"),
        ({"exp": None}, "no 'exp'"),
        ({"exp": "soon"}, "no 'exp'"),
        ({"iat": 1_800_000_000 + 3600}, "no 'iat'"),
        ({"sub": ""}, "no 'sub'"),
        ({"sub": None}, "no 'sub'"),
        ({"sub": 7}, "no 'sub'"),
        ({"sub": "s\0"}, "no 'sub'"),
        ({"sub": "\u0430"}, "no 'sub'"),
        ({"sub": "x" * 256}, "no 'sub'"),
    ],
)
def test_a_token_that_says_something_else_signs_nobody_in(opens, issuer, claims, told) -> None:
    shared = opens(newcomers="member")
    issuer.claims = claims
    assert is_refused(shared, *signs_in(shared, issuer), 502, told)


def plain(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


FORGERIES = {
    "none": lambda _, claims: f"{plain({'alg': 'none'})}.{plain(claims)}.",
    "None": lambda _, claims: f"{plain({'alg': 'None', 'kid': 'r'})}.{plain(claims)}.",
    "another key": lambda _, claims: jwt.encode(
        {"alg": "RS256", "kid": "r"}, claims, RSAKey.generate_key(2048)
    ),
    "an unknown key": lambda _, claims: jwt.encode(
        {"alg": "RS256", "kid": "q"}, claims, RSAKey.generate_key(2048)
    ),
    "a key of its own": lambda _, claims: jwt.encode(
        {"alg": "ES256", "jwk": elliptic_key().as_dict(private=False)}, claims, elliptic_key()
    ),
    "the client's secret": lambda _, claims: jwt.encode(
        {"alg": "HS256"}, claims, OctKey.import_key(SECRET)
    ),
    "another kind": lambda issuer, claims: jwt.encode(
        {"alg": "RS384", "kid": "r"}, claims, issuer.signing, ["RS384"]
    ),
    "nothing": lambda _, claims: "",
    "no token": lambda _, claims: "é.{}.\0",
    "no object": lambda issuer, claims: "..",
    "too long": lambda _, claims: "a" * 70000,
}


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_a_token_that_the_issuer_did_not_sign_signs_nobody_in(opens, issuer, forgery) -> None:
    shared = opens(newcomers="member")
    issuer.forge = lambda claims: FORGERIES[forgery](issuer, claims)
    assert is_refused(shared, *signs_in(shared, issuer), 502, f"The ID token of {ISSUER}")


def test_a_token_that_was_changed_after_it_was_signed_signs_nobody_in(opens, issuer) -> None:
    shared = opens(newcomers="member")

    def forge(claims):
        head, _, signature = jwt.encode({"alg": "RS256", "kid": "r"}, claims, issuer.signing).split(
            "."
        )
        return f"{head}.{plain({**claims, 'sub': 'subject-2'})}.{signature}"

    issuer.forge = forge
    assert is_refused(shared, *signs_in(shared, issuer), 502, "not signed by one of its keys")


def test_a_sign_in_ends_in_the_browser_in_which_it_began_and_once(opens, issuer) -> None:
    shared = opens(newcomers="member")
    browser, other = shared.browser(), shared.browser()
    told = issuer.authorizes(leaves(browser))
    leaves(other)
    for each in (
        (other, told),
        (shared.browser(), told),
        (shared.browser(), {}),
        (shared.browser(), {"code": "x", "state": ""}),
    ):
        assert is_refused(shared, each[0], comes_back(*each), 401, "not begun in this browser")
    kept = dict(browser.cookies)
    assert comes_back(browser, told).status == 303
    assert f"{COOKIE}-begun" not in browser.cookies
    browser.cookies = kept
    assert (comes_back(browser, told).status, COOKIE in browser.cookies) == (502, False)


@pytest.mark.parametrize("state", ["", "é", "x" * 5000])
def test_a_wrong_state_signs_nobody_in_and_asks_the_issuer_nothing(opens, issuer, state) -> None:
    shared = opens(newcomers="member")
    browser = shared.browser()
    told = issuer.authorizes(leaves(browser))
    before = len(issuer.calls)
    got = comes_back(browser, {**told, "state": state})
    assert is_refused(shared, browser, got, 401, "not begun in this browser")
    assert len(issuer.calls) == before


def test_an_issuer_that_does_not_answer_is_told_and_passwords_still_work(opens, issuer) -> None:
    shared = opens(newcomers="member")
    browser = shared.browser()
    told = issuer.authorizes(leaves(browser))
    issuer.is_away = True
    assert is_refused(shared, browser, comes_back(browser, told), 502, "does not answer")
    browser.get("/sign-in")
    got = browser.post("/sign-in/oidc")
    assert (got.status, "does not answer" in got.text) == (502, True)
    assert 'name="password"' in got.text


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"issuer": "https://evil.example"}, "calls itself otherwise"),
        ({"token_endpoint": "http://issuer.example/token"}, "no token_endpoint by https"),
        ({"jwks_uri": 7}, "no jwks_uri"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "no authorization_endpoint"),
    ],
)
def test_a_discovery_document_that_leads_elsewhere_is_refused(
    opens, issuer, document, told
) -> None:
    shared = opens()
    issuer.document = document
    browser = shared.browser()
    browser.get("/sign-in")
    got = browser.post("/sign-in/oidc")
    assert (got.status, told in got.text) == (502, True), got.text


def test_a_refusal_at_the_issuer_and_another_issuer_are_told(opens, issuer) -> None:
    shared = opens(newcomers="member")
    for changed, status, words in (
        ({"error": "access_denied", "code": ""}, 401, "given up or refused"),
        ({"iss": "https://evil.example"}, 502, "Another issuer"),
    ):
        browser = shared.browser()
        told = {**issuer.authorizes(leaves(browser)), **changed}
        assert is_refused(shared, browser, comes_back(browser, told), status, words)
    issuer.document = {"authorization_response_iss_parameter_supported": True}
    assert is_refused(shared, *signs_in(shared, issuer), 502, "Another issuer")
    browser = shared.browser()
    told = {**issuer.authorizes(leaves(browser)), "iss": ISSUER}
    assert comes_back(browser, told).status == 303


def test_no_secret_is_shown_or_kept(opens, issuer) -> None:
    shared = opens(newcomers="member")
    issuer.secret = "another"
    browser, got = signs_in(shared, issuer)
    assert is_refused(shared, browser, got, 502, "did not take the sign-in")
    shown = got.text + everything_kept(shared)
    assert not [word for word in (SECRET, "code-0", "code_verifier") if word in shown]


def test_a_client_without_a_secret_has_pkce_alone(opens, issuer) -> None:
    shared = opens(newcomers="member", client_secret_file="")
    issuer.secret = ""
    assert signs_in(shared, issuer)[1].status == 303


def test_a_secret_that_is_not_there_is_told(opens, issuer, tmp_path) -> None:
    shared = opens(client_secret_file=str(tmp_path / "none"))
    assert is_refused(shared, *signs_in(shared, issuer), 422, "No such file")


def test_sign_ins_that_do_not_end_are_limited_for_each_client(opens, issuer) -> None:
    shared = opens(newcomers="member")
    browser = shared.browser()
    for _ in range(50):
        leaves(browser)
    assert browser.post("/sign-in/oidc").status == 429
    other = shared.browser(client="192.0.2.7")
    assert comes_back(other, issuer.authorizes(leaves(other))).status == 303


def test_another_site_begins_no_sign_in(opens, issuer) -> None:
    browser = opens().browser()
    browser.get("/sign-in")
    assert browser.post("/sign-in/oidc", origin="https://evil.example").status == 403
    assert issuer.calls == []


def test_after_a_sign_in_one_goes_to_a_page_of_this_service(opens, issuer) -> None:
    shared = opens(newcomers="member")
    _, got = signs_in(shared, issuer, following="//evil.example")
    assert got.header("location") == "../../service"
