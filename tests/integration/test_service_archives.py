"""What `collect.sh` packs comes back: on the page, by the API, and by `steelyard import`."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile

from tests.integration.test_service import sent, serving  # noqa: F401 - a fixture
from tests.integration.test_service_packages import ENTRY, FILE
from tests.packages import need_containers, package

# Each archive is another: its bytes name the process that made it, and random ones are in it.
RUN = "echo 'value (count)' > results.csv; echo 1 >> results.csv; head -c 3000 /dev/urandom > noise"
COLLECT = 'tar -czf "my results; rm -rf *.tgz" results.csv noise; echo "my results; rm -rf *.tgz"'
LYING = "tar -cf results.tar results.csv; echo ../../../etc/shadow"


def test_archives_of_results_come_back_with_their_trials(user, serving) -> None:  # noqa: F811
    need_containers(user.home)
    package(user.home / "good", RUN, COLLECT)
    package(user.home / "liar", RUN, LYING)
    entries = ENTRY.format(name="good") + ENTRY.format(name="liar")
    (user.home / "a.toml").write_text(FILE + entries)
    served = serving()
    served.has_worker()
    identifier = sent(user, "a.toml")["experiment"]
    assert served.ended(identifier)["state"] == "done"
    trials = served.gets(f"api/experiments/{identifier}/trials")["trials"]
    told = {
        each["position"]: each["details"]["package"]["sha256"]
        for each in trials
        if each["status"] == "ok"
    }
    assert len(told) == 2
    failed = [each for each in trials if each["status"] == "failed"]
    assert all("leads out of the package's folder" in json.dumps(each) for each in failed)
    assert len(failed) == 2
    rows = served.gets(f"api/experiments/{identifier}/results")["archives"]
    assert {row["position"]: row["sha256"] for row in rows} == told
    assert {row["file"] for row in rows} == {f"trial-{position}.tar.gz" for position in told}
    assert "2 archives of results" in served.asks("GET", f"service/{identifier}")[1]
    status, whole = served.asks_for_bytes(f"service/{identifier}/archive")
    assert status == 200
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        names = archive.getnames()
        assert {name for name in names if name.startswith("results/")} == {
            f"results/trial-{position}.tar.gz" for position in told
        }
    page = f"{served.address}service/{identifier}"
    fetched = user.types("import", page, "--results", "out/back")
    assert fetched.status == 0, fetched.err
    assert "2 archives of results are in out/back" in fetched.err
    again = user.types("import", page, "--results", "out/back")
    assert again.status == 0, again.err
    for position, digest in told.items():
        data = (user.home / "out" / "back" / f"trial-{position}.tar.gz").read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            assert archive.getnames() == ["results.csv", "noise"]
    # Nothing waits on the worker, and no name of a package became one of a file.
    assert list(user.home.glob("data/steelyard/*.service/worker/outbox/*")) == []
    assert list(user.home.rglob("my results*")) == []


def test_where_archives_cannot_go_is_one_sentence(user) -> None:
    (user.home / "taken").write_text("")
    told = user.types("import", "x.csv", "--results", "d")
    assert (told.status, "--results goes with the address" in told.err) == (2, True)
