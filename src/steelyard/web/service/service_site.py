"""The application of a service: the pages of the store, those of the service, and the API."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from steelyard.app.service.service import Service
from steelyard.service.accounts import Identity
from steelyard.web.service.service_api import api_routes
from steelyard.web.service.service_pages import page_routes
from steelyard.web.store_site import StoreSite


def service_site(service: Service, store: StoreSite, owner: Identity) -> Starlette:
    """All that a service answers.

    Parameters
    ----------
    service : Service
    store : StoreSite
        What was measured on this machine by itself.
    owner : Identity
        Whom pages are shown to: the person who has the address.
    """

    async def stored(request: Request) -> Response:
        found = await run_in_threadpool(store.answer, request.path_params["path"])
        return Response(found.data, found.status, media_type=found.kind)

    async def nothing(_request: Request, _error: Exception) -> Response:
        return PlainTextResponse("not found", 404)

    routes = [
        *api_routes(service),
        *page_routes(service, owner),
        Route("/{path:path}", stored, methods=["GET", "HEAD"]),
    ]
    return Starlette(routes=routes, exception_handlers={404: nothing, 405: nothing})
