"""A service that is told to stop answers what it was asked before."""

from __future__ import annotations

import http.client
import signal
import threading

import pytest

from steelyard.app.service.opened_service import opened_service
from steelyard.app.service.service_settings import ServiceSettings
from steelyard.core import interruption
from steelyard.web.service import service_server
from steelyard.web.service.service_server import open_port, serving
from steelyard.web.store_site import StoreSite
from tests.patience import PATIENCE_S, awaited


def test_a_request_of_which_half_has_come_is_answered_by_a_service_that_is_interrupted(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(service_server, "_ENDING_S", PATIENCE_S)
    before = signal.signal(signal.SIGINT, interruption.interrupt)
    statuses: list[int] = []
    main = threading.get_ident()

    def ask(netloc: str, path: str, token: str) -> None:
        connection = http.client.HTTPConnection(netloc, timeout=PATIENCE_S)
        connection.putrequest("POST", f"{path}api/experiments")
        connection.putheader("Authorization", f"Bearer {token}")
        connection.putheader("Content-Length", "2")
        connection.putheader("Expect", "100-continue")
        connection.endheaders(b"{")
        # The service says so when it reads the body.
        assert connection.sock.recv(8) == b"HTTP/1.1"
        signal.pthread_kill(main, signal.SIGINT)
        awaited(lambda: interruption._unheard)
        connection.send(b"}")
        rest = connection.sock.makefile("rb").read()
        statuses.append(int(rest.partition(b"HTTP/1.1 ")[2][:3]))
        connection.close()

    try:
        with (
            opened_service(str(tmp_path / "service.sqlite"), str(tmp_path / "packages")) as service,
            open_port(ServiceSettings(port=0, worker=False)) as opened,
            pytest.raises(KeyboardInterrupt),
            serving(
                opened, service, StoreSite(str(tmp_path / "s.sqlite")), ServiceSettings()
            ) as ended,
        ):
            token = service.access.owner_token("t")
            asker = threading.Thread(target=ask, args=(opened.host, opened.path, token))
            asker.start()
            interruption.wait_until(ended.wait)
        assert ended.is_set()
        asker.join()
    finally:
        signal.signal(signal.SIGINT, before)
        interruption.heard()
    assert statuses == [422]
