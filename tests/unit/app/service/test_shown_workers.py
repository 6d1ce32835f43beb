"""Pages show workers as they are, without waiting for anybody who writes."""

from __future__ import annotations

from steelyard.app.service.service import Service
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.workers import HEARTBEAT_LIMIT_S, all_workers


def test_a_silent_worker_is_shown_as_gone_before_anybody_notes_it(tmp_path) -> None:
    database, clock = ServiceDatabase(str(tmp_path / "s.sqlite")), [1000.0]
    service = Service(database, "none", lambda: clock[0])
    service.access.enrol(service.access.owner(), "w", {"cpus": 1})
    assert [each.status for each in service.hosts.shown_workers()] == ["idle"]
    clock[0] += HEARTBEAT_LIMIT_S + 1
    with database.writing():
        assert [each.status for each in service.hosts.shown_workers()] == ["gone"]
    with database.reading() as connection:
        assert [each.status for each in all_workers(connection)] == ["idle"]
    assert [each.status for each in service.hosts.workers()] == ["gone"]
    database.close()
