"""The disk of a service becomes full while workers run: it says so, and nothing is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.integration.test_full_disk import mounted_at, small_disk  # noqa: F401 - a fixture
from tests.integration.test_service import places, sent, serving, written  # noqa: F401 - a fixture
from tests.patience import PATIENCE_S, awaited
from tests.postgresql import cluster, fresh_database


def fill(place):
    """Leave no byte."""
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """A database of each kind on a small disk: its address, and the disk."""
    if request.param == "sqlite":
        with mounted_at(tmp_path / "small") as place:
            yield str(place / "service.sqlite"), place
        return
    # In the database's own directory, since the tests' may be entered by their user alone.
    with cluster() as directory, mounted_at(Path(directory) / "small") as place:
        (place / "tables").mkdir()
        with fresh_database(directory, "full", place / "tables") as found:
            yield found, place


def test_results_wait_on_the_workers_disk_until_the_services_has_room(
    user,
    database,
    serving,  # noqa: F811
    script,
) -> None:
    address, disk = database
    served = serving("--no-worker", "--database", address)
    program = script("[ -e go ] || { touch here; while [ ! -e go ]; do sleep 0.05; done; }\n")
    assert user.types("worker", "--once", "--name", "w", "--directory", "w").status == 0
    identifier = sent(user, written(user, f'"{program}"', runs=1))["experiment"]
    worker = user.start("worker", "--name", "w", "--directory", "w")
    awaited((user.home / "here").exists)
    fill(disk)
    more = Path(written(user, name="more.toml"))
    # Too much for the room that is left in pages of the database.
    more.write_text(f"# {random.Random(1).randbytes(50_000).hex()}\n{more.read_text()}")
    refused = user.types("submit", str(more))
    assert refused.status == 4
    assert "disk is full" in refused.err or "No space left on device" in refused.err
    assert served.asks("GET", "service")[0] == 200
    (user.home / "go").touch()
    awaited(lambda: list((user.home / "w" / "outbox").glob("*.json")))
    assert served.gets(f"api/experiments/{identifier}")["committed"] == 0
    (disk / "filler").unlink()
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
