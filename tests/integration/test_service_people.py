"""A service that people sign in to, by its command: they get in, send, show and take away."""

from __future__ import annotations

import http.client
import json
import re
import socket
from urllib.parse import urlencode, urlsplit

import pytest

from tests.integration.test_service import FILE, Served, serving, written  # noqa: F401 - a fixture
from tests.patience import PATIENCE_S, line_of

PASSWORD = "correct horse battery"


class Shared(Served):
    """A service with a sign-in, and the link of its first administrator while there is none."""

    def __init__(self, user, *words, more="", is_new=True, **options):
        settings = user.home / "service.toml"
        settings.write_text(f"[service]\nsign_in = true\nworker = false\n{more}")
        super().__init__(user, "--config", "service.toml", *words, **options)
        if is_new:
            said = line_of(self.process, "stderr").decode()
            self.link = re.search(r"http://\S*/welcome/\S*", said)[0]

    def browses(self, method, address, fields=None, cookie=""):
        """What a page answers: status, headers and text."""
        url = urlsplit(address if "://" in address else self.address + address)
        connection = http.client.HTTPConnection(url.netloc, timeout=PATIENCE_S)
        headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, url.path, urlencode(fields or {}), headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, response, text


@pytest.fixture
def shared(user):
    found = Shared(user)
    yield found
    if found.process.poll() is None:
        found.ends()


def signed_in(shared):
    """The cookie of the first administrator."""
    fields = {"name": "eve", "password": PASSWORD, "again": PASSWORD}
    status, response, text = shared.browses("POST", shared.link, fields)
    assert status == 303, text
    return response.getheader("Set-Cookie").partition(";")[0]


def test_the_first_administrator_gets_in_once_and_the_journal_has_no_other_secret(shared) -> None:
    cookie = signed_in(shared)
    assert "Sign out eve" in shared.browses("GET", "people", cookie=cookie)[2]
    assert shared.browses("GET", shared.link)[0] == 401
    assert shared.browses("GET", "people")[0] == 303
    assert shared.browses("GET", "people", cookie=f"{cookie}x")[0] == 303
    status, said = shared.ends()
    assert status == 0
    assert PASSWORD not in said
    assert cookie.partition("=")[2] not in said


def test_an_experiment_is_imported_by_its_address_by_whom_it_is_shown_to(user, shared) -> None:
    cookie = signed_in(shared)
    assert user.types("worker", "--once", "--name", "w").status == 0
    told = user.types("submit", written(user), "--json", "-")
    identifier = told.document()["experiment"]
    assert user.types("worker", "--once", "--name", "w").status == 0
    assert shared.ended(identifier)["committed"] == 4
    page = f"{shared.address}service/{identifier}"
    told = user.types("import", page)
    assert (told.status, "404" in told.err) == (2, True), told.err
    (user.home / "token").write_text(shared.token)
    told = user.types("import", page, "--token-file", "token")
    assert (told.status, told.out.strip()) == (0, identifier), told.err
    assert user.types("experiment", "analyze", identifier).status == 0
    csrf = re.search(r'name="csrf" value="([^"]+)"', shared.browses("GET", page, None, cookie)[2])
    fields = {"visibility": "public", "csrf": csrf[1]}
    assert shared.browses("POST", f"{page}/visibility", fields, cookie)[0] == 303
    told = user.types("import", f"{page}/answer", "--store", "other.sqlite")
    assert (told.status, told.out.strip()) == (0, identifier), told.err
    assert "Fork it" in shared.browses("GET", page, cookie=cookie)[2]
    assert "Fork it" not in shared.browses("GET", page)[2]
    fork = shared.browses("GET", f"service/new?from={identifier}", cookie=cookie)
    assert fork[0] == 200
    for wrong in (shared.address, f"{shared.address}service/none", "http://[", "https://"):
        told = user.types("import", wrong)
        assert (told.status, "address of an experiment" in told.err) == (2, True), told.err
    told = user.types("import", "http://127.0.0.1:9/service/" + identifier)
    assert (told.status, "does not answer" in told.err) == (4, True)


def test_on_a_laptop_the_address_alone_is_enough_to_import(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    assert user.types("worker", "--once", "--name", "w").status == 0
    identifier = user.types("submit", written(user), "--json", "-").document()["experiment"]
    assert user.types("worker", "--once", "--name", "w").status == 0
    assert served.ended(identifier)["committed"] == 4
    told = user.types("import", f"{served.address}service/{identifier}")
    assert (told.status, told.out.strip()) == (0, identifier), told.err


def test_idle_connections_keep_nobody_out_before_the_hard_limit_of_open_files(user) -> None:
    # This process may have more open by itself, so that the service alone gets the limit.
    found = Shared(user, prefix=("/bin/sh", "-c", 'ulimit -Sn 64; exec "$@"', "sh"))
    where = (found.url.hostname, found.url.port)
    idle = [socket.create_connection(where, PATIENCE_S) for _ in range(100)]
    try:
        assert found.browses("GET", found.link)[0] == 200
    finally:
        for each in idle:
            each.close()
        found.ends()


def test_a_link_for_an_administrator_is_made_without_the_service(user, shared) -> None:
    (user.home / "fixed.toml").write_text('[service]\naddress = "https://bench.example/x"\n')
    told = user.types("serve", "--config", "fixed.toml", "--invite")
    assert told.status == 0, told.err
    assert told.out.startswith("https://bench.example/x/welcome/")
    path = "welcome/" + told.out.strip().rpartition("/")[2]
    assert "an administrator of this service" in shared.browses("GET", path)[2]
    told = user.types("serve", "--invite")
    assert (told.status, "nobody signs in" in told.err) == (2, True)
    told = user.types("serve", "--config", "service.toml", "--invite", "--port", "0")
    assert (told.status, "port" in told.err) == (2, True)


def test_what_a_deployment_lacks_is_said_with_its_status(user) -> None:
    told = user.types("serve", "--check", "--port", "0")
    assert (told.status, "MISSING" in told.out) == (0, False), told.out
    (user.home / "s.toml").write_text('[service]\naddress = "http://127.0.0.1:9/"\nport = 0\n')
    told = user.types("serve", "--check", "--config", "s.toml")
    assert (told.status, "nothing answers" in told.out) == (4, True)
    assert "things are missing: address, people" in told.err


def test_the_file_of_a_fork_is_sent_as_it_was(user, shared) -> None:
    cookie = signed_in(shared)
    shared.enrols("w")
    text = FILE.format(command='"true"', runs=1, hosts="")
    status, told = shared.asks("POST", "api/experiments", {"file": text, "visibility": "shared"})
    identifier = json.loads(told)["experiment"]
    assert status == 200
    url = f"{shared.url.path}service/new?from={identifier}"
    connection = http.client.HTTPConnection(shared.url.netloc, timeout=PATIENCE_S)
    connection.request("GET", url, headers={"Cookie": cookie})
    page = connection.getresponse().read().decode()
    connection.close()
    assert "a &amp; b" in page
    assert '<option value="shared" selected>' in page
