"""A browser of the tests' own: it asks an application in this process, and keeps its cookies."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urljoin, urlsplit


@dataclass(frozen=True)
class Got:
    """An answer."""

    status: int
    headers: list[tuple[str, str]]
    data: bytes
    path: str

    @property
    def text(self) -> str:
        return self.data.decode()

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")

    def json(self):
        return json.loads(self.data)

    @property
    def csrf(self) -> str | None:
        """What its forms send back; None where it has no such form."""
        return Forms.of(self.text).csrf


BOUNDARY = "----TestFormBoundary"


def multipart(values, files) -> bytes:
    """The body of a form with files (RFC 7578)."""
    parts = []
    for name, value in values.items():
        for each in [value] if isinstance(value, str) else value:
            parts.append((f'name="{name}"', each.encode()))
    for name, (file_name, data) in files.items():
        parts.append((f'name="{name}"; filename="{file_name}"', data))
    told = b"".join(
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; {about}\r\n\r\n".encode() + data + b"\r\n"
        for about, data in parts
    )
    return told + f"--{BOUNDARY}--\r\n".encode()


class Forms(HTMLParser):
    """The forms and links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.csrf: str | None = None
        self.actions: list[str] = []
        self.links: list[str] = []

    @classmethod
    def of(cls, text: str) -> Forms:
        found = cls()
        found.feed(text)
        return found

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        if tag == "input" and told.get("name") == "csrf":
            self.csrf = told["value"]
        if tag == "form":
            self.actions.append(told.get("action") or "")
        if tag == "a":
            self.links.append(told["href"])


class Browser:
    """One person's.

    Parameters
    ----------
    app : ASGI application
    host : str
    """

    def __init__(self, app, host="bench.example", client="192.0.2.1"):
        self.app, self.host, self.client = app, host, client
        self.cookies: dict[str, str] = {}
        self.csrf = ""

    def get(self, path, **headers):
        return self.asks("GET", path, headers=headers)

    def post(self, path, fields=(), *, csrf=None, **headers):
        """Send a form, with what the pages of this browser gave it unless another is named."""
        values = {"csrf": self.csrf if csrf is None else csrf, **dict(fields)}
        headers = {"content-type": "application/x-www-form-urlencoded", **headers}
        return self.asks("POST", path, urlencode(values, doseq=True).encode(), headers)

    def sends(self, path, fields=(), files=(), *, csrf=None, **headers):
        """Send a form with files, each its name and content by its field, as browsers do."""
        values = {"csrf": self.csrf if csrf is None else csrf, **dict(fields)}
        body = multipart(values, dict(files))
        headers = {"content-type": f"multipart/form-data; boundary={BOUNDARY}", **headers}
        return self.asks("POST", path, body, headers)

    def calls(self, method, path, token, body=None):
        """A call of the API."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        data = b"" if body is None else data
        return self.asks(method, path, data, {"authorization": f"Bearer {token}"})

    def asks(self, method, path, body=b"", headers=()):
        got = asyncio.run(self._asked(method, path, body, dict(headers)))
        for value in (value for key, value in got.headers if key == "set-cookie"):
            for name, morsel in SimpleCookie(value).items():
                if morsel["max-age"] == "0":
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel.value
        if got.header("content-type").startswith("text/html"):
            self.csrf = self.csrf if got.csrf is None else got.csrf
        return got

    def follows(self, got):
        """Where an answer leads."""
        assert got.status == 303, (got.status, got.text)
        return self.get(urljoin(got.path, got.header("location")))

    async def _asked(self, method, path, body, headers):
        url = urlsplit(path)
        told = {"host": self.host, **{key.replace("_", "-"): str(v) for key, v in headers.items()}}
        if self.cookies:
            told["cookie"] = "; ".join(f"{key}={value}" for key, value in self.cookies.items())
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": url.path,
            "raw_path": url.path.encode(),
            "query_string": url.query.encode(),
            "root_path": "",
            "headers": [(key.encode(), value.encode()) for key, value in told.items()],
            "client": (self.client, 1),
            "server": ("127.0.0.1", 80),
        }
        sent = [{"type": "http.request", "body": body, "more_body": False}]
        answers = []

        async def receive():
            if sent:
                return sent.pop()
            # Whoever asked stays until the answer is whole.
            return await asyncio.get_running_loop().create_future()

        async def send(message):
            answers.append(message)

        await self.app(scope, receive, send)
        start = answers[0]
        pairs = [(key.decode().lower(), value.decode()) for key, value in start["headers"]]
        data = b"".join(each.get("body", b"") for each in answers[1:])
        return Got(start["status"], pairs, data, url.path)
