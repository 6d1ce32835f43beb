"""Secrets of the environment, of options and of commands: none is stored or shown unasked."""

from __future__ import annotations

import json
import stat

import pytest

from tests.integration.conftest import User

# Names like those of credentials, of which none stands in the list of what explains a result.
NAMES = (
    *("API_TOKEN", "APP_SECRET", "DB_PASSWORD", "DB_PASS", "GH_PAT", "PGPASS", "PGPASSWORD"),
    *("MYSQL_PWD", "DATABASE_URL", "HTTPS_PROXY", "PIP_INDEX_URL", "SLACK_WEBHOOK_URL"),
    *("SENTRY_DSN", "SSH_KEY_1", "COOKIE", "BEARER", "AWS_SECRET_ACCESS_KEY", "MY_KEY"),
    *("UNFORESEEN", "SESSION", "CONNECTION"),
)
FORMATS = ("csv", "parquet", "steelyard-json", "hyperfine", "google-benchmark", "benchfmt", "asv")


@pytest.fixture
def wary(user: User) -> User:
    """A user with a secret under each name."""
    return User(user.home, {**user.environment, **{name: f"hush-{name}" for name in NAMES}})


def kept_files(user: User) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in user.home.rglob("*") if path.is_file()}


def test_no_value_of_the_environment_is_kept_that_explains_no_result(wary, script):
    program = script("true")
    told = wary.types("measure", "--runs", "2", "--json", "out.json", "--", program)
    assert told.status == 0, told.err
    for name, content in kept_files(wary).items():
        assert b"hush-" not in content, name
    shown = json.loads(wary.types("show", "--json", "-").out)
    assert set(NAMES) <= set(shown["provenance"]["environment_digests"])


def test_a_value_that_was_asked_for_is_kept(wary, script):
    assert wary.types("measure", "--runs", "2", "--record-env", "SESSION", "--", script("true"))
    environment = json.loads(wary.types("show", "--json", "-").out)["provenance"]["environment"]
    assert environment["SESSION"] == "hush-SESSION"
    told = wary.types("measure", "--record-env", "NOT_SET", "--", "true")
    assert (told.status, "NOT_SET" in told.err) == (2, True)


@pytest.fixture
def leaky(wary, script):
    """An experiment whose secrets come by every way, one variant of which fails and tells them."""
    program = script('echo "$APP_SECRET $GIVEN_TOKEN $OTHER" >&2; test "$1" = good')
    commands = [
        f"{program} good --password wyrd-option",
        f"{program} bad https://me:wyrd-url@example.org/",
    ]
    told = wary.types(
        *("compare", "--runs", "2", "--note", "for API_KEY=wyrd-note"),
        *("--env", "GIVEN_TOKEN=wyrd-given", "--env", "OTHER=wyrd-other"),
        *("--prepare", "true --token wyrd-prepare", "--json", "out.json"),
        *commands,
    )
    return wary, told


def test_a_bare_word_that_is_made_like_a_token_is_not_shown(user, script, tmp_path):
    token = "kR4tVb92mQzX7cLp1WsY0dFh"
    program = script('echo "no entry for $1" >&2; exit 3')
    told = user.types("compare", "--runs", "2", "--json", "o.json", f"{program} {token}", "true 1")
    assert token not in told.out + told.err + (user.home / "o.json").read_text()
    calls = [("show", "--trials", "--json", "-"), ("list",), ("report", "--format", "markdown")]
    calls += [("report", "-o", "page.html"), ("export", "latest", "-o", "out.json")]
    calls += [("report", "--format", "junit", "-o", "out.xml")]
    for call in calls:
        told = user.types(*call)
        assert token not in told.out + told.err
    for name, content in kept_files(user).items():
        assert token.encode() not in content or ".sqlite" in name, name


def secrets_in(text: str | bytes) -> set[str]:
    said = text if isinstance(text, str) else text.decode("latin-1")
    return {word for word in ("hush-", "wyrd-") if word in said}


