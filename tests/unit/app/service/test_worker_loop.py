"""A worker keeps a result until the service has spoken of it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from steelyard.app.service.worker_loop import (
    HostFacts,
    WorkerLoop,
    WorkerPlace,
    enrolled_worker,
)
from steelyard.core.errors import SteelyardError
from steelyard.service.service_client import ServiceClient, UnreachableError

TAKEN = {"kind": "taken", "outcome": "committed", "message": ""}


class Answering(HTTPServer):
    """Gives the answers that it holds, one after the other, and keeps what was asked."""

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = list(answers)
        self.asked = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(self.path)
        status, body = self.server.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *_words):
        """Nothing in the output of tests."""


@pytest.fixture
def answering():
    servers = []

    def start(*answers):
        server = Answering(answers)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return server, ServiceClient(f"http://127.0.0.1:{server.server_port}/", "t")

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def place(tmp_path):
    found = WorkerPlace(str(tmp_path))
    (tmp_path / "outbox").mkdir()
    (tmp_path / "outbox" / "1-0.json").write_text("{}")
    return found


@pytest.mark.parametrize(
    "answer",
    [
        (404, b"not found"),  # The address of a service that was started anew has another secret.
        (401, b'{"message": "The token is not known"}'),
        (503, b'{"message": "database or disk is full"}'),
        (500, b"Internal Server Error"),
        (429, b"too many"),
        (200, b"<html>Sign in to this network</html>"),
        (200, b'{"kind": "other"}'),
    ],
)
def test_a_result_stays_where_the_service_did_not_speak_of_it(answering, place, answer) -> None:
    _, client = answering(answer)
    with pytest.raises(SteelyardError):
        WorkerLoop(client, place, lambda _text: None)._send_outbox()
    assert (place_files(place)) == ["1-0.json"]


@pytest.mark.parametrize("answer", [(200, json.dumps(TAKEN).encode()), (422, b'{"message": "no"}')])
def test_a_result_goes_when_the_service_has_spoken_of_it(answering, place, answer) -> None:
    _, client = answering(answer)
    WorkerLoop(client, place, lambda _text: None)._send_outbox()
    assert place_files(place) == []


def place_files(place):
    import os

    return sorted(os.listdir(place.outbox))


def test_a_service_that_is_out_of_order_is_asked_again(answering, place, monkeypatch) -> None:
    monkeypatch.setattr("steelyard.app.service.worker_loop.ASK_EVERY_S", 0.0)
    server, client = answering(
        (503, b'{"message": "database is locked"}'), (200, json.dumps(TAKEN).encode()), (204, b"")
    )
    said = []
    WorkerLoop(client, place, said.append).run(once=True)
    assert [path.rpartition("/")[2] for path in server.asked] == ["results", "results", "next"]
    assert "database is locked" in said[0]
    assert said[-1] == "the service answers again"


def test_a_message_shows_no_secret_of_an_address() -> None:
    client = ServiceClient("http://me:pass-word@127.0.0.1:9/the-secret/", "t")
    with pytest.raises(UnreachableError) as caught:
        client.get("x")
    assert "127.0.0.1:9 does not answer" in caught.value.message
    assert "pass-word" not in caught.value.message
    assert "the-secret" not in caught.value.message


def test_a_worker_that_ends_by_itself_does_not_wait_for_a_service_for_ever(
    place, monkeypatch
) -> None:
    monkeypatch.setattr("steelyard.app.service.worker_loop.ASK_EVERY_S", 0.001)
    monkeypatch.setattr("steelyard.app.service.worker_loop.LONGEST_SILENCE_S", 0.01)
    said: list[str] = []
    with pytest.raises(UnreachableError, match="does not answer"):
        WorkerLoop(ServiceClient("http://127.0.0.1:1/", "t"), place, said.append).run(once=True)
    assert len(said) == 1


@pytest.mark.parametrize("status", [404, 503])
def test_a_service_that_was_started_anew_is_found_at_its_new_address(
    answering, place, monkeypatch, status
) -> None:
    monkeypatch.setattr("steelyard.app.service.worker_loop.ASK_EVERY_S", 0.0)
    _, old = answering((status, b"not found"))
    server, new = answering((200, json.dumps(TAKEN).encode()), (204, b""))
    said: list[str] = []
    WorkerLoop(old, place, said.append, lambda: new.address).run(once=True)
    assert [path.rpartition("/")[2] for path in server.asked] == ["results", "next"]
    assert place_files(place) == []


def test_a_worker_that_begins_before_its_service_waits_for_it(
    answering, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("steelyard.app.service.worker_loop.ASK_EVERY_S", 0.0)
    server, there = answering((200, b'{"token": "own"}'))
    services = iter([ServiceClient("http://127.0.0.1:1/", "t"), there])
    said: list[str] = []
    place = WorkerPlace(str(tmp_path / "w"))
    own = enrolled_worker(lambda: next(services), HostFacts("w"), place, said.append)
    assert (own.address, own.token) == (there.address, "own")
    assert len(said) == 1
    assert len(server.asked) == 1
    nowhere = ServiceClient("http://127.0.0.1:1/", "t")
    with pytest.raises(UnreachableError):
        enrolled_worker(lambda: nowhere, HostFacts("w"), place, said.append, 0.0)
