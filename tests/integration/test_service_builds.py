"""Builds that one worker makes for all of its platform: fetched, checked, told, and refused."""

from __future__ import annotations

import hashlib
import json
import signal

import pytest

from tests.integration.conftest import User
from tests.integration.test_service import sent, serving  # noqa: F401 - a fixture
from tests.needs import need
from tests.patience import PATIENCE_S, awaited

FILE = """\
[experiment]
name = "shared"
seed = 5
runs = 2

[[benchmark]]
name = "b"
source = "{source}"
build = "{build}"
command = "{{build}}/program"

[[factor]]
factor = "flags"
levels = ["-O1", "-O2"]

[hosts]
factors = {{worker = "100%"}}
builds = "platform"
require = {{name = ["one", "two", "liar"]}}
"""
# Each build writes down who made it.
BUILD = "sh -e build.sh"
SCRIPT = 'echo "$HOME $CFLAGS" >> {log}\n{more}\n$CC $CFLAGS program.c -o program\n'
SOURCE = "int main(void) { return 0; }\n"
FAILS = 'case "$CFLAGS" in *-O2*) echo "no such level" >&2; exit 3;; esac'
BOUND = "pwd > where"


@pytest.fixture
def hosting(user, serving):  # noqa: F811
    """Makes hosts, of which none is left."""
    made = []

    def host(more=""):
        made.append(Hosts(user, serving("--no-worker"), more))
        return made[-1]

    yield host
    for process in (process for each in made for process in each.started):
        process.kill()
        process.communicate()


