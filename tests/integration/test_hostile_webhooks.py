"""Servers that do not do what a webhook does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from steelyard.app.history import tell_alarms
from steelyard.core.errors import DataError


@contextmanager
def server(
    answer: bytes, *, drips: bool = False, asked: list[bytes] | None = None
) -> Iterator[str]:
    """One that gives this answer to everybody, all at once or byte by byte."""
    listening = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                (asked if asked is not None else []).append(connection.recv(65536))
                try:
                    for byte in answer if drips else ():
                        connection.sendall(bytes([byte]))
                        if ended.wait(0.05):
                            break
                    connection.sendall(b"" if drips else answer)
                except OSError:
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/hush-secret"
    finally:
        ended.set()
        listening.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\x01\x02\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200" + b"x" * 100_000,
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 300 + b"\r\n",
        b"HTTP/1.1 500 \x1b[2Jno\r\n\r\n",
    ],
)
def test_an_answer_that_is_none_is_one_error(answer):
    with server(answer) as address, pytest.raises(DataError) as raised:
        tell_alarms.post(address, "text", {})
    assert "hush" not in raised.value.message
    assert "\n" not in raised.value.message
    assert "did not take the alarms" in raised.value.message


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_what_is_told_is_not_redirected_and_counts_as_not_told(code):
    with server(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as other:
        answer = f"HTTP/1.1 {code} Moved\r\nLocation: {other}\r\nContent-Length: 0\r\n\r\n"
        with server(answer.encode()) as address, pytest.raises(DataError, match=str(code)):
            tell_alarms.post(address, "text", {})


def test_an_answer_byte_by_byte_is_not_waited_for_to_its_end(monkeypatch):
    monkeypatch.setattr(tell_alarms, "_TIMEOUT_S", 0.3)
    endless = server(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 10_000, drips=True)
    with endless as address, pytest.raises(DataError, match="no answer within"):
        tell_alarms.post(address, "text", {})


def test_an_answer_that_is_one_is_taken():
    asked: list[bytes] = []
    with server(b"HTTP/1.1 204 No Content\r\n\r\n", asked=asked) as address:
        tell_alarms.post(address, "what changed", {"kind": "changes"})
    (request,) = asked
    assert request.startswith(b"POST /hush-secret HTTP/1.")
    assert b"\r\nContent-Length: " in request
