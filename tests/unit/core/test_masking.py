"""What is masked in texts that are shown, and what is left as it is."""

from __future__ import annotations

import pytest

from steelyard.core.masking import mask_page, mask_text, mask_value, mask_words
from steelyard.core.recorded_names import explains_result, names_secret

SECRET_NAMES = (
    *("GH_PAT", "PGPASS", "MYSQL_PWD", "DB_PASS", "SLACK_WEBHOOK_URL", "SENTRY_DSN", "SSH_KEY_1"),
    *("COOKIE", "BEARER", "API_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN"),
    *("APIKEY", "MY_API_KEY", "Authorization", "keyStorePassword", "accessToken", "db-password"),
    *("x.y-token", "PGPASSWORD", "JWT", "SESSION_SECRET", "client_secret", "privateKey"),
)
PLAIN_NAMES = (
    *("PATH", "PWD", "OLDPWD", "HOME", "LANG", "OMP_NUM_THREADS", "KEYBOARD", "author", "bypass"),
    *("compass", "passes", "tokens", "sort-key", "monkey", "hotkey", "max_tokens", "HOSTNAME"),
)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_name_that_speaks_of_a_secret_is_known(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_a_name_that_speaks_of_none_is_left_alone(name: str) -> None:
    assert not names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "GH_PAT",
        "PGPASS",
        "MYSQL_PWD",
        "DATABASE_URL",
        "HTTPS_PROXY",
        "PIP_INDEX_URL",
        "COOKIE",
        "OMP_API_TOKEN",
        "HOME",
        "USER",
        "STEELYARD_TOKEN",
        "SSH_AUTH_SOCK",
        "MALLOC_SECRET",
    ],
)
def test_only_variables_on_the_list_are_kept_by_value(name: str) -> None:
    assert not explains_result(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("get https://u:hunter2@h/x", "get https://u:***@h/x"),
        ("https://u:a@b@h/x", "https://u:***@h/x"),
        ("https://ghx_0123456789abcdef@h/x", "https://***@h/x"),
        ("https://h/x?token=abc&y=1", "https://h/x?token=***"),
        ("X=--password=abc -v", "X=--password=*** -v"),
        ("x --password hunter2 -v", "x --password *** -v"),
        ("x --password=hunter2 -v", "x --password=*** -v"),
        ("x --password='a b' -v", "x --password='***' -v"),
        ("DB_PASS=hunter2 ./x", "DB_PASS=*** ./x"),
        ("-Djavax.net.ssl.keyStorePassword=hunter2", "-Djavax.net.ssl.keyStorePassword=***"),
        ('{"password": "hunter2", "n": 3}', '{"password": "***", "n": 3}'),
        ("Authorization: Bearer abcdefghijk", "Authorization: ***"),
        ("curl -u me:hunter2 x", "curl -u me:*** x"),
        ("ghp_abcdefghijklmnopqrstuvwxyz012345", "***"),
        ("AKIAABCDEFGHIJKLMNOP", "***"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "***"),
        ("https://hooks.slack.com/services/T0/B0/xyz", "https://hooks.slack.com/services/***"),
    ],
)
def test_a_secret_in_a_text_is_masked(text: str, shown: str) -> None:
    assert mask_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "xz -9 -T4 data.tar",
        "gcc -O2 -DKEY=3 -o x x.c",
        "second pass: 3.2 s",
        "ssh://git@example.org/x",
        "http://localhost:8080/x@y",
        "sort --key 2,3",
        "expected ';' before '}' token",
        "cd /work; PWD=/work ls",
    ],
)
def test_a_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert mask_text(text) == text


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["x", "--password", "a b"], ("x", "--password", "***")),
        (["x", "--env", "A=b"], ("x", "--env", "A=***")),
        (["x", "--env=A=b"], ("x", "--env=A=***")),
        (["x", "--env", "OMP_NUM_THREADS=4"], ("x", "--env", "OMP_NUM_THREADS=4")),
        (["/usr/bin/mysql", "-phunter2"], ("/usr/bin/mysql", "-p***")),
        (["sshpass", "-p", "hunter2", "ssh"], ("sshpass", "-p", "***", "ssh")),
        (["docker", "run", "-e", "A=b"], ("docker", "run", "-e", "A=***")),
        (["sh", "-c", "TOKEN=abc x"], ("sh", "-c", "TOKEN=*** x")),
        (["gzip", "-p4"], ("gzip", "-p4")),
    ],
)
def test_secrets_in_the_words_of_a_command_are_masked(
    argv: list[str], shown: tuple[str, ...]
) -> None:
    assert mask_words(argv) == shown


def test_known_values_are_masked_wherever_they_are() -> None:
    document = {"a": ["x hush-hush y"], "token": "t", "count": 3, "pairs": [["API_TOKEN", "z"]]}
    assert mask_value(document, ["hush-hush"]) == {
        "a": ["x *** y"],
        "token": "***",
        "count": 3,
        "pairs": [["API_TOKEN", "***"]],
    }


def test_the_scripts_of_a_page_stay_as_their_digests_say() -> None:
    page = "<p>a&amp;b password=x</p><script>let password='x'</script>"
    assert mask_page(page, ["a&b"]) == "<p>*** password=***</p><script>let password='x'</script>"
