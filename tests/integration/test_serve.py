"""`steelyard serve`: the store in a browser, for who has the address."""

from __future__ import annotations

import http.client
import json
import os
import signal
from urllib.parse import urlsplit

import pytest

from tests.integration.conftest import validate
from tests.integration.killing import waiting_in
from tests.patience import PATIENCE_S, awaited, line_of


class Served:
    """A server that runs, and what it answers."""

    def __init__(self, user, *words):
        self.process = user.start("serve", "--port", "0", *words)
        line = line_of(self.process, "stderr").decode()
        assert line.startswith("steelyard: http://127.0.0.1:"), line
        self.url = urlsplit(line.split()[1])

    def asks(self, path, method="GET", host=None, root=None):
        connection = http.client.HTTPConnection(self.url.netloc, timeout=PATIENCE_S)
        headers = {"Host": host or self.url.netloc}
        connection.request(method, (root or self.url.path) + path, headers=headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, response.getheader("Content-Type"), body.decode()

    def ends(self, number=signal.SIGINT):
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, err.decode()


@pytest.fixture
def served(user):
    running = Served(user)
    yield running
    if running.process.poll() is None:
        running.ends()


def measured(user, *words):
    # The worker of the service measures its host once at the start.
    told = user.types("measure", "--wait", "--runs", "3", "--json", "-", *words, "--", "true")
    assert told.status == 0, told.err
    return told.document()["experiment"]


def test_an_experiment_is_listed_and_shown_as_soon_as_it_is_in_the_store(user, served):
    assert "no experiment yet" in served.asks("")[2]
    identifier = measured(user, "--note", "a <b> & c")
    status, kind, page = served.asks("")
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert f'href="experiments/{identifier}"' in page
    assert "a &lt;b&gt; &amp; c" in page
    for name in (identifier, identifier[:10].lower(), "latest"):
        status, _, page = served.asks(f"experiments/{name}")
        assert status == 200
        assert identifier in page
    document = json.loads(served.asks(f"experiments/{identifier}.json")[2])
    validate(document)
    assert document["experiment"] == identifier
    listing = json.loads(served.asks("experiments.json")[2])
    validate(listing)
    assert [each["experiment"] for each in listing["experiments"]] == [identifier]


def test_a_running_experiment_is_shown_with_the_trials_so_far(user, script, served):
    process = user.start("measure", "--runs", "9", "--", script(waiting_in(5) + "exit 0"))
    awaited((user.home / "waiting").exists, process)
    page = served.asks("")[2]
    assert '<meta http-equiv="refresh"' in page
    assert ">running<" in page
    status, _, text = served.asks("experiments/latest.json")
    assert status == 200, text
    assert json.loads(text)["variants"][0]["repetitions"]["execution"] == 4
    assert served.asks("experiments/latest")[0] == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    page = served.asks("")[2]
    assert '<meta http-equiv="refresh"' not in page
    assert ">interrupted<" in page


def test_the_history_is_linked_and_shown_where_there_is_one(user, served):
    assert 'href="history"' not in served.asks("")[2]
    rows = "".join(f"sort,time,{n},{100 + n % 3 + 20 * (n > 30)}\n" for n in range(46))
    (user.home / "t.csv").write_text("series,metric,revision,value\n" + rows)
    assert user.types("history", "add", "t.csv").status == 0
    assert 'href="history"' in served.asks("")[2]
    status, _, page = served.asks("history")
    assert status == 200
    assert "sort time" in page
    document = json.loads(served.asks("history.json")[2])
    validate(document)
    assert [change["kind"] for change in document["changes"]] == ["step"]


def test_who_lacks_the_secret_or_calls_another_name_finds_nothing(user, served):
    measured(user)
    for root, host in (
        ("/", None),
        ("/x/", None),
        (served.url.path[:-2] + "/", None),
        (served.url.path.rstrip("/"), None),
        (None, "evil.example"),
        (None, f"localhost:{served.url.port}"),
    ):
        assert served.asks("", host=host, root=root)[::2] == (404, "not found")
    for path in (
        "../",
        "..%2f..%2fetc/passwd",
        "experiments/",
        "experiments/a/b",
        "history/",
        "%00",
    ):
        assert served.asks(path)[0] == 404
    assert served.asks("experiments/01ZZZZZZ")[0] == 404
    for method, status in (("POST", 404), ("PUT", 404), ("DELETE", 404)):
        assert served.asks("", method=method)[0] == status
    assert served.asks("", method="HEAD")[::2] == (200, "")


def test_secrets_of_commands_are_not_shown(user, served):
    told = user.types(
        *("measure", "--runs", "3", "--env", "API_TOKEN=hunter2hunter2", "--json", "-"),
        *("--", "true", "--password", "hunter3hunter3"),
    )
    identifier = told.document()["experiment"]
    paths = ("", "experiments.json", f"experiments/{identifier}", f"experiments/{identifier}.json")
    pages = {path: served.asks(path)[2] for path in paths}
    assert all(identifier in page for page in pages.values())
    assert all("--password ***" in pages[path] for path in paths[2:3])
    assert not [path for path, page in pages.items() if "hunter" in page]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_without_an_error(user, number):
    assert Served(user).ends(number) == (0, "")


def test_a_port_that_is_taken_is_one_clear_error(user, served):
    told = user.types("serve", "--port", str(served.url.port))
    assert told.status == 2
    assert told.err == (
        f"steelyard: error: Port {served.url.port} cannot be used: Address already in use. "
        "--port 0 takes one that is free.\n"
    )


def test_a_damaged_store_is_one_clear_error_at_the_start_and_later(user, served):
    path = user.home / "bad.sqlite"
    path.write_bytes(b"SQLite format 3\0" + os.urandom(4096))
    told = user.types("serve", "--port", "0", "--store", str(path))
    assert told.status == 2
    assert "Traceback" not in told.err
    identifier = measured(user)
    (store,) = user.home.glob("data/steelyard/*.sqlite")
    store.write_bytes(b"nothing" * 1000)
    status, _, text = served.asks(f"experiments/{identifier}")
    assert status == 500
    assert "Traceback" not in text
    assert served.process.poll() is None
