"""Benchmark packages through a service: sent once, fetched by workers, contained, told of."""

from __future__ import annotations

import http.client
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.hostile_archives import ATTACKS, good_members, tar_of
from tests.integration.conftest import validate
from tests.integration.test_service import sent, serving  # noqa: F401 - a fixture
from tests.packages import RESULTS, need_containers, package
from tests.patience import PATIENCE_S

CLEAN = "test ! -e mark && test ! -e /tmp/mark && test ! -e /mark && test ! -e /dev/shm/mark\n"
MARKS = "touch mark /tmp/mark /mark /dev/shm/mark 2> /dev/null\n"
# Each fails as its reason says, and leaves all that it can.
HOSTILE = {
    "shadow": ("true", "echo ../../etc/shadow", r"leads out of the package"),
    "absolute": ("true", "echo /etc/shadow", r"lies outside"),
    "link": ("ln -s /etc/shadow r.tar", "echo r.tar", r"link"),
    "device": ("true", "mkfifo r.tar; echo r.tar", r"plain file|no file|neither"),
    "forks": ("bomb() { bomb | bomb & }; bomb; sleep 0.2; exit 1", "echo r.tar", "refused|exit"),
    "inodes": ("i=0; while : > f$i; do i=$((i+1)); done 2>/dev/null; exit 1", "true", "inodes"),
    "disk": ("head -c 100M /dev/zero > big", "true", r"bytes|exit"),
    "endless": ("sleep 5000", "true", "time"),
    "escape": ("setsid sh -c 'trap \"\" TERM HUP INT; sleep 5000' &\nexit 3", "true", "exit"),
    "kills": ("kill -9 -1", "true", r"signal|collect"),
    "setup": ("true", "true", r"setup.sh|exit code 9"),
}
FILE = """\
[experiment]
name = "hostile"
seed = 4
runs = 2
timeout = "2s"
"""
ENTRY = """
[[benchmark]]
package = "{name}"
package_options = {{processes = 60, inodes = 500, disk = "8MiB", setup_timeout = "20s"}}
"""


