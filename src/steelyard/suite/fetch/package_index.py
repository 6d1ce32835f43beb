"""Files of Python package indexes, taken as they are: pip would run what is in a source package.

``pip download`` of a source distribution asks it for its metadata, by running it, before anything
is compared. The indexes, certificates and folders that the user has set up for pip hold here too;
proxies are those of the environment. Indexes answer as PEP 503 or PEP 691 says.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import re
import shutil
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from http.client import HTTPException
from typing import Any

from steelyard.core.errors import FetchError
from steelyard.core.masking import mask_text

USUAL_INDEX = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.2"
_TIMEOUT_S = 20.0
_PAGE_BYTES = 64 * 2**20
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class IndexSettings:
    """What the user has set up for pip.

    Parameters
    ----------
    indexes : tuple of str
        Addresses of indexes, the first one first.
    folders : tuple of str
        Directories with files.
    certificate : str or None
        A file with certificates.
    """

    indexes: tuple[str, ...] = (USUAL_INDEX,)
    folders: tuple[str, ...] = ()
    certificate: str | None = None


def settings_of(configuration: str) -> IndexSettings:
    """The settings that ``pip config list`` tells; those of the environment come last in it."""
    found: dict[str, str] = {}
    for line in configuration.splitlines():
        match = re.match(r"^(?:global|download|:env:)\.([\w-]+)=('.*'|\".*\")$", line.strip())
        if match is not None:
            found[match[1]] = ast.literal_eval(match[2])
    indexes = [] if found.get("no-index", "0") in ("1", "true") else [USUAL_INDEX]
    if indexes and found.get("index-url"):
        indexes = [found["index-url"]]
    indexes += found.get("extra-index-url", "").split()
    folders = [place for place in found.get("find-links", "").split() if os.path.isdir(place)]
    return IndexSettings(tuple(indexes), tuple(folders), found.get("cert") or None)


def take_file(
    settings: IndexSettings, package: str, file: str, target: str, size_bytes: int | None
) -> None:
    """Put a file of a package at the path `target`, unread.

    Parameters
    ----------
    size_bytes : int or None
        How large it is to be; more is not read.

    Raises
    ------
    FetchError
        No index has it, or none can be reached.
    """
    for folder in settings.folders:
        if os.path.isfile(os.path.join(folder, file)):
            shutil.copyfile(os.path.join(folder, file), target)
            return
    failures: list[str] = []
    for index in settings.indexes:
        page = f"{index.rstrip('/')}/{_normal(package)}/"
        try:
            address = _address(page, file, settings)
            if address is not None:
                _download(address, target, settings, size_bytes)
                return
            failures.append(f"{page} has no {file}")
        except (OSError, ValueError, KeyError, TypeError, HTTPException) as error:
            failures.append(f"{page} cannot be read: {_reason(error)}")
    told = mask_text("; ".join(failures) or "pip is configured to use no index")
    raise FetchError(f"{file} of {package} could not be had: {told}.")


def _normal(package: str) -> str:
    """The name as indexes have it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", package).lower()


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return str(getattr(reason, "strerror", None) or reason)


def _address(page: str, file: str, settings: IndexSettings) -> str | None:
    """Where the index says that the file is."""
    with _opened(page, settings) as answer:
        kind = answer.headers.get_content_type()
        content = answer.read(_PAGE_BYTES)
        base = answer.geturl()
    for name, address in _files(kind, content):
        if name == file:
            found = urllib.parse.urljoin(base, address)
            if urllib.parse.urlsplit(found).scheme not in _allowed(page):
                raise ValueError(f"it names the address {found!r}")
            return found
    return None


def _allowed(page: str) -> tuple[str, ...]:
    """An index of the network has no files of this machine."""
    return ("http", "https", "file") if page.startswith("file:") else ("http", "https")


def _files(kind: str, content: bytes) -> Iterator[tuple[str, str]]:
    """The names of files and their addresses."""
    if kind.endswith("json"):
        document: Any = json.loads(content)
        for entry in document["files"] if isinstance(document, dict) else ():
            yield str(entry["filename"]), str(entry["url"])
        return
    links = _Links()
    links.feed(content.decode("utf-8", "replace"))
    for address in links.found:
        path = urllib.parse.urlsplit(address).path
        yield urllib.parse.unquote(path.rpartition("/")[2]), address.partition("#")[0]


class _Links(HTMLParser):
    """The addresses of links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def _download(address: str, target: str, settings: IndexSettings, size_bytes: int | None) -> None:
    partial = f"{target}.partial"
    left_bytes = _PAGE_BYTES * 16 if size_bytes is None else size_bytes
    with _opened(address, settings) as answer, open(partial, "wb") as file:
        while chunk := answer.read(_CHUNK_BYTES):
            left_bytes -= len(chunk)
            if left_bytes < 0:
                raise ValueError(f"{address} is larger than the recipe says")
            file.write(chunk)
    os.replace(partial, target)


def _opened(address: str, settings: IndexSettings) -> Any:
    parts = urllib.parse.urlsplit(address)
    headers = {"Accept": _ACCEPT, "User-Agent": "steelyard"}
    if parts.username:
        user = urllib.parse.unquote(parts.username)
        password = urllib.parse.unquote(parts.password or "")
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        headers["Authorization"] = f"Basic {token}"
        parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    request = urllib.request.Request(urllib.parse.urlunsplit(parts), headers=headers)
    context = ssl.create_default_context(cafile=settings.certificate)
    return urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=context)
