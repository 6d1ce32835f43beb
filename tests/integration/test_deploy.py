"""What docs/deploy.md says, carried out: its settings, units, backup and upgrade."""

from __future__ import annotations

import http.client
import io
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from steelyard.app.service.service_settings import read_service_settings
from tests.integration.test_service import places, sent, written
from tests.integration.test_service_people import Shared, signed_in
from tests.needs import needs
from tests.old_service import make_old_database
from tests.packages import need_containers, package
from tests.patience import PATIENCE_S
from tests.postgresql import cluster, fresh_database, programs

DOCUMENT = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text()
PROGRAM = "/opt/steelyard/.venv/bin/steelyard"
PACKED = """\
[experiment]
name = "packed"
seed = 1
runs = 1

[[benchmark]]
package = "good"
"""


def blocks(kind):
    """What the document has between fences of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def commands():
    """The lines that an administrator types, each whole."""
    lines = "\n".join(blocks("")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line]


@pytest.fixture(scope="module")
def socket():
    with cluster() as directory:
        yield directory


@pytest.fixture
def opened(user):
    """Services with a sign-in, over databases of one's choice; they end with the test."""
    started = []

    def open_one(database, *, is_new=True):
        started.append(Shared(user, "--database", database, is_new=is_new))
        return started[-1]

    yield open_one
    for each in started:
        if each.process.poll() is None:
            each.ends()


def fetched(served, path):
    """What the API answers, as bytes."""
    connection = http.client.HTTPConnection(served.url.netloc, timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {served.token}"}
    connection.request("GET", f"{served.url.path}api/{path}", headers=headers)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    assert response.status == 200, data
    return data


def works(user):
    told = user.types("worker", "--once", "--name", "w", "--directory", "w")
    assert told.status == 0, told.err


def shown(served, identifier):
    """The numbers of an experiment, and the files in the archives of its results."""
    whole = fetched(served, f"experiments/{identifier}/results.tar")
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        kept = {each.name: archive.extractfile(each).read() for each in archive if each.isfile()}
    return fetched(served, f"experiments/{identifier}/download/csv"), kept


def test_the_settings_of_the_document_are_settings(tmp_path) -> None:
    path = tmp_path / "service.toml"
    path.write_text("\n".join(blocks("toml")))
    found = read_service_settings(str(path))
    assert (found.database, found.sign_in) == ("postgresql:///steelyard", True)
    assert (found.oidc is not None, found.slurm is not None) == (True, True)


@needs("systemd-analyze")
def test_its_units_are_units(tmp_path) -> None:
    units = blocks("ini")
    assert len(units) == 2
    for number, unit in enumerate([*units, units[0].replace("Restart=", "Restarts=")]):
        path = tmp_path / f"steelyard-{number}.service"
        path.write_text(unit.replace(PROGRAM, sys.executable))
        told = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(path)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        said = [line for line in told.stderr.splitlines() if path.name in line]
        assert bool(said) == (number == len(units)), told.stderr


def test_its_commands_are_ones_that_the_program_takes(user) -> None:
    text = DOCUMENT.replace("\\\n", " ")
    typed = {tuple(shlex.split(each)) for each in re.findall(rf"{PROGRAM} (\w.*)", text)}
    assert len(typed) >= 5
    for words in typed:
        told = user.types(*words, "--help")
        assert told.status == 0, (words, told.err)
        assert not [word for word in words if word[:2] == "--" and word not in told.out], words


def test_every_command_with_the_database_runs_as_one_of_its_users() -> None:
    programs_of_it = r"\b(createuser|createdb|dropdb|pg_dump|pg_restore)\b"
    lines = [line for line in commands() if re.search(programs_of_it, line)]
    assert len(lines) >= 6
    assert not [line for line in lines if not re.match(r"runuser -u (postgres|steelyard) ", line)]
    # A file that root's shell opens, since the service's user may write to no such directory.
    assert not [line for line in lines if "--file" in line]


def test_a_backup_brings_back_what_people_sent_and_what_came_of_it(user, socket, opened) -> None:
    need_containers(user.home)
    package(user.home / "good")
    (user.home / "packed.toml").write_text(PACKED)
    data, kept = user.home / "data" / "steelyard", user.home / "files.tar"
    with fresh_database(socket, "lost") as lost, fresh_database(socket, "back") as back:
        served = opened(lost)
        cookie = signed_in(served)
        works(user)
        packed = sent(user, "packed.toml")["experiment"]
        works(user)
        later = sent(user, written(user))["experiment"]
        assert served.ended(packed)["committed"] == 1
        before = shown(served, packed)
        assert len(before[1]) == 1
        dump = _run(programs() / "pg_dump", "--format=custom", f"--dbname={lost}")
        _run("tar", "-C", data.parent, "-cf", kept, data.name)
        works(user)
        assert served.ended(later)["committed"] == 4
        served.ends()
        shutil.rmtree(data)
        _run(programs() / "pg_restore", f"--dbname={back}", given=dump)
        _run("tar", "-C", data.parent, "-xpf", kept)
        again = opened(back, is_new=False)
        assert shown(again, packed) == before
        cookie = cookie.replace(f"-{served.url.port}=", f"-{again.url.port}=")
        assert "Sign out eve" in again.browses("GET", "account", cookie=cookie)[2]
        assert again.gets(f"api/experiments/{later}")["committed"] == 0
        works(user)
        assert again.ended(later)["committed"] == 4
        (user.home / "packed.toml").write_text(PACKED.replace("seed = 1", "seed = 2"))
        repeated = sent(user, "packed.toml")["experiment"]
        works(user)
        assert [each["status"] for each in _trials(again, repeated)] == ["ok"]
        again.ends()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_older_database_is_brought_up_to_date_with_all_that_is_in_it(
    user, request, opened, kind
) -> None:
    present, old = str(user.home / "present.sqlite"), str(user.home / "old.sqlite")
    served = opened(present)
    cookie = signed_in(served)
    works(user)
    ended = sent(user, written(user))["experiment"]
    works(user)
    waiting = sent(user, written(user, runs=1))["experiment"]
    assert served.ended(ended)["committed"] == 4
    before = shown(served, ended)
    served.ends()
    if kind == "postgresql":
        old = request.getfixturevalue("upgraded")
    counts = make_old_database(old, "0013", present)
    assert (counts["committed_trials"], counts["submissions"]) == (4, 2)
    assert user.types("serve", "--check", "--port", "0", "--database", old).out.count("0013") == 1
    again = opened(old, is_new=False)
    assert shown(again, ended) == before
    cookie = cookie.replace(f"-{served.url.port}=", f"-{again.url.port}=")
    assert "Sign out eve" in again.browses("GET", "account", cookie=cookie)[2]
    page = again.browses("GET", f"service/{ended}/answer", cookie=cookie)
    assert (page[0], "environment-size" in page[2]) == (200, True)
    assert again.gets(f"api/experiments/{waiting}")["committed"] == 0
    works(user)
    assert again.ended(waiting)["committed"] == 2
    assert places({"trials": _trials(again, waiting)}) == [0, 1]
    assert again.ends()[0] == 0


@pytest.fixture
def upgraded(socket):
    with fresh_database(socket, "old") as address:
        yield address


def _trials(served, identifier):
    return served.gets(f"api/experiments/{identifier}/trials")["trials"]


def _run(*words, given=None):
    """What a command writes."""
    done = subprocess.run(
        [str(word) for word in words],
        input=given,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout
