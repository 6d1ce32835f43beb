"""What the client of a service makes of answers that are none of the service's."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from steelyard.service.service_client import ServiceClient, ServiceRefusal, UnreachableError


@contextmanager
def proxy(status, *, reads=True):
    """The address of a server that answers everything with a page and a status; it may hang up
    without a look at what is sent."""

    class Page(BaseHTTPRequestHandler):
        def do_POST(self):
            if reads:
                self.rfile.read(int(self.headers["Content-Length"]))
            page = b"<html><h1>nginx</h1></html>"
            self.send_response(status)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("reads", [True, False])
def test_a_proxy_that_takes_no_large_body_is_told_from_the_service(tmp_path, reads) -> None:
    package = tmp_path / "package.tar"
    package.write_bytes(bytes(50_000_000))
    with (
        proxy(413, reads=reads) as address,
        pytest.raises(ServiceRefusal, match=r"client_max_body_size") as told,
    ):
        ServiceClient(address, "").send_file("api/packages", str(package))
    assert told.value.status == 413


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_without_its_service_is_a_service_that_is_out_of_order(status) -> None:
    with proxy(status) as address, pytest.raises(UnreachableError, match=f"status {status}"):
        ServiceClient(address, "").post("api/experiments", {})


def test_another_page_is_said_by_its_status() -> None:
    with proxy(418) as address, pytest.raises(ServiceRefusal, match=r"status 418\."):
        ServiceClient(address, "").post("api/experiments", {})
