"""The application of a service: the pages of the store, those of the service, and the API."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from steelyard.app.service.oidc_sign_in import OidcSignIn
from steelyard.app.service.people import People
from steelyard.app.service.service import Service
from steelyard.web.service.oidc_pages import oidc_pages
from steelyard.web.service.page_table import EVERYONE, Asked, Page, page_route
from steelyard.web.service.path_number import know_path_numbers
from steelyard.web.service.people_site import people_pages
from steelyard.web.service.service_api import api_routes
from steelyard.web.service.service_pages import service_pages
from steelyard.web.service.sign_in_pages import sign_in_pages
from steelyard.web.service.visitors import SignedInVisitors, Visitors
from steelyard.web.store_site import StoreSite


def service_site(
    service: Service,
    store: StoreSite,
    people: People,
    visitors: Visitors,
    address: str,
    oidc: OidcSignIn | None = None,
) -> Starlette:
    """All that a service answers.

    Parameters
    ----------
    service : Service
    store : StoreSite
        What was measured on this machine by itself.
    people : People
    visitors : Visitors
        How it is known who asks.
    address : str
        Of the first page.
    oidc : OidcSignIn or None
        Where people may sign in, too.
    """

    async def nothing(_request: Request, _error: Exception) -> Response:
        return PlainTextResponse("not found", 404)

    know_path_numbers()
    pages = [*service_pages(service), *people_pages(people, visitors, address)]
    if isinstance(visitors, SignedInVisitors):
        issuer = oidc.settings.host if oidc else ""
        pages += [*sign_in_pages(people, visitors, issuer), _first_page(store)]
        pages += oidc_pages(oidc, visitors) if oidc else []
    pages.append(Page("/{path:path}", "administer", _stored(store)))
    routes = [*api_routes(service, people), *(page_route(page, visitors) for page in pages)]
    return Starlette(routes=routes, exception_handlers={404: nothing, 405: nothing})


def _stored(store: StoreSite) -> Callable[[Asked], Response]:
    def stored(asked: Asked) -> Response:
        found = store.answer(asked.path.get("path", ""))
        return Response(found.data, found.status, media_type=found.kind)

    return stored


def _first_page(store: StoreSite) -> Page:
    """This machine's store is for who keeps the service; others begin with its experiments."""
    stored = _stored(store)

    def first(asked: Asked) -> Response:
        return stored(asked) if asked.who.may("administer") else RedirectResponse("service", 303)

    return Page("/", EVERYONE, first)
