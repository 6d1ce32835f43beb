"""What a service lacks is said with what mends it, and looking changes nothing."""

from __future__ import annotations

import errno
import os
import socket
import threading
from types import SimpleNamespace

import pytest

from steelyard.app.service.oidc_settings import OidcSettings
from steelyard.app.service.people import People
from steelyard.app.service.service import Service
from steelyard.app.service.service_check import check_service
from steelyard.app.service.service_settings import ServiceSettings, SlurmSettings
from steelyard.core.errors import StoreError
from steelyard.service.service_database import ServiceDatabase
from tests.oidc_issuer import CLIENT, ISSUER, TestIssuer


def found(settings, database):
    return {each.about: each for each in check_service(settings, str(database))}


@pytest.fixture
def taken():
    """A port on which something other than a service answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def test_on_a_laptop_nothing_is_missing_and_nothing_is_made(tmp_path) -> None:
    told = found(ServiceSettings(port=0), tmp_path / "below" / "service.sqlite")
    assert {about: each.mend for about, each in told.items()} == dict.fromkeys(told, "")
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_told_with_how_to_find_who_has_it(tmp_path, taken) -> None:
    told = found(ServiceSettings(port=taken), tmp_path / "s.sqlite")["port"]
    assert f"sport = {taken}" in told.mend


@pytest.mark.parametrize(
    ("number", "mend"), [(errno.EADDRNOTAVAIL, "`listen`"), (errno.EACCES, "1024")]
)
def test_an_interface_or_a_port_that_cannot_be_had_is_told_as_such(
    tmp_path, monkeypatch, number, mend
) -> None:
    class Refusing(socket.socket):
        def bind(self, _address):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr("steelyard.app.service.service_check.socket.socket", Refusing)
    assert mend in found(ServiceSettings(), tmp_path / "s.sqlite")["port"].mend


def test_a_name_that_nobody_knows_is_told_from_a_proxy_that_does_not_run(
    tmp_path, monkeypatch
) -> None:
    def unknown(*_words, **_more):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    settings = ServiceSettings(port=0, address="http://bench.example/", sign_in=True)
    assert "/etc/hosts" in found(settings, tmp_path / "s.sqlite")["address"].mend


def test_a_full_disk_is_no_directory_to_write_to(tmp_path, monkeypatch) -> None:
    disk = os.statvfs(tmp_path)
    monkeypatch.setattr(
        "os.statvfs", lambda _: SimpleNamespace(f_bavail=0, f_favail=1, f_files=disk.f_files)
    )
    settings = ServiceSettings(port=0)
    told = {
        each.about: each for each in check_service(settings, str(tmp_path / "s"), str(tmp_path))
    }
    assert "df -h" in told["directory"].mend


def test_a_proxy_whose_service_does_not_run_is_told_from_nothing(tmp_path, taken) -> None:
    settings = ServiceSettings(port=0, address=f"http://127.0.0.1:{taken}/", sign_in=True)
    told = found(settings, tmp_path / "s.sqlite")["address"]
    assert (told.mend, "the service does not run" in told.told) == ("", True)
    settings = ServiceSettings(port=0, address="http://127.0.0.1:9/", sign_in=True)
    assert "Start the proxy" in found(settings, tmp_path / "s.sqlite")["address"].mend


@pytest.mark.parametrize("address", ["postgresql://nobody@127.0.0.1:9/none", "here/below"])
def test_a_database_that_cannot_be_used_is_told(tmp_path, monkeypatch, address) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").write_text("a file")
    assert found(ServiceSettings(port=0), address)["database"].mend


def test_a_directory_that_another_user_has_is_told_with_whose_it_should_be(
    tmp_path, monkeypatch
) -> None:
    below = tmp_path / "new" / "service"

    def told(directory):
        found = check_service(ServiceSettings(port=0), str(tmp_path / "s"), str(directory))
        return {each.about: each for each in found}["directory"]

    assert told(below).mend == ""
    monkeypatch.setattr("os.access", lambda path, _: str(path) != str(tmp_path))
    # What is above it may be of another user for good reasons.
    assert f"install -d -o USER {below}" in told(below).mend
    (tmp_path / "file").write_text("")
    assert told(tmp_path / "file" / "below").mend
    assert not below.parent.exists()


@pytest.mark.parametrize(
    ("said", "mend"),
    [
        ('FATAL:  role "root" does not exist', "createuser USER"),
        ('FATAL:  Peer authentication failed for user "steelyard"', "createuser USER"),
        ('FATAL:  database "steelyard" does not exist', "createdb --owner=USER"),
        ("Connection refused", "systemctl start postgresql"),
    ],
)
def test_what_mends_a_database_follows_from_what_it_says(monkeypatch, said, mend) -> None:
    def refuse(_address):
        raise StoreError(said)

    monkeypatch.setattr("steelyard.app.service.service_check.database_state", refuse)
    assert mend in found(ServiceSettings(port=0), "postgresql:///steelyard")["database"].mend


def test_what_is_no_database_is_told_and_left_as_it_is(tmp_path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(b"nothing" * 1000)
    told = found(ServiceSettings(port=0, sign_in=True), path)
    assert told["database"].mend
    assert "people" not in told
    assert path.read_bytes() == b"nothing" * 1000


def test_that_nobody_can_sign_in_is_told_until_somebody_can(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("steelyard.service.passwords._LOG_COST", 4)
    path, settings = tmp_path / "s.sqlite", ServiceSettings(port=0, sign_in=True)
    assert "--invite" in found(settings, path)["people"].mend
    database = ServiceDatabase(str(path))
    people = People(database)
    assert "--invite" in found(settings, path)["people"].mend
    people.accept(
        people.invite(Service(database, "none").access.owner(), "administrator"), "eve", "x" * 12
    )
    assert found(settings, path)["people"].mend == ""
    database.close()


def test_a_missing_slurm_and_its_directory_are_told(tmp_path, monkeypatch) -> None:
    settings = ServiceSettings(port=0, slurm=SlurmSettings(str(tmp_path / "none")))
    monkeypatch.setenv("PATH", "")
    assert "slurm-client" in found(settings, tmp_path / "s.sqlite")["Slurm"].mend
    monkeypatch.setattr("steelyard.app.service.service_check.missing_commands", list)
    told = found(settings, tmp_path / "s.sqlite")
    assert "slurmctld" in told["Slurm"].mend
    assert "mkdir -p" in told["slurm.directory"].mend


def test_an_issuer_and_the_secret_for_it_are_looked_at(tmp_path, monkeypatch) -> None:
    issuer = TestIssuer()
    monkeypatch.setattr("steelyard.service.issuer.answer_of", issuer.answer_of)
    path = tmp_path / "secret"
    oidc = OidcSettings(ISSUER, CLIENT, client_secret_file=str(path))
    settings = ServiceSettings(port=0, sign_in=True, oidc=oidc)
    database = tmp_path / "s.sqlite"
    assert "chmod 600" in found(settings, database)["oidc.client_secret_file"].mend
    path.write_text("\n")
    assert "it is empty" in found(settings, database)["oidc.client_secret_file"].told
    path.write_text("hidden-word")
    path.chmod(0o644)
    assert "read by others" in found(settings, database)["oidc.client_secret_file"].told
    path.chmod(0o600)
    told = found(settings, database)
    assert ("oidc.client_secret_file" in told, told["oidc"].mend) == (False, "")
    issuer.document = {"code_challenge_methods_supported": ["plain"]}
    assert "no PKCE" in found(settings, database)["oidc"].told
    issuer.is_away = True
    told = found(settings, database)["oidc"]
    assert ("does not answer" in told.told, "openid-configuration" in told.mend) == (True, True)
    lines = [each.line for each in found(settings, database).values()]
    assert not [line for line in lines if "hidden-word" in line]


def test_a_missing_library_for_an_issuer_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("steelyard.service.issuer.answer_of", TestIssuer().answer_of)
    looked = "steelyard.app.service.service_check.importlib.util.find_spec"
    monkeypatch.setattr(looked, lambda name: None if name == "joserfc" else name)
    settings = ServiceSettings(port=0, sign_in=True, oidc=OidcSettings(ISSUER, CLIENT))
    told = [each for each in check_service(settings, str(tmp_path / "s")) if each.mend]
    assert "steelyard[oidc]" in "".join(each.mend for each in told)
