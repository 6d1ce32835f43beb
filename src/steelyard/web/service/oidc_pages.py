"""The pages by which people sign in at an issuer of OpenID Connect and come back."""

from __future__ import annotations

from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.app.service.oidc_settings import BACK
from steelyard.app.service.oidc_sign_in import Begun, OidcSignIn
from steelyard.core.errors import SteelyardError
from steelyard.report.kinds.people.people_pages import leaving_page, sign_in_page
from steelyard.web.service.error_status import status_of
from steelyard.web.service.page_table import EVERYONE, Asked, Page
from steelyard.web.service.sign_in_pages import following_of
from steelyard.web.service.visitors import SignedInVisitors


def oidc_pages(oidc: OidcSignIn, visitors: SignedInVisitors) -> list[Page]:
    """To leave for the issuer, and to come back from there."""
    host = oidc.settings.host

    def refused(asked: Asked, following: str, error: SteelyardError) -> Response:
        page = sign_in_page(asked.shell, following, error=error.message, issuer=host)
        return HTMLResponse(page, status_of(error))

    def begun(asked: Asked) -> Response:
        following = following_of(asked.field("following"))
        try:
            sign_in, address = oidc.begin(asked.client)
        except SteelyardError as error:
            return refused(asked, following, error)
        # A form may lead nowhere else, so that a page of its own leads on.
        response = HTMLResponse(leaving_page(asked.shell, host, address))
        kept = ".".join((sign_in.secret, following, asked.field("invitation")))
        visitors.keep_begun(response, kept)
        return response

    def back(asked: Asked) -> Response:
        parts = asked.begun.split(".")
        secret, following, invitation = parts if len(parts) == 3 else ("", "", "")
        try:
            cookie = oidc.end(Begun(secret), dict(asked.query), invitation, asked.client)
        except SteelyardError as error:
            response = refused(asked, following_of(following), error)
        else:
            response = RedirectResponse(f"{asked.shell.root}{following_of(following)}", 303)
            visitors.set_cookie(response, cookie)
        visitors.forget_begun(response)
        return response

    return [
        Page("/sign-in/oidc", EVERYONE, begun, "POST"),
        Page(f"/{BACK}", EVERYONE, back),
    ]
