"""A person's way through an issuer of OpenID Connect and back, walked by a real browser."""

from __future__ import annotations

from contextlib import contextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.chromium import browser, chromium_program
from tests.integration.test_service_people import PASSWORD, Shared
from tests.oidc_issuer import CLIENT, SECRET
from tests.served_issuer import served_issuer

TABLE = """
[oidc]
issuer = "{issuer}"
client_id = "{client}"
client_secret_file = "secret"
allowed_domains = ["example.org"]
"""
BACK = "sign-in/oidc/back"


@pytest.fixture
def issuer():
    chromium_program()
    with served_issuer() as found:
        found.claims = {
            "preferred_username": "ada",
            "email": "ada@example.org",
            "email_verified": True,
        }
        yield found


@pytest.fixture
def shared(user, issuer):
    secret = user.home / "secret"
    secret.write_text(f"{SECRET}\n")
    secret.chmod(0o600)
    found = Shared(user, more=TABLE.format(issuer=issuer.address, client=CLIENT))
    yield found
    if found.process.poll() is None:
        found.ends()


@contextmanager
def another_browser(user, name):
    with browser(user.home / name, user.home) as page:
        yield page


def leaves(page, issuer):
    """Press the button of the service, which leads on, and stand on the issuer's page; where that
    would lead back to."""
    page.clicks("main button", f"Sign in at {urlsplit(issuer.address).netloc}")
    page.shows("It is me")
    return page.value('document.querySelector("a").href')


def comes_back(page):
    page.clicks("a", "It is me")


def invitation(page, shared):
    """The link for a newcomer, which the first administrator makes and then leaves."""
    page.opens(shared.link)
    page.types("[name=name]", "eve")
    page.types("[name=password]", PASSWORD)
    page.types("[name=again]", PASSWORD)
    page.clicks("main button")
    page.shows("Sign out eve")
    page.opens(f"{shared.address}people")
    page.clicks("main button", "Make a link")
    page.shows("/welcome/")
    link = page.value('document.querySelector(".secret").innerText')
    signs_out(page, "eve")
    return link


def signs_in(page, shared, issuer):
    page.opens(f"{shared.address}sign-in")
    back = leaves(page, issuer)
    comes_back(page)
    return back


def signs_out(page, name):
    page.clicks("nav button", f"Sign out {name}")
    page.waits('[...document.querySelectorAll("nav a")].some(e => e.innerText === "Sign in")')


def is_signed_out(page, shared):
    page.opens(f"{shared.address}account")
    return page.waits('document.querySelector("[name=password]") !== null')


def test_a_newcomer_is_let_in_by_an_invitation_and_comes_back_without_one(
    user, shared, issuer
) -> None:
    with another_browser(user, "one") as page:
        signs_in(page, shared, issuer)
        page.shows("may not sign in here")
        assert is_signed_out(page, shared)
        link = invitation(page, shared)
        page.opens(link)
        leaves(page, issuer)
        comes_back(page)
        page.shows("Sign out ada")
        page.opens(f"{shared.address}account")
        page.shows("Make a token")
        signs_out(page, "ada")
        assert is_signed_out(page, shared)
        signs_in(page, shared, issuer)
        page.shows("Sign out ada")
        signs_out(page, "ada")
        page.opens(link)
        page.shows("was used")
    status, said = shared.ends()
    assert status == 0
    assert SECRET not in said
    assert not [code for code in issuer.made if code in said]


def test_a_forged_state_and_a_code_that_was_used_sign_nobody_in(user, shared, issuer) -> None:
    with another_browser(user, "one") as page:
        link = invitation(page, shared)
        page.opens(link)
        told = dict(parse_qsl(urlsplit(leaves(page, issuer)).query))
        page.opens(f"{shared.address}{BACK}?{urlencode({**told, 'state': 'x' * 43})}")
        page.shows("not begun in this browser")
        assert is_signed_out(page, shared)
        # One refusal ends what was begun, so that the true state comes too late.
        page.opens(f"{shared.address}{BACK}?{urlencode(told)}")
        page.shows("not begun in this browser")
        page.opens(link)
        first = dict(parse_qsl(urlsplit(leaves(page, issuer)).query))
        with another_browser(user, "two") as other:
            other.opens(f"{shared.address}sign-in")
            leaves(other, issuer)
            other.opens(f"{shared.address}{BACK}?{urlencode(first)}")
            other.shows("not begun in this browser")
            assert is_signed_out(other, shared)
        comes_back(page)
        page.shows("Sign out ada")
        signs_out(page, "ada")
        page.opens(f"{shared.address}{BACK}?{urlencode(first)}")
        page.shows("not begun in this browser")
        page.opens(f"{shared.address}sign-in")
        second = dict(parse_qsl(urlsplit(leaves(page, issuer)).query))
        page.opens(f"{shared.address}{BACK}?{urlencode({**second, 'code': first['code']})}")
        page.shows("did not take the sign-in")
        assert is_signed_out(page, shared)
