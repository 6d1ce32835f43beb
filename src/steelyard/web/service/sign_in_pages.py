"""The pages that who has not signed in may see: to sign in, and to accept an invitation."""

from __future__ import annotations

import re

from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.app.service.people import People
from steelyard.core.errors import SteelyardError
from steelyard.report.kinds.people.people_pages import sign_in_page, welcome_page
from steelyard.web.service.error_status import status_of
from steelyard.web.service.page_table import EVERYONE, Asked, Page
from steelyard.web.service.people_site import new_password
from steelyard.web.service.visitors import SignedInVisitors

# Where one goes after a sign-in: a page of this service, never an address elsewhere.
_PATH = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*")
_FIRST = "service"


def sign_in_pages(people: People, visitors: SignedInVisitors, issuer: str = "") -> list[Page]:
    """To sign in and out, and to accept an invitation.

    Parameters
    ----------
    people : People
    visitors : SignedInVisitors
    issuer : str
        The host at which people may sign in, too; empty where there is none.
    """

    def form(asked: Asked) -> Response:
        following = following_of(asked.query.get("following", ""))
        return HTMLResponse(sign_in_page(asked.shell, following, issuer=issuer))

    def signed_in(asked: Asked) -> Response:
        return _signed_in(people, visitors, asked, issuer)

    def signed_out(asked: Asked) -> Response:
        people.sign_out(asked.who, asked.visitor.cookie)
        response = RedirectResponse(f"{asked.shell.root}service", 303)
        visitors.unset_cookie(response)
        return response

    def welcome(asked: Asked) -> Response:
        secret = asked.path["secret"]
        leaves = (issuer, secret)
        return HTMLResponse(welcome_page(people.invitation(secret), asked.shell, leaves=leaves))

    def accepted(asked: Asked) -> Response:
        return _accepted(people, visitors, asked, issuer)

    return [
        Page("/sign-in", EVERYONE, form),
        Page("/sign-in", EVERYONE, signed_in, "POST"),
        Page("/sign-out", "tokens", signed_out, "POST"),
        Page("/welcome/{secret}", EVERYONE, welcome),
        Page("/welcome/{secret}", EVERYONE, accepted, "POST"),
    ]


def following_of(given: str) -> str:
    """The page after a sign-in that was asked for, or the first one."""
    return given if _PATH.fullmatch(given) else _FIRST


def _signed_in(people: People, visitors: SignedInVisitors, asked: Asked, issuer: str) -> Response:
    name, following = asked.field("name"), following_of(asked.field("following"))
    try:
        cookie = people.sign_in(name, asked.field("password"), asked.client)
    except SteelyardError as error:
        # What was typed into the wrong field may be the password.
        page = sign_in_page(asked.shell, following, error=error.message, issuer=issuer)
        return HTMLResponse(page, status_of(error))
    response = RedirectResponse(f"{asked.shell.root}{following}", 303)
    visitors.set_cookie(response, cookie)
    return response


def _accepted(people: People, visitors: SignedInVisitors, asked: Asked, issuer: str) -> Response:
    secret, name = asked.path["secret"], asked.field("name")
    invitation = people.invitation(secret)
    try:
        cookie = people.accept(secret, name, new_password(asked))
    except SteelyardError as error:
        page = welcome_page(invitation, asked.shell, name, error.message, (issuer, secret))
        return HTMLResponse(page, status_of(error))
    response = RedirectResponse(f"{asked.shell.root}service", 303)
    visitors.set_cookie(response, cookie)
    return response
