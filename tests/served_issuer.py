"""An issuer of OpenID Connect that listens on this machine, for browsers and services."""

from __future__ import annotations

import html
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import uvicorn
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.oidc_issuer import TestIssuer
from tests.patience import PATIENCE_S


@contextmanager
def served_issuer() -> Iterator[TestIssuer]:
    """An issuer that answers meanwhile. Its page of sign-in has one link, back to who asked."""
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/realm"
    issuer = TestIssuer(address=address, now_s=time.time())

    def authorize(request: Request) -> HTMLResponse:
        told = issuer.authorizes(str(request.url))
        back = f"{request.query_params['redirect_uri']}?{urlencode(told)}"
        return HTMLResponse(f'<title>Issuer</title><a href="{html.escape(back)}">It is me</a>')

    issuer.app.routes.append(Route("/realm/authorize", authorize))
    config = uvicorn.Config(issuer.app, log_level="critical", lifespan="off", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listening.close()
