"""A service that people sign in to, in this process, with one account for each role."""

from __future__ import annotations

import json
import shutil
import socket
from dataclasses import dataclass

import pytest

from steelyard.app.service.people import People
from steelyard.app.service.service import Service
from steelyard.app.service.service_settings import ServiceSettings
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.design.plan_part import plan_part
from steelyard.service.accounts import ROLES, add_account, add_token
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.sign_ins import add_sign_in
from steelyard.web.service.service_server import Opened, site_behind_its_door
from steelyard.web.store_site import StoreSite
from tests.asgi_browser import Browser

ADDRESS = "https://bench.example/"
COOKIE = "__Secure-steelyard"
FILE = """\
[experiment]
name = "e"
seed = 5
runs = 2

[[benchmark]]
name = "b"
command = "true"

[[factor]]
factor = "environment-size"
levels = [0, 64]
"""


@dataclass
class SharedService:
    """What the tests use by name."""

    service: Service
    people: People
    site: object
    clock: list[float]

    def browser(self, account: int | None = None, **told) -> Browser:
        """A browser, in which an account is signed in where one is named."""
        found = Browser(self.site, **told)
        if account is not None:
            with self.service.database.writing() as connection:
                found.cookies[COOKIE] = add_sign_in(connection, account, self.clock[0])
            found.get("/account")
        return found

    def account(self, name: str, role: str = "member") -> int:
        with self.service.database.writing() as connection:
            return add_account(connection, name, role, self.clock[0])

    def token(self, account: int, *scopes: str) -> str:
        with self.service.database.writing() as connection:
            return add_token(connection, account, "t", scopes, self.clock[0])

    def sent(self, account: int, visibility="private") -> str:
        """An experiment of an account with all its trials; its identifier."""
        who = self.service.access.identity(self.token(account, *ROLES["administrator"]), "submit")
        token = self.service.access.enrol(self.service.access.owner(), "w", {"cpus": 1})
        planned = self.service.submit(who, FILE, "e.toml", visibility)
        worker = self.service.access.worker(token)
        while (given := self.service.parts.give(worker)) is not None:
            taken = self.service.parts.take(worker, result_of(given))
            assert taken.outcome == "committed", taken
        return planned.spec.identifier

    def identity(self, name: str):
        account = self.account(name)
        role = next(each.role for each in self.people.accounts() if each.id == account)
        return self.service.access.identity(self.token(account, *ROLES[role]), "read")


def result_of(given):
    """What a worker would send of a part."""
    spec = experiment_spec_from_json(json.loads(given.specification))
    common = {"warmup": False, "status": "ok", "reason": None, "spent_s": 0.5}
    trials = [
        {
            **common,
            "position": position,
            "variant": planned.variant,
            "block": planned.block,
            "started_unix_s": 1.0 + position,
            "measurements": {"wall_time": [0.1 + 0.001 * position]},
        }
        for position, planned in zip(
            given.positions, plan_part(spec, given.positions).trials, strict=True
        )
    ]
    about = {"part": given.id, "attempt": given.attempt, "experiment": given.experiment}
    return {**about, "trials": trials, "provenance": {}}


def shared_service(tmp_path, monkeypatch, empty, address=ADDRESS, oidc=None) -> SharedService:
    shutil.copy(empty, tmp_path / "service.sqlite")
    return service_over(str(tmp_path / "service.sqlite"), tmp_path, monkeypatch, address, oidc)


def service_over(place, tmp_path, monkeypatch, address=ADDRESS, oidc=None) -> SharedService:
    """The same over the database at an address."""
    clock = [1_800_000_000.0]
    # What makes guessing slow would make tests slow; test_passwords.py has it whole.
    monkeypatch.setattr("steelyard.service.passwords._LOG_COST", 4)
    database = ServiceDatabase(place)
    service = Service(database, str(tmp_path / "packages"), lambda: clock[0])
    settings = ServiceSettings(address=address, sign_in=True, proxies=("127.0.0.1",), oidc=oidc)
    with socket.socket() as nothing:
        path = "/" + address.split("/", 3)[3]
        opened = Opened(nothing, "127.0.0.1:8350", path, address)
        store = StoreSite(str(tmp_path / "store.sqlite"))
        site = site_behind_its_door(opened, service, store, settings)
    return SharedService(service, People(database, lambda: clock[0]), site, clock)


@pytest.fixture(scope="session")
def empty(tmp_path_factory):
    """A service's database without anything in it, made once."""
    path = tmp_path_factory.mktemp("empty") / "service.sqlite"
    ServiceDatabase(str(path)).close()
    return path


@pytest.fixture
def shared(tmp_path, monkeypatch, empty):
    found = shared_service(tmp_path, monkeypatch, empty)
    yield found
    found.service.database.close()
