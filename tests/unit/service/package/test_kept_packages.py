"""Packages that are kept stay what their digests say, or are got anew."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import pytest

from steelyard.app.service.worker_packages import WorkerPackages
from steelyard.core.errors import ArchiveError
from steelyard.service.package.kept_packages import KeptPackages
from tests.packages import package


@pytest.fixture
def source(tmp_path):
    return str(package(tmp_path / "source"))


@pytest.fixture
def kept(tmp_path):
    return KeptPackages(str(tmp_path / "kept"))


def damage(kept, digest):
    """Leave a file without its contents, as a crash of the host does."""
    with open(f"{kept.place(digest)}/run.sh", "wb"):
        pass


def test_a_damaged_package_is_told_and_is_not_whole(kept, source) -> None:
    digest = kept.add(source).digest
    assert kept.is_whole(digest)
    damage(kept, digest)
    assert kept.has(digest)
    assert not kept.is_whole(digest)
    with pytest.raises(ArchiveError, match="was changed"):
        kept.package(digest)


def test_a_damaged_package_is_mended_by_whoever_sends_it_again(kept, source, tmp_path) -> None:
    digest = kept.add(source).digest
    damage(kept, digest)
    assert kept.add(source).digest == digest
    assert kept.is_whole(digest)
    assert [each.name for each in (tmp_path / "kept").iterdir()] == [digest]


@dataclass
class FolderClient:
    """A service that gives one package, and counts how often."""

    archive: str
    count: int = 0

    def receive_file(self, path, target, most_bytes):
        self.count += 1
        shutil.copy(self.archive, target)


def test_a_worker_fetches_anew_what_a_crash_has_damaged(kept, source, tmp_path) -> None:
    archive = shutil.make_archive(str(tmp_path / "packed"), "tar", source)
    client = FolderClient(archive)
    packages = WorkerPackages(client, str(tmp_path / "kept"))
    digest = kept.add(source).digest
    packages.fetched({"p": digest}, str(tmp_path))
    assert client.count == 0
    damage(kept, digest)
    packages.fetched({"p": digest}, str(tmp_path))
    assert client.count == 1
    assert kept.is_whole(digest)
