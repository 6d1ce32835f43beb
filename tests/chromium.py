"""A real browser that tests lead by its debugging pipe: it clicks, types and downloads."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.needs import needed
from tests.patience import PATIENCE_S

# Where an element is that can be clicked, after it was brought into view.
_PLACE = """(() => {{
  const found = [...document.querySelectorAll({selector})].find(
    each => each.textContent.includes({text}) || each.value === {text});
  if (!found) return null;
  found.scrollIntoView({{block: "center", behavior: "instant"}});
  const box = found.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
}})()"""

# The answer to what was asked of a page that another has replaced meanwhile.
_LEFT = "Inspected target navigated or closed"


def chromium_program() -> str:
    """The program, or a skip that says what is missing."""
    return shutil.which("chromium-browser") or needed("chromium")


class Chromium:
    """A page of a browser.

    Parameters
    ----------
    asked, answers : int
        Descriptors of the pipe: what is asked, and what comes back.
    downloads : Path
        Where files go that are downloaded.
    """

    def __init__(self, asked: int, answers: int, downloads: Path) -> None:
        self._asked, self._answers = asked, answers
        self._number, self._rest, self._session = 0, b"", ""
        target = self.calls("Target.createTarget", url="about:blank")["targetId"]
        attached = self.calls("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.calls("Page.enable")
        self.calls("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def calls(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What a command of the DevTools protocol answers."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._asked, json.dumps(message).encode() + b"\0")
        while True:
            told = self._message()
            if told.get("id") == self._number:
                if told.get("error", {}).get("message") == _LEFT:
                    return {"result": {}}
                assert "error" not in told, told
                return told["result"]

    def _message(self) -> dict[str, Any]:
        deadline_s = time.monotonic() + PATIENCE_S
        while b"\0" not in self._rest:
            left_s = deadline_s - time.monotonic()
            assert left_s > 0, "the browser does not answer"
            if select.select([self._answers], [], [], left_s)[0]:
                data = os.read(self._answers, 1 << 16)
                assert data, "the browser has ended"
                self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript is on the page."""
        told = self.calls("Runtime.evaluate", expression=expression, returnByValue=True)
        return told["result"].get("value")

    def waits(self, expression: str) -> Any:
        """The same, once it is something."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not (found := self.value(expression)):
            shown = self.value("document.body && document.body.innerText")
            assert time.monotonic() < deadline_s, f"{expression} did not come: {shown}"
            time.sleep(0.05)
        return found

    def opens(self, address: str) -> None:
        """Go to a page, and wait until it is there."""
        self.calls("Page.navigate", url=address)
        self.waits('document.readyState === "complete"')

    def is_sized(self, width: int, height: int) -> None:
        """Give the window a size, in pixels."""
        about = {"deviceScaleFactor": 1, "mobile": False}
        self.calls("Emulation.setDeviceMetricsOverride", width=width, height=height, **about)

    def picture(self, path: Path) -> None:
        """Write what the window shows as PNG."""
        told = self.calls("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(told["data"]))

    def shows(self, text: str) -> None:
        """Wait until a page says something."""
        self.waits(f"document.body && document.body.innerText.includes({json.dumps(text)})")

    def clicks(self, selector: str, text: str = "") -> None:
        """Press the mouse on what a selector finds, of which `text` is a part or the value."""
        told = {"selector": json.dumps(selector), "text": json.dumps(text)}
        x, y = self.waits(_PLACE.format(**told))
        for kind in ("mousePressed", "mouseReleased"):
            about = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
            self.calls("Input.dispatchMouseEvent", **about)

    def types(self, selector: str, text: str) -> None:
        """Put text into a field in place of what is there."""
        self.waits(f"document.querySelector({json.dumps(selector)}) !== null")
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        self.value(f"document.querySelector({json.dumps(selector)}).select()")
        self.calls("Input.insertText", text=text)

    def chooses_file(self, selector: str, path: Path) -> None:
        """Choose a file, as the dialog of a browser does."""
        root = self.calls("DOM.getDocument")["root"]["nodeId"]
        found = self.calls("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.calls("DOM.setFileInputFiles", files=[str(path)], nodeId=found)

    def chooses(self, selector: str, value: str) -> None:
        """Choose an option of a list."""
        told = json.dumps(selector), json.dumps(value)
        self.waits(
            "(e => e && (e.value = {1}, e.value === {1}))(document.querySelector({0}))".format(
                *told
            )
        )


@contextmanager
def browser(home: Path, downloads: Path) -> Iterator[Chromium]:
    """A browser that runs meanwhile, with its files in `home`."""
    program = chromium_program()
    asked, answers = os.pipe(), os.pipe()
    options = (
        "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage "
        "--disable-extensions --disable-background-networking --remote-debugging-pipe"
    )
    script = f'exec "$0" {options} "--user-data-dir={home}" 3<&{asked[0]} 4>&{answers[1]}'
    process = subprocess.Popen(
        ["bash", "-c", script, program],
        pass_fds=(asked[0], answers[1]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(asked[0])
    os.close(answers[1])
    try:
        yield Chromium(asked[1], answers[0], downloads)
    finally:
        os.close(asked[1])
        os.close(answers[0])
        process.terminate()
        process.wait(PATIENCE_S)
