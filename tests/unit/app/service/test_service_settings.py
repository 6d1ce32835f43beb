"""The settings of a service are read, and what is wrong with them is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.app.experiment.experiment_fields import rows_of
from steelyard.app.service.oidc_settings import OidcSettings
from steelyard.app.service.service_settings import TABLES, ServiceSettings, read_service_settings
from steelyard.core.errors import DataError

PAGE = Path(__file__).parents[4] / "docs/commands/serve.md"

AT = '[service]\naddress = "https://bench.example/"\n'


def test_an_issuer_is_read_with_who_may_sign_in_there(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(
        f'{AT}[oidc]\nissuer = "https://i/r"\nclient_id = "c"\nallowed_domains = ["A.org"]\n'
    )
    found = read_service_settings(str(file)).oidc
    assert found == OidcSettings("https://i/r", "c", allowed_domains=("a.org",))


def test_a_file_says_where_the_database_is_and_which_port_is_taken(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[service]\ndatabase = "postgresql://me@db/bench"\nport = 0\nworker = false\n')
    found = read_service_settings(str(file))
    assert found == ServiceSettings("postgresql://me@db/bench", 0, worker=False)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://Bench.Example", "https://bench.example/"),
        ("https://bench.example:443/", "https://bench.example/"),
        ("https://bench.example:8443/steel/", "https://bench.example:8443/steel/"),
        ("http://127.0.0.1:80/", "http://127.0.0.1/"),
        ("https://[::2]:444/", "https://[::2]:444/"),
    ],
)
def test_an_address_is_as_browsers_say_it_and_lets_people_sign_in(tmp_path, given, address):
    file = tmp_path / "s.toml"
    file.write_text(f'[service]\naddress = "{given}"\n')
    found = read_service_settings(str(file))
    assert (found.address, found.sign_in, found.proxies) == (address, True, ("127.0.0.1",))


def test_what_an_option_says_goes_before_what_the_file_says():
    found = ServiceSettings("a", 5, worker=False).changed(port=0, worker=None, database="b")
    assert found == ServiceSettings("b", 0, worker=False)


@pytest.mark.parametrize(
    ("text", "field", "told"),
    [
        ("[service]\n\nport = 65536\n", "service.port", "line 3"),
        ('[service]\nport = "80"\n', "service.port", "a port, or 0"),
        ("[service]\nworker = 1\n", "service.worker", "true or false, not 1"),
        ('[service]\naddress = "http://bench.example/"\n', "service.address", "begin with https"),
        ('[service]\naddress = "bench.example"\n', "service.address", "such as https://"),
        ('[service]\naddress = "https://a:b@c/"\n', "service.address", "such as https://"),
        ('[service]\naddress = "https://c:99999/"\n', "service.address", "such as https://"),
        ('[service]\naddress = "https://c/?x"\n', "service.address", "such as https://"),
        ('[service]\nlisten = "0.0.0.0"\n', "service.listen", "a proxy with TLS"),
        (
            '[service]\naddress = "https://c/"\nsign_in = false\n',
            "service.sign_in",
            "people have to sign in",
        ),
        ("[service]\nprot = 1\n", "service.prot", "known: database"),
        ("service = 3\n", "service", "write [service]"),
        ("[servce]\n", "servce", "known: service"),
        ('[oidc]\nissuer = "https://i/"\n', "oidc.client_id", "line 1"),
        (f'{AT}[oidc]\nissuer = "http://i/"\nclient_id = "c"\n', "oidc.issuer", "https://, not"),
        (f'{AT}[oidc]\nissuer = "https://[/"\nclient_id = "c"\n', "oidc.issuer", "https://, not"),
        ('[oidc]\nissuer = "https://i/"\nclient_id = "c"\n', "oidc.issuer", "has an `address`"),
        (
            f'{AT}[oidc]\nissuer = "https://i/"\nclient_id = "c"\nnewcomers = "member"\n',
            "oidc.newcomers",
            "everyone at the issuer",
        ),
        (
            f'{AT}[oidc]\nissuer = "https://i/"\nclient_id = "c"\nnewcomers = "operator"\n',
            "oidc.newcomers",
            "`reader` or `member`",
        ),
        ("[service\n", "--config", "is not TOML"),
        ("a = " + "[" * 5000, "--config", "is not TOML"),
        (f"[service]\nport = {'9' * 5000}\n", "--config", "is not TOML"),
    ],
)
def test_a_slip_is_told_with_the_line_and_the_field(tmp_path, text, field, told):
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(DataError) as raised:
        read_service_settings(str(file))
    assert raised.value.field == field
    assert told in raised.value.message


def test_a_file_that_is_not_there_or_no_text_is_one_error(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_service_settings(str(tmp_path / "none.toml"))
    (tmp_path / "s.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not TOML"):
        read_service_settings(str(tmp_path / "s.toml"))


def test_the_page_of_the_command_has_a_row_for_each_field():
    page = PAGE.read_text("utf-8")
    assert [row for row in rows_of(TABLES) if row not in page] == []
