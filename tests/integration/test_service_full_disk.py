"""The disk of a service becomes full while workers run: it says so, and nothing is lost."""

from __future__ import annotations

import time

from tests.integration.test_full_disk import small_disk  # noqa: F401 - a fixture
from tests.integration.test_service import places, sent, serving, written  # noqa: F401 - a fixture
from tests.patience import PATIENCE_S


def fill(place):
    """Leave no byte."""
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return


def test_results_wait_on_the_workers_disk_until_the_services_has_room(
    user,
    small_disk,  # noqa: F811
    serving,  # noqa: F811
    script,
) -> None:
    served = serving("--no-worker", "--database", str(small_disk / "service.sqlite"))
    program = script("[ -e go ] || { touch here; while [ ! -e go ]; do sleep 0.05; done; }\n")
    assert user.types("worker", "--once", "--name", "w", "--directory", "w").status == 0
    identifier = sent(user, written(user, f'"{program}"', runs=1))["experiment"]
    worker = user.start("worker", "--name", "w", "--directory", "w")
    deadline_s = time.monotonic() + PATIENCE_S
    while not (user.home / "here").exists():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    fill(small_disk)
    refused = user.types("submit", written(user, name="more.toml"))
    assert refused.status == 4
    assert "database or disk is full" in refused.err
    assert served.asks("GET", "service")[0] == 200
    (user.home / "go").touch()
    while not list((user.home / "w" / "outbox").glob("*.json")):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    assert served.gets(f"api/experiments/{identifier}")["committed"] == 0
    (small_disk / "filler").unlink()
    assert served.ended(identifier)["committed"] == 2
    assert places(served.gets(f"api/experiments/{identifier}/trials")) == [0, 1]
    worker.terminate()
    worker.communicate(timeout=PATIENCE_S)


def test_a_worker_whose_disk_is_full_says_so_and_its_block_is_run_when_there_is_room(
    user,
    small_disk,  # noqa: F811
    serving,  # noqa: F811
) -> None:
    served = serving("--no-worker")
    words = ("worker", "--once", "--name", "w", "--directory", str(small_disk / "w"))
    assert user.types(*words).status == 0
    identifier = sent(user, written(user, runs=1))["experiment"]
    fill(small_disk)
    told = user.types(*words)
    assert told.status == 2
    assert "No space left on device" in told.err
    assert "Traceback" not in told.err
    (small_disk / "filler").unlink()
    assert user.types(*words).status == 0
    assert served.ended(identifier)["committed"] == 2
