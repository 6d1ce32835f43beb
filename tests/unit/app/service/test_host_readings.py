"""A host that drifts is set aside, its blocks go to others, and only a person takes it back."""

from __future__ import annotations

import pytest

from steelyard.app.service.reference_benchmark import PARTS, ReferenceBenchmark, read_reading
from steelyard.app.service.service import Service
from steelyard.core.errors import DataError
from steelyard.service.host_readings import readings_of
from steelyard.service.service_database import ServiceDatabase

FACTS = {"architecture": "x", "cpus": 1}
FILE = '[experiment]\nruns = 2\n[[benchmark]]\ncommand = "true"\n'


@pytest.fixture
def service(tmp_path):
    database = ServiceDatabase(str(tmp_path / "service.sqlite"))
    yield Service(database, str(tmp_path / "packages"))
    database.close()


def enrol(service, name):
    return service.access.worker(service.access.enrol(service.access.owner(), name, FACTS))


def read(service, worker, times, slower="memory"):
    reading = {name: 0.1 * (times if name == slower else 1) for name in PARTS}
    return service.hosts.keep_reading(worker, {"reading": reading})


def status(service, name):
    return next(each for each in service.hosts.workers() if each.name == name)


def test_a_host_that_drifts_is_set_aside_and_shown(service) -> None:
    one, two = enrol(service, "one"), enrol(service, "two")
    service.submit(service.access.owner(), FILE + '[hosts]\nrequire = {name = ["one"]}\n', "e.toml")
    assert not any(read(service, one, 1.0) for _ in range(10))
    given = service.parts.give(one)
    assert [read(service, one, 1.3) for _ in range(2)] == [False, True]
    found = status(service, "one")
    assert (found.status, found.faults) == ("quarantined", 0)
    assert "memory takes 1.30 times as long as it did" in found.reason
    assert "arithmetic" not in found.reason
    assert service.parts.give(one) is None
    assert service.parts.give(two) is None  # The experiment asks for the other.
    # A restart makes no host as it was; a person may say that it is good.
    again = enrol(service, "one")
    assert status(service, "one").status == "quarantined"
    assert service.hosts.release(service.access.owner(), "one")
    assert not service.hosts.release(service.access.owner(), "one")
    assert service.parts.give(again).id == given.id
    assert not any(read(service, again, 1.3) for _ in range(10))


def test_what_is_no_reading_is_refused(service) -> None:
    one = enrol(service, "one")
    good = dict.fromkeys(PARTS, 0.1)
    for bad in (None, [], {}, {**good, "more": 1}, {**good, "memory": 0.0}):
        with pytest.raises(DataError, match="A reading has a time"):
            service.hosts.keep_reading(one, {"reading": bad})
    for value in (float("nan"), float("inf"), -1, True, "1", 1e9):
        assert read_reading({**good, "memory": value}) is None


def test_readings_do_not_grow_for_ever_and_the_first_ones_stay(service, monkeypatch) -> None:
    monkeypatch.setattr("steelyard.service.host_readings.MOST_READINGS", 60)
    one = enrol(service, "one")
    for number in range(30):
        read(service, one, 1 + number / 1e5)
    with service.database.reading() as connection:
        found = readings_of(connection, one.id)["memory"]
    assert len(found) * len(PARTS) <= 60
    assert found[:5] == [0.1 * (1 + number / 1e5) for number in range(5)]


def test_it_is_run_once_an_hour_also_by_workers_that_are_started_anew(
    tmp_path, monkeypatch
) -> None:
    ran = []
    place = "steelyard.app.service.reference_benchmark"
    monkeypatch.setattr(f"{place}.run_reference", lambda: ran.append(1) or {"memory": 0.1})
    now = [1000.0]
    monkeypatch.setattr(f"{place}.time.time", lambda: now[0])
    assert ReferenceBenchmark(str(tmp_path)).reading() == {"memory": 0.1}
    assert ReferenceBenchmark(str(tmp_path)).reading() is None
    now[0] += 3601
    assert ReferenceBenchmark(str(tmp_path)).reading() is not None
    now[0] -= 7200  # The clock was set back.
    assert ReferenceBenchmark(str(tmp_path)).reading() is not None
    assert len(ran) == 3
