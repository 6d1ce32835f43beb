"""A disk that fills up while an archive comes in is said, and whoever sends it may come again."""

from __future__ import annotations

import errno
import io
import tarfile

import pytest

from steelyard.service.accounts import SCOPES
from steelyard.web.service import sent_body
from tests.hostile_archives import good_members, tar_of
from tests.packages import package
from tests.unit.web.service.test_result_archives import Sent


@pytest.fixture
def full(monkeypatch):
    """No byte of a body has room."""

    def opened(_path, _mode):
        return open("/dev/full", "wb", buffering=0)

    monkeypatch.setattr(sent_body, "open", opened, raising=False)


def packed(tmp_path) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(package(tmp_path / "p"), ".")
    return data.getvalue()


@pytest.mark.usefixtures("full")
def test_a_package_of_a_program_can_be_sent_again_later(shared, tmp_path) -> None:
    token = shared.token(shared.account("ada"), *SCOPES)
    got = shared.browser().calls("POST", "/api/packages", token, packed(tmp_path))
    assert got.status == 503
    said = "The service's disk is full: a package cannot be taken now."
    assert (got.json()["message"], got.json()["kind"]) == (said, "error")


@pytest.mark.usefixtures("full")
def test_an_archive_of_results_stays_with_its_worker(shared) -> None:
    got = Sent(shared).sends(tar_of(good_members()))
    assert got.status == 503
    assert "disk is full" in got.json()["message"]


def test_a_package_that_has_no_room_unpacked_is_not_called_damaged(
    shared, tmp_path, monkeypatch
) -> None:
    def extract(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("steelyard.service.package.archive._extract", extract)
    token = shared.token(shared.account("ada"), *SCOPES)
    got = shared.browser().calls("POST", "/api/packages", token, packed(tmp_path))
    assert (got.status, got.json()["message"]) == (
        503,
        "The disk is full: the package cannot be unpacked here.",
    )
