"""Fetching: a file is taken, then compared, then unpacked; what is damaged mends itself."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from steelyard.core.errors import FetchError, SteelyardError
from steelyard.suite.fetch.package_index import IndexSettings, settings_of, take_file
from tests.integration.conftest import User

FILE = "prey-1.0.tar.gz"
RECIPE = """
name = "prey"
title = "Prey"
description = "A program for tests of fetching."
languages = ["c"]
licence = "MIT"
groups = ["native"]
traits = ["io"]

[source]
kind = "pypi"
artifacts = [{{ package = "prey", version = "1.0", size = {size}, sha256 = "{sha256}" }}]

[build]
script = "cp src/program.sh src/program && cp src/answer src/copy && grep -q 42 src/answer"
program = "src/program"

[changed]
argv = ["{{program}}", "x"]

[sizes.test]
argv = ["{{program}}"]
check = [{{ comparator = "sha256", expected = "{check}" }}]

[sizes.train]
argv = ["{{program}}"]
check = [{{ comparator = "sha256", expected = "{check}" }}]

[sizes.ref]
argv = ["{{program}}"]
check = [{{ comparator = "sha256", expected = "{check}" }}]
"""


def source(marker: Path) -> bytes:
    """A source distribution that leaves a mark when anybody runs any of it."""
    run = f"open({str(marker)!r}, 'w').close()\n"
    files = {
        "setup.py": run,
        "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\n"
        "backend-path = ['.']\n",
        "backend.py": run,
        "program.sh": "#!/bin/sh\necho 42\n",
        "answer": "42\n",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"prey-1.0/{name}")
            member.size, member.mode = len(text), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


class Index(ThreadingHTTPServer):
    """A package index of this machine, which counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.page = f'<a href="/files/{FILE}">{FILE}</a>'

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple"


