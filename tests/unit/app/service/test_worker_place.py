"""The directory of a worker."""

import shutil

from steelyard.app.service import worker_place
from steelyard.app.service.worker_place import WorkerPlace


def test_what_a_killed_worker_still_writes_is_taken_away_too(tmp_path, monkeypatch):
    """Its processes end a moment after it."""
    place = WorkerPlace(str(tmp_path / "d"))
    part = tmp_path / "d" / "parts" / "p1"
    part.mkdir(parents=True)
    late = ["a.journal", "b.journal"]
    remove = shutil.rmtree

    def removed_while_someone_writes(path, **options):
        remove(path, **options)
        if late:
            part.mkdir(parents=True)
            (part / late.pop()).touch()

    monkeypatch.setattr(worker_place.shutil, "rmtree", removed_while_someone_writes)
    with place.held(lambda _text: None):
        assert not (tmp_path / "d" / "parts").exists()
    assert not late