class Hosts:
    """A service, and workers each with a home and caches of its own."""

    def __init__(self, user, served, more=""):
        need("gcc")
        self.user = user
        self.served = served
        self.started = []
        self.log = user.home / "built"
        self.source = user.home / "source"
        self.source.mkdir()
        (self.source / "program.c").write_text(SOURCE)
        (self.source / "build.sh").write_text(SCRIPT.format(log=self.log, more=more))
        self.users = {name: self._user(name) for name in ("one", "two")}
        for name in self.users:
            self.works(name)

    def _user(self, name):
        home = self.user.home / name
        home.mkdir()
        own = {f"XDG_{each}_HOME": str(home / each) for each in ("STATE", "CACHE", "CONFIG")}
        return User(home, {**self.user.environment, **own, "HOME": str(home), "CC": "gcc"})

    def is_built_for(self, name):
        """A worker that builds for others until it is ended."""
        home = self._user(name)
        words = ("--name", name, "--directory", name, "--tag", "build-host")
        process = home.start("worker", *words)
        self.started.append(process)
        awaited(
            lambda: any(
                (each["worker"], each["status"]) == (name, "idle")
                for each in self.served.gets("api/workers")["workers"]
            )
        )
        return process

    def works(self, name):
        told = self.users[name].types("worker", "--once", "--name", name, "--directory", name)
        assert told.status == 0, told.err
        return told.err

    def sends(self):
        path = self.user.home / "e.toml"
        path.write_text(FILE.format(source=self.source, build=BUILD))
        return sent(self.user, str(path))["experiment"]

    def builds(self):
        """Who has made a build, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.split()[0].rpartition("/")[2] for line in lines]

    def answer(self, identifier):
        assert self.served.ended(identifier)["state"] == "done"
        return self.served.gets(f"api/experiments/{identifier}/trials")


def test_what_one_worker_builds_the_others_of_its_platform_fetch(hosting) -> None:
    hosts = hosting()
    identifier = hosts.sends()
    hosts.works("one")
    assert hosts.builds() == ["one", "one"]
    assert "took the build that one made" in hosts.works("two")
    assert hosts.builds() == ["one", "one"]
    found = hosts.answer(identifier)
    assert [each["status"] for each in found["trials"]] == ["ok"] * 8
    told = found["provenance"]["shared_builds"]
    assert {(each["worker"], each["used_by"]) for each in told} == {("one", "one"), ("one", "two")}
    assert all(len(each["sha256"]) == 64 for each in told)
    assert sorted(block for each in told for block in each["blocks"]) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_build_that_fails_is_tried_once_and_fails_its_level_everywhere(hosting) -> None:
    hosts = hosting(FAILS)
    identifier = hosts.sends()
    hosts.works("one")
    hosts.works("two")
    assert hosts.builds() == ["one", "one"]
    found = hosts.answer(identifier)
    levels = [dict(each["parameters"])["flags"] for each in found["experiment"]["variants"]]
    failed = [each for each in found["trials"] if each["status"] != "ok"]
    assert [levels[each["variant"]] for each in failed] == ["-O2"] * 4
    assert {each["reason"] for each in failed} == {"build"}
    assert all("no such level" in each["details"]["error"] for each in failed)
    # All but the one where it was tried.
    assert sum("by the worker one" in each["details"]["error"] for each in failed) == 3


def test_a_build_that_holds_its_place_is_made_where_it_is_used(hosting) -> None:
    hosts = hosting(BOUND)
    identifier = hosts.sends()
    hosts.works("one")
    assert "its where holds the place where it was made" in hosts.works("two")
    assert hosts.builds() == ["one", "one", "two", "two"]
    found = hosts.answer(identifier)
    assert {each["status"] for each in found["trials"]} == {"ok"}
    told = found["provenance"]["shared_builds"]
    assert {each["used_by"]: "built_here" in each for each in told} == {"one": False, "two": True}


def test_a_build_that_was_damaged_is_refused_and_made_anew(hosting) -> None:
    hosts = hosting()
    identifier = hosts.sends()
    hosts.works("one")
    kept = list(hosts.user.home.glob("data/steelyard/*.service/builds/??/*"))
    assert len(kept) == 2
    for path in kept:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    assert "its bytes are not those of its digest" in hosts.works("two")
    assert hosts.builds() == ["one", "one", "two", "two"]
    found = hosts.answer(identifier)
    told = found["provenance"]["shared_builds"]
    assert {(each["worker"], each["used_by"]) for each in told} == {("one", "one"), ("two", "two")}
    assert {each["status"] for each in hosts.served.gets("api/workers")["workers"]} <= {
        "idle",
        "reserved",
    }


def test_a_worker_whose_builds_are_not_what_they_say_is_set_aside(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    token = served.enrols("liar")
    hosts_of = FILE.format(source=user.home, build=BUILD)
    (user.home / "e.toml").write_text(hosts_of)
    sent(user, str(user.home / "e.toml"))
    for key in "0" * 32, "1" * 32, "2" * 32:
        status, text = served.asks("POST", "api/worker/next", {}, token=token)
        assert status == 200
        given = json.loads(text)
        asked = {"part": given["part"], "attempt": given["attempt"], "key": key}
        status, text = served.asks("POST", "api/worker/builds/wanted", asked, token=token)
        assert (status, json.loads(text)["do"]) == (200, "make")
        lie = "no archive at all"
        digest = hashlib.sha256(lie.encode()).hexdigest()
        place = f"api/worker/builds/{given['part']}/{given['attempt']}/{key}?sha256={digest}"
        status, text = served.asks("POST", place, lie, token=token)
        assert (status, json.loads(text)["kept"]) == (200, False)
    (worker,) = served.gets("api/workers")["workers"]
    assert worker["status"] == "quarantined"
    assert "the build that it sent is refused" in worker["reason"]


def test_a_build_host_builds_for_all_of_its_platform(hosting) -> None:
    hosts = hosting(FAILS)
    process = hosts.is_built_for("host")
    identifier = hosts.sends()
    assert "took the build that host made" in hosts.works("one")
    hosts.works("two")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert f"building for the workers of {identifier}" in said.decode()
    assert hosts.builds() == ["host", "host"]
    found = hosts.answer(identifier)
    states = [each["status"] for each in found["trials"]]
    assert sorted(states) == ["failed"] * 4 + ["ok"] * 4
    failed = [each["details"]["error"] for each in found["trials"] if each["status"] != "ok"]
    assert all("no such level" in each and "by the worker host" in each for each in failed)
    # Where it was built is nobody's business.
    assert not any("/host/" in each for each in failed)
    told = found["provenance"]["shared_builds"]
    users = {(each["worker"], each["used_by"]) for each in told}
    assert users == {("host", "one"), ("host", "two")}
