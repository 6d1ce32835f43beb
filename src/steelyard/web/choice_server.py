"""The server of the page of choices, on this machine alone."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from steelyard.analysis.states.benchmark_states import StatesResult, values_digest, with_choices
from steelyard.core.errors import SteelyardError
from steelyard.core.interruption import wait_until
from steelyard.store.choices import Choices, is_iteration, write_choices
from steelyard.web.local_server import LocalHandler, LocalServer

# One choice takes some tens of bytes and a label; more is no choice.
_LONGEST_BODY_BYTES = 64 * 1024


@dataclass
class Desk:
    """The choices as they are made, and the file that has them.

    Every choice is checked against the result and written before it is acknowledged.
    """

    result: StatesResult
    path: str
    chosen: dict[str, int]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def choose(self, label: str, iteration: int | None) -> None:
        """Keep a choice for an execution; None forgets the one that it has.

        Raises
        ------
        SteelyardError
            There is no such execution or iteration, or the file cannot be written.
        """
        with self.lock:
            changed = {name: at for name, at in self.chosen.items() if name != label}
            if iteration is not None:
                changed[label] = iteration
            with_choices(self.result, changed)
            write_choices(self.path, Choices(values_digest(self.result), changed))
            self.chosen = changed


def serve_choices(
    result: StatesResult, path: str, text: str, announce: Callable[[str], None]
) -> StatesResult:
    """Serve a page until the person is done, or interrupts; the result with the choices.

    Parameters
    ----------
    result : StatesResult
        With the choices of the file, where there is one.
    path : str
        The file that takes each choice as it is made.
    text : str
        The page.
    announce : callable
        Is told the address of the page, which has a secret of its own in it.
    """
    desk = Desk(result, path, dict(result.chosen))
    server = _ChoiceServer(desk, text)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        announce(server.address)
        wait_until(server.done.wait)
    except KeyboardInterrupt:
        pass
    finally:
        server.shutdown()
        server.server_close()
    return with_choices(result, desk.chosen)


class _ChoiceServer(LocalServer):
    """Serves one page below a secret path until `done` is set."""

    def __init__(self, desk: Desk, text: str) -> None:
        super().__init__(0, _Handler)
        self.desk = desk
        self.page = text.encode()
        self.done = threading.Event()


class _Handler(LocalHandler):
    """The page, and what it sends."""

    @property
    def _of(self) -> _ChoiceServer:
        return cast("_ChoiceServer", self.server)

    def show(self, path: str) -> None:
        if path == "":
            self.answer(200, self._of.page, "text/html; charset=utf-8")
        else:
            self.not_found()

    def take(self, path: str) -> None:
        body = self._body()
        if path not in ("choice", "done"):
            self.not_found()
        elif body is None:
            self.close_connection = True
            self._tell(400, "that is no choice")
        elif path == "done":
            try:
                self._tell(200, None)
            finally:
                self._of.done.set()
        else:
            self._choose(body)

    def _body(self) -> Any:
        """The JSON of a request; None where it is none, or too long to be read."""
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > _LONGEST_BODY_BYTES:
            self.close_connection = True
            return None
        data = self.rfile.read(int(length))
        if self.headers.get("Content-Type") != "application/json":
            return None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None

    def _choose(self, body: Any) -> None:
        fields = body if isinstance(body, dict) else {}
        label, iteration = fields.get("execution"), fields.get("iteration")
        if not isinstance(label, str) or not (iteration is None or is_iteration(iteration)):
            self._tell(400, "that is no choice")
            return
        try:
            self._of.desk.choose(label, iteration)
        except SteelyardError as error:
            self._tell(400, error.message)
            return
        self._tell(200, None)

    def _tell(self, status: int, message: str | None) -> None:
        answer = {"ok": True} if message is None else {"ok": False, "message": message}
        self.answer(status, json.dumps(answer).encode(), "application/json")
