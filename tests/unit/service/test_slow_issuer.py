"""An issuer that hangs, drips or floods holds a sign-in up for a limited time, and only some."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress

import pytest

from steelyard.service import issuer
from steelyard.service.issuer import IssuerError, discover
from tests.patience import PATIENCE_S

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def answering(talk):
    """A server that lets `talk` have each connection and an event that is set at the end."""
    is_over = threading.Event()

    def serve():
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=one, args=(connection,), daemon=True).start()

    def one(connection):
        with connection, suppress(OSError):
            talk(connection, is_over)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            is_over.set()


def says_nothing(_connection, is_over):
    is_over.wait(PATIENCE_S)


def drips_its_head(connection, is_over):
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Endless: ")
    while not is_over.wait(0.02):
        connection.sendall(b"x")


def drips_its_body(connection, is_over):
    connection.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
    while not is_over.wait(0.02):
        connection.sendall(b" ")


def floods(connection, _is_over):
    connection.recv(1 << 16)
    connection.sendall(HEAD + b"\r\n" + b" " * (10 << 20))


@pytest.mark.parametrize(
    ("talk", "told"),
    [
        (says_nothing, "does not answer"),
        (drips_its_head, "takes longer than"),
        (drips_its_body, "takes longer than"),
        (floods, "sends more than 1 MiB"),
    ],
)
def test_an_issuer_is_waited_for_a_limited_time_in_all(monkeypatch, talk, told) -> None:
    monkeypatch.setattr(issuer, "_PATIENCE_S", 30.0 if talk is floods else 0.5)
    with answering(talk) as address, pytest.raises(IssuerError, match=told):
        discover(address)


def test_an_issuer_that_hangs_holds_some_threads_and_not_all(monkeypatch) -> None:
    monkeypatch.setattr(issuer, "_AT_ONCE", threading.BoundedSemaphore(1))
    is_there = threading.Event()

    def hangs(_connection, is_over):
        is_there.set()
        is_over.wait(PATIENCE_S)

    first = []

    def asks(address):
        with pytest.raises(IssuerError) as error:
            discover(address)
        first.append(error.value.message)

    with answering(hangs) as address:
        thread = threading.Thread(target=asks, args=(address,))
        thread.start()
        assert is_there.wait(PATIENCE_S)
        with pytest.raises(IssuerError, match="others are waiting for it"):
            discover(address)
        assert not first
    thread.join(PATIENCE_S)
    assert "does not answer" in first[0]
