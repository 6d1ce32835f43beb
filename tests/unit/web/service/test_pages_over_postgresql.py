"""The pages that ask most of the database give the same over PostgreSQL."""

from __future__ import annotations

import io
import re
import tarfile
import tomllib
from html import unescape

import pytest

from steelyard.service.submissions import find_submission
from tests.packages import package
from tests.postgresql import cluster, fresh_database
from tests.unit.web.service.conftest import service_over
from tests.unit.web.service.test_facets import once_drawn


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A service over PostgreSQL, in place of SQLite."""
    with cluster() as directory, fresh_database(directory, "pages") as address:
        found = service_over(address, tmp_path, monkeypatch)
        yield found
        found.service.database.close()


def test_facets_downloads_a_package_and_builds_of_the_form(shared, tmp_path) -> None:
    ada = shared.account("ada")
    identifier = shared.sent(ada)
    browser = shared.browser(ada)
    facets = once_drawn(browser, f"/service/{identifier}/facets")
    assert facets.status == 200
    assert "environment-size" in facets.text
    table = browser.get(f"/service/{identifier}/download/csv").text
    header = table.partition("\n")[0].split(",")
    assert {"worker", "platform"} <= set(header)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as packed:
        packed.add(package(tmp_path / "p"), ".")
    browser.get("/service/new")
    fields = {"by": "fields", "ask": "send", "replicates": "2", "builds": "platform"}
    got = browser.sends("/service/new", fields, {"archive": ("p.tar", data.getvalue())})
    assert got.status == 303, got.text
    with shared.service.database.reading() as connection:
        sent = find_submission(connection, got.header("location"))
    assert tomllib.loads(sent.file)["hosts"]["builds"] == "platform"
    page = browser.sends("/service/new", {**fields, "ask": "plan", "command": "true"}).text
    chosen = re.search(r'<option value="platform" selected>([^<]*)', page)
    assert unescape(chosen[1]) == "one of each platform"