def test_no_answer_shows_a_secret(leaky):
    user, told = leaky
    assert secrets_in(told.out + told.err) == set()
    assert secrets_in((user.home / "out.json").read_bytes()) == set()
    for call in (
        ("show", "--trials", "--json", "-"),
        ("show", "--trials"),
        ("list",),
        ("list", "--json", "-"),
        ("report", "--format", "text"),
        ("report", "--format", "markdown", "-o", "-"),
        ("report", "--format", "json", "-o", "-"),
        ("report", "-o", "-"),
        ("report", "--json", "-"),
    ):
        told = user.types(*call)
        assert secrets_in(told.out + told.err) == set(), call


@pytest.mark.parametrize("name", FORMATS)
def test_no_export_holds_a_secret_or_may_be_read_by_others(leaky, name):
    user, _ = leaky
    told = user.types("export", "--format", name, "-o", "out")
    assert secrets_in(told.out + told.err) == set()
    if told.status == 0:
        assert secrets_in((user.home / "out").read_bytes()) == set()
        assert stat.S_IMODE((user.home / "out").stat().st_mode) == 0o600


def test_plots_show_no_secret(leaky):
    user, _ = leaky
    assert user.types("report", "--plots", "plots").status == 0
    for path in (user.home / "plots").iterdir():
        assert secrets_in(path.read_bytes()) == set()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_needed_to_repeat_an_experiment_is_kept_and_shown_when_asked_for(leaky):
    user, _ = leaky
    shown = user.types("show", "--show-secrets", "--json", "-").out
    for secret in ("wyrd-given", "wyrd-other", "wyrd-option", "wyrd-url", "wyrd-prepare"):
        assert secret in shown
    resumed = user.types("resume", "latest", "--runs", "3")
    assert resumed.status == 3, resumed.err  # One variant fails, as before.
    assert secrets_in(resumed.out + resumed.err) == set()


def test_an_export_without_secrets_can_be_read_again_but_not_run(leaky, tmp_path):
    user, _ = leaky
    assert user.types("export", "-o", "out.steelyard.json").status == 0
    assert user.types("import", "out.steelyard.json").status == 0  # The same, so it stays.
    told = user.types("import", "--store", "other.sqlite", "out.steelyard.json")
    assert told.status == 0, told.err
    again = user.types("resume", "latest", "--store", "other.sqlite")
    assert (again.status, "without its secrets" in again.err) == (2, True)


def test_stores_and_answers_are_their_owners_alone(leaky):
    user, _ = leaky
    assert user.types("report", "-o", "page.html").status == 0
    store = user.home / "data" / "steelyard" / "steelyard.sqlite"
    for path in (store, user.home / "out.json", user.home / "page.html"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((store.parent / f"{store.name}.journals").stat().st_mode) == 0o700


def test_a_file_that_is_written_again_keeps_the_permissions_that_its_owner_gave(leaky):
    user, _ = leaky
    (user.home / "page.html").touch(mode=0o644)
    (user.home / "page.html").chmod(0o644)
    assert user.types("report", "-o", "page.html").status == 0
    assert stat.S_IMODE((user.home / "page.html").stat().st_mode) == 0o644


def test_an_error_does_not_tell_a_secret(wary):
    told = wary.types("measure", "--json", "-", "--", "./gone", "--password", "hush-x")
    assert told.status == 2
    told = wary.types("measure", "--json", "-", "--", "./hush-API_TOKEN/gone")
    assert secrets_in(told.out + told.err) == set()


def test_a_recording_is_its_owners_alone(user):
    told = user.types("profile", "record", "-o", "profile", "--", "true")
    assert told.status == 0, told.err
    assert stat.S_IMODE((user.home / "profile").stat().st_mode) == 0o600


def test_no_list_shows_a_secret_of_a_name_that_it_cuts_or_that_is_one_of_two(wary, script):
    program = script("true")
    commands = [f"{program} --password wyrd-one", f"{program} https://me:wyrd-two-is-long@h.org/x"]
    assert wary.types("compare", "--runs", "2", *commands).status == 0
    for arguments in (["list"], ["list", "--json", "-"]):
        told = wary.types(*arguments)
        assert told.status == 0
        assert "wyrd" not in told.out + told.err