class _Answers(BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path == "/simple/prey/":
            self._answer("text/html", self.server.page.encode())
        elif self.path.startswith("/files/"):
            self._answer("application/gzip", self.server.files[self.path[7:]])
        else:
            self.send_error(404)

    def _answer(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *_: object) -> None:
        pass


@pytest.fixture
def index():
    with Index() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def hunter(user: User, index: Index) -> User:
    """A user with a recipe of a program that the index has."""
    index.files[FILE] = source(user.home / "ran")
    sha256 = hashlib.sha256(index.files[FILE]).hexdigest()
    recipes = user.home / "data" / "steelyard" / "recipes"
    recipes.mkdir(parents=True)
    check = hashlib.sha256(b"42\n").hexdigest()
    size = len(index.files[FILE])
    text = RECIPE.format(sha256=sha256, check=check, size=size)
    (recipes / "prey.toml").write_text(text)
    alone = {"PIP_INDEX_URL": index.address, "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
    return User(user.home, {**user.environment, **alone})


def artifact(user: User) -> Path:
    return user.home / "cache" / "steelyard" / "suite" / "artifacts" / "prey" / "1.0" / FILE


def flip(path: Path, offset: int = -20) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


def test_nothing_of_a_source_is_run_by_fetching_it(hunter, index):
    told = hunter.types("suite", "fetch", "prey")
    assert told.status == 0, told.err
    assert artifact(hunter).read_bytes() == index.files[FILE]
    assert not (hunter.home / "ran").exists()


def test_a_source_that_was_changed_is_refused_before_anything_of_it_is_run(hunter, index):
    changed = bytearray(index.files[FILE])
    changed[4] ^= 1  # The header's time: it can still be unpacked.
    index.files[FILE] = bytes(changed)
    told = hunter.types("suite", "build", "prey")
    assert told.status == 3, told.err
    assert "SHA-256" in told.err
    assert not (hunter.home / "ran").exists()
    assert not artifact(hunter).exists()


def test_a_flipped_byte_in_the_cache_is_fetched_again_by_fetch(hunter, index):
    assert hunter.types("suite", "fetch", "prey").status == 0
    flip(artifact(hunter))
    assert hunter.types("suite", "fetch", "prey").status == 0
    assert artifact(hunter).read_bytes() == index.files[FILE]
    assert index.asked.count(f"/files/{FILE}") == 2


def test_a_flipped_byte_in_the_cache_is_fetched_again_by_a_build(hunter, index):
    assert hunter.types("suite", "fetch", "prey").status == 0
    flip(artifact(hunter))
    told = hunter.types("suite", "build", "prey")
    assert told.status == 0, told.out + told.err
    assert index.asked.count(f"/files/{FILE}") == 2


def test_a_flipped_byte_in_a_source_that_is_laid_out_is_mended_when_its_build_fails(hunter):
    assert hunter.types("suite", "build", "prey").status == 0
    (laid_out,) = (hunter.home / "cache/steelyard/suite/sources").glob("prey-*/src/answer")
    flip(laid_out, 0)
    told = hunter.types("suite", "run", "prey", "--size", "test")
    assert told.status == 0, told.out + told.err
    assert laid_out.read_text() == "42\n"


def test_without_an_index_the_reason_names_it_at_once(hunter, index):
    gone = User(hunter.home, {**hunter.environment, "PIP_INDEX_URL": "http://127.0.0.1:9/simple"})
    told = gone.types("suite", "fetch", "prey")
    assert told.status == 4
    assert "http://127.0.0.1:9/simple/prey/ cannot be read: Connection refused" in told.err


def test_a_password_of_an_index_is_sent_to_it_and_shown_to_nobody(hunter, index):
    address = index.address.replace("//", "//me:hush-hush@").replace("simple", "none")
    told = User(hunter.home, {**hunter.environment, "PIP_INDEX_URL": address}).types(
        "suite", "fetch", "prey"
    )
    assert told.status == 4
    assert "hush" not in told.out + told.err
    assert "Not Found" in told.err


def take(index: Index, tmp_path: Path, size_bytes: int | None = None) -> bytes:
    target = tmp_path / FILE
    take_file(IndexSettings((index.address,)), "prey", FILE, str(target), size_bytes)
    return target.read_bytes()


def test_no_more_is_read_than_the_recipe_says(index, tmp_path):
    index.files[FILE] = bytes(5_000_000)
    with pytest.raises(FetchError, match="larger than the recipe says"):
        take(index, tmp_path, 1000)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    "page", ["", "<a href='file:///etc/passwd'>x</a>", f"<a href='file:///{FILE}'>x</a>", "\0<"]
)
def test_an_index_that_has_no_such_file_or_one_of_this_machine_is_refused(index, tmp_path, page):
    index.page = page
    with pytest.raises(FetchError, match=FILE):
        take(index, tmp_path)


def test_settings_are_those_that_pip_tells():
    told = (
        "global.index-url='https://a/simple'\nglobal.cert='/c.pem'\n"
        ":env:.extra-index-url='https://b/simple https://c/simple'\n"
    )
    assert settings_of(told) == IndexSettings(
        ("https://a/simple", "https://b/simple", "https://c/simple"), (), "/c.pem"
    )
    assert settings_of("").indexes == ("https://pypi.org/simple",)
    assert settings_of("global.no-index='true'").indexes == ()


def test_an_archive_beside_a_description_is_compared_before_the_description_is_read(
    tmp_path, monkeypatch
):
    from steelyard.suite import prepare
    from steelyard.suite.known_recipes import RecipeRegistry
    from steelyard.suite.suite_cache import SuiteCache

    recipe = RecipeRegistry().get("lapack")
    cache = SuiteCache(str(tmp_path))
    (release, *_) = recipe.source.releases
    for one in release.artifacts:
        path = Path(cache.path("artifacts", recipe.name, release.version, one.file))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"changed")
    unpacked: list[str] = []
    monkeypatch.setattr(prepare, "unpack_debian", lambda path, target: unpacked.append(path))
    monkeypatch.setenv("PATH", str(tmp_path))  # No apt either: nothing can be fetched again.
    with pytest.raises(SteelyardError, match="apt"):
        prepare.prepared_source(cache, recipe)
    assert unpacked == []