def posted(served, data: bytes):
    """The status and the answer of an archive that is sent as it is."""
    connection = http.client.HTTPConnection(served.url.netloc, timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {served.token}", "Content-Type": "application/x-tar"}
    connection.request("POST", f"{served.url.path}api/packages", data, headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def kept_in(user) -> list[str]:
    """What lies in the directory of packages of the service."""
    return sorted(path.name for path in user.home.glob("data/steelyard/*.service/packages/*"))


def test_hostile_archives_are_refused_and_nothing_of_them_is_left(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    for name, attack in ATTACKS.items():
        if name in ("too-many", "bomb-in-a-header"):
            continue  # Of limits that tests set lower; see the tests of archives.
        status, answer = posted(served, attack.made(random.Random(name)))
        assert status == 422, (name, answer)
        assert answer["code"] == "archive", (name, answer)
        assert str(user.home) not in answer["message"]
        assert kept_in(user) == [], name
    assert served.asks("GET", "api/packages")[0] == 200
    assert served.gets("api/packages")["packages"] == []


def test_a_package_is_kept_once_and_its_digest_alone_is_no_proof(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    token = served.enrols("w")
    archive = tar_of(good_members())
    first, again = (posted(served, archive)[1] for _ in range(2))
    assert first["digest"] == again["digest"]
    assert kept_in(user) == [first["digest"]]
    assert [each["digest"] for each in served.gets("api/packages")["packages"]] == [first["digest"]]
    # Workers get what they run, and nothing else.
    path = f"api/worker/packages/{first['digest']}"
    status, text = served.asks("GET", path, token=token)
    assert (status, "given nothing that runs" in text) == (422, True)
    assert served.asks("GET", path)[0] == 401
    file = FILE + ENTRY.format(name="x.tar")
    for digest in ("0" * 64, "../../../etc"):
        body = {"file": file, "packages": {"x.tar": digest}}
        status, text = served.asks("POST", "api/experiments", body)
        assert (status, "was not sent by owner" in text) == (422, True)
    for packages in ({"y.tar": first["digest"]}, {}):
        status, text = served.asks("POST", "api/experiments", {"file": file, "packages": packages})
        assert (status, "was not sent with the file" in text) == (422, True), text
    assert served.asks("POST", "api/experiments", {"file": file, "packages": [1]})[0] == 422
    # A file of the service's own machine is no package of whoever names it.
    body = {"file": FILE + ENTRY.format(name="/etc")}
    status, text = served.asks("POST", "api/experiments", body)
    assert (status, "was not sent with the file" in text) == (422, True)


def test_hostile_packages_are_contained_told_and_the_next_trial_is_clean(
    user,
    serving,  # noqa: F811
) -> None:
    need_containers(user.home)
    names = list(HOSTILE)
    for name, (run, collect, _) in HOSTILE.items():
        others = {"setup_sh": f"{MARKS}exit 9"} if name == "setup" else {}
        package(user.home / name, f"{CLEAN}{MARKS}{run}", f"{MARKS}{collect}", **others)
    package(user.home / "clean", CLEAN + RESULTS)
    entries = [ENTRY.format(name=name) for name in (*names, "clean")]
    (user.home / "h.toml").write_text(FILE + "".join(entries))
    served = serving()
    served.has_worker()
    identifier = sent(user, "h.toml")["experiment"]
    ended = served.ended(identifier)
    assert (ended["state"], ended["parts"]) == ("done", {"done": 2})
    trials = served.gets(f"api/experiments/{identifier}/trials")["trials"]
    assert Counter(trial["variant"] for trial in trials) == dict.fromkeys(range(len(entries)), 2)
    for trial in trials:
        if trial["variant"] == len(names):
            assert trial["status"] == "ok", trial
            continue
        name = names[trial["variant"]]
        assert trial["status"] == "failed", (name, trial)
        said = json.dumps([trial["reason"], trial["details"]])
        assert re.search(HOSTILE[name][2], said), (name, said)
    assert not list(user.home.glob("data/steelyard/*.service/worker/parts/*"))
    assert str(user.home) not in Path("/proc/mounts").read_text()
    assert not Path("/mark").exists()
    assert not Path("/tmp/mark").exists()


def test_a_rehearsal_shows_what_scripts_print_and_a_failed_one_sends_nothing(
    user,
    serving,  # noqa: F811
) -> None:
    need_containers(user.home)
    package(user.home / "good", "echo hello from run\n" + RESULTS)
    (user.home / "g.toml").write_text(FILE + ENTRY.format(name="good"))
    served = serving()
    served.has_worker()
    told = user.types("submit", "g.toml", "--debug", "--json", "-")
    assert told.status == 0, told.err
    assert "hello from run" in told.err
    validate(told.document())
    assert served.ended(told.document()["experiment"])["committed"] == 2
    package(user.home / "bad", "echo about to fail; exit 7")
    (user.home / "b.toml").write_text(FILE + ENTRY.format(name="bad"))
    told = user.types("submit", "b.toml", "--debug")
    assert told.status == 3
    assert "about to fail" in told.err
    assert "Nothing was sent" in told.err
    assert len(served.gets("api/experiments")["experiments"]) == 1
    (user.home / "n.toml").write_text(FILE + '\n[[benchmark]]\ncommand = "true"\n')
    told = user.types("submit", "n.toml", "--debug")
    assert (told.status, "names none" in told.err) == (2, True)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('package = "none.tar"', "there is no package 'none.tar'"),
        ('package = "p"\nbuild = "make"', "does not go with a package"),
        ('package = "p"\ncommand = "true"', "give either `command`"),
        ('package = "p"\npackage_options = {memory = "much"}', "package_options.memory"),
        ('package = "p"\npackage_options = {cpu = 3}', "there is no such field"),
    ],
)
def test_what_is_wrong_with_a_package_is_said_of_its_line(user, serving, entry, said) -> None:  # noqa: F811
    served = serving("--no-worker")
    served.enrols("w")
    package(user.home / "p")
    (user.home / "e.toml").write_text(f"{FILE}\n[[benchmark]]\n{entry}\n")
    told = user.types("submit", "e.toml", "--dry-run")
    assert told.status == 2
    assert said in told.err
    assert "Traceback" not in told.err
