"""What is masked in texts that are shown, and what is left as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.core.masked_experiment import given_values
from steelyard.core.masking import looks_random, mask_page, mask_text, mask_value, mask_words
from steelyard.core.recorded_names import explains_result, names_secret
from tests.experiments import make_experiment

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
        (f"got steelyard_{'aB-_4' * 8}xyz here", "got *** here"),
        (f"Sent __Secure-steelyard={'aB-_4' * 8}xyz;", "Sent __Secure-steelyard=***;"),
        (f"steelyard-8350-begun={'aB-_4' * 8}xyz", "steelyard-8350-begun=***"),
        ("steelyard_native_launcher=/x", "steelyard_native_launcher=/x"),
        ("https://u:a@b@h/x", "https://u:***@h/x"),
        ("machine h login u password hunter2 x", "machine h login u password *** x"),
        (
            '-d "{\\"a\\": 1, \\"token\\": \\"hunter2\\"}"',
            '-d "{\\"a\\": 1, \\"token\\": \\"***\\"}"',
        ),
        ("<add key='ApiSecret' value='hunter2'/>", "<add key='ApiSecret' value='***'/>"),
        ("-H 'Ocp-Apim-Subscription-Key: hunter2'", "-H 'Ocp-Apim-Subscription-Key: ***'"),
        ("X-Shared-Secret: hunter2", "X-Shared-Secret: ***"),
        ("DATADOG_APP_KEY=hunter2 ./x", "DATADOG_APP_KEY=*** ./x"),
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
        (["xfreerdp", "/u:bob", "/p:hunter2"], ("xfreerdp", "/u:bob", "/p:***")),
        (["plink", "-pw", "hunter2", "h"], ("plink", "-pw", "***", "h")),
        (["mosquitto_pub", "-P", "hunter2"], ("mosquitto_pub", "-P", "***")),
        (["lftp", "-u", "bob,hunter2", "h"], ("lftp", "-u", "bob,***", "h")),
        (["sqlplus", "bob/hunter2@db"], ("sqlplus", "bob/***")),
        (["htpasswd", "-bc", "f", "bob", "hunter2"], ("htpasswd", "-bc", "f", "bob", "***")),
        (
            ["aws", "configure", "set", "aws_secret_access_key", "hunter2"],
            ("aws", "configure", "set", "aws_secret_access_key", "***"),
        ),
        (["kubectl", "--from-literal=a=hunter2"], ("kubectl", "--from-literal=a=***")),
        (["x", "--pin", "4711"], ("x", "--pin", "***")),
        (["x", "--pin=4711"], ("x", "--pin=***")),
        (["x", "--pin=0,1", "--pin", "on"], ("x", "--pin=0,1", "--pin", "on")),
        (["x", "--key=abcdef0123456"], ("x", "--key=***")),
        (["x", "--key", "abcdef0123456"], ("x", "--key", "***")),
        (["sort", "--key=2,3", "--key", "column_name_x"], None),
        (["x", "--key=/etc/ssl/key1.pem", "--key", "id_ed25519.pub"], None),
        (["x", "--sas=abc"], ("x", "--sas=***")),
    ],
)
def test_secrets_in_the_words_of_a_command_are_masked(
    argv: list[str], shown: tuple[str, ...] | None
) -> None:
    """None: nothing is masked."""
    assert mask_words(argv) == (tuple(argv) if shown is None else shown)


@pytest.mark.parametrize(
    "word",
    ["aB3dE5gH7jK9lM1nO3pQ5", "kR4tVb92mQzX7cLp1WsY0dFh", "q8Zr2LxV0mTn4WcYp7Ks"],
)
def test_a_word_that_is_made_like_a_token_is_known(word: str) -> None:
    assert looks_random(word)


@pytest.mark.parametrize(
    "word",
    [
        "BM_SortVector8192Elements",
        "BM_MemcpyAvx512Unaligned1024",
        "x86_64-pc-linux-gnu-gcc-12",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "123e4567-e89b-12d3-a456-426614174000",
        "_ZN4core3fmt9Formatter12pad_integral17h0a1B2c3D4e5F6a7bE",
        "com.example.MyBench1Test2.run3",
        "-DCMAKE_CXX_FLAGS_RELEASE2",
        "-XX:+UseG1GC",
    ],
)
def test_names_digests_and_flags_are_not_made_like_tokens(word: str) -> None:
    assert not looks_random(word)


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


SECRET = "hunter2XYZ99"
WORDS_WITH_SECRETS = (
    *("mysql -uroot -p§", "mariadb-admin -p§", "/usr/bin/mysqldump -p§ db", "7z a -p§ out.7z"),
    *("sshpass -p § ssh h", "sshpass -p§ ssh h", "docker login -u me -p §", "mongosh -p §"),
    *(
        "zip -P § out.zip in",
        "unzip -P § in.zip",
        "sqlcmd -P §",
        "ldapsearch -w §",
        "http -a u:§ h",
    ),
    *("redis-cli -a §", "openssl enc -k §", "openssl rsa -passin pass:§", "smbclient -U u%§ //h"),
    *("curl -uu:§ h", "curl -u u:§ h", "curl -b sid=§ h", "curl --cookie sid=§ h"),
    *("prog --pass:§",),
    *("prog --password §", "prog --password=§", "prog --authkey=§", "prog --master-key=§"),
    *("prog --passcode §", "prog --account-key §", "git clone https://§@h/x"),
    *("pip install git+https://u:§@h/a.git", "pip install git+ssh://u:§@h/a.git"),
    *("java jdbc:oracle:thin:u/§@h:1521/x", "java jdbc:sqlserver://h;user=u;password=§;x=y"),
    *("java jdbc:postgresql://h/d?user=u&password=§", "java jdbc:mysql://u:§@h/d"),
    *("az AccountName=a;AccountKey=§==;EndpointSuffix=x", "az SharedAccessSignature=sv=1&sig=§%3D"),
    *("az https://a.blob.core.windows.net/c?sv=2020&sig=§%3D", "az x;SharedAccessKey=§="),
    *("aws https://b.s3.amazonaws.com/k?X-Amz-Signature=§", "aws aws_secret_access_key=§"),
    *("gcp https://h/o?X-Goog-Signature=§", "gcp https://h/x?key=§", "prog xapp-§-abcdefghijk"),
    *("prog ya29.§abcdefghijklmnop", "prog hf_§abcdefghijklmnop", "prog dop_v1_§abcdefghijklmnop"),
    *("vault login §", "az login -u x -p §", "crane auth login -u x -p §", "ssh-keygen -N §"),
    *("keytool -storepass § -keypass §", "rpcclient -U u%§", "smbclient //h/x § -U u"),
    *("npm config set //r/:_authToken §", "rabbitmqadmin -p § list", "p4 -P § sync", "swift -K §"),
    *("cvs -d :pserver:u:§@h:/x co", "mc alias set a http://h K §", "dig -y hmac-sha256:k:§ x"),
    *("nsupdate -y k:§", "wpa_passphrase net §", "nmcli dev wifi connect x password §"),
    *(
        "iwconfig wlan0 key s:§",
        "pdftk x.pdf input_pw § output y",
        "qemu -object secret,id=s,data=§",
    ),
    *("prog --totp-seed §", "prog --mnemonic §", "ansible-playbook -e {'vault_pass':'§'}"),
    *("prog SG.§abcdefghijk.§abcdefghijklmnopq", "prog https://x.webhook.office.com/webhookb2/§"),
)
WORDS_WITHOUT = (
    *("docker run -p 8080:80 image", "tar -p -xf a.tar", "ssh -p 2222 h", "gcc -pipe -pg a.c"),
    *("make -j2 CFLAGS=-O2", "db_bench --key_size=16", "llm --max-tokens 100", "zip -9 out in"),
    *("git clone https://me@h/x", "curl https://h/a?page=2", "opt -passes=instcombine a.ll"),
    *("npm run set build", "swift -O a.swift", "mc alias list", "vault status", "dig x +short"),
    *("pdftk a.pdf cat output b.pdf", "nmcli dev show", "ssh-keygen -t ed25519 -f out"),
    *("prog --master 3", "perf stat -p 77 -a", "openssl speed -evp aes-128-cbc"),
)


@pytest.mark.parametrize("command", WORDS_WITH_SECRETS)
def test_a_secret_is_masked_in_the_words_of_a_command_and_in_a_text(command: str) -> None:
    command = command.replace("§", SECRET)
    assert SECRET not in " ".join(mask_words(command.split()))
    assert SECRET not in mask_text(f"sh: {command}")
    assert SECRET not in " ".join(mask_words(("sh", "-c", command)))


@pytest.mark.parametrize("command", WORDS_WITHOUT)
def test_a_command_without_a_secret_is_shown_as_it_is(command: str) -> None:
    assert " ".join(mask_words(command.split())) == command
    assert mask_text(command) == command


def test_words_stay_as_many_as_they_are_where_one_is_empty_or_has_blanks() -> None:
    words = ("mysql", "", "-p", "a b", "zip", "-P")
    assert len(mask_words(words)) == len(words)


@pytest.mark.parametrize(
    "name", ["MKL_KEY", "STEELYARD_LICENSE", "OMP_LOGIN", "STEELYARD_UPLOAD_URL"]
)
def test_a_variable_of_a_kept_family_that_may_be_private_is_not_kept(name: str) -> None:
    assert not explains_result(name)


def test_both_of_two_texts_in_a_list_are_masked() -> None:
    assert mask_value(["a --password b", "https://u:c@h"]) == [
        "a --password ***",
        "https://u:***@h",
    ]


@pytest.mark.parametrize(
    ("argv", "values"),
    [
        (("curl", "--password", "hunter22"), {"hunter22"}),
        (("git", "clone", "https://u:hun@ter22@h/x"), {"hun@ter22"}),
        (("sh", "-c", "a --token first22 && DB_PASS='se cond' b"), {"first22", "se cond"}),
        (("mysql", '-p"a', 'b"'), set()),
        (("true", "--level", "19"), set()),
    ],
)
def test_what_a_command_hides_is_hidden_elsewhere_too(argv, values) -> None:
    spec = make_experiment().spec
    variant = replace(spec.variants[0], launch=replace(spec.variants[0].launch, argv=argv))
    assert {*given_values(replace(spec, variants=(variant,)))} == values
