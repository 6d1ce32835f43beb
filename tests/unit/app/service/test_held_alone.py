"""Two services do not share a database or a directory, and the first runs on undisturbed."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from steelyard.app.service.opened_service import opened_service
from steelyard.core.errors import StoreError, UsageError
from tests.postgresql import cluster, fresh_database


@pytest.fixture(scope="module")
def socket():
    with cluster() as directory:
        yield directory


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    if request.param == "sqlite":
        yield str(tmp_path / "d" / "s.sqlite")
        return
    with fresh_database(request.getfixturevalue("socket"), "one") as found:
        yield found


def test_a_second_service_of_a_database_is_refused_until_the_first_has_ended(
    address, tmp_path
) -> None:
    first, second = str(tmp_path / "first" / "packages"), str(tmp_path / "second" / "packages")
    with opened_service(address, first) as service:
        token = service.access.owner_token("commands")
        for _ in range(2):
            with (
                pytest.raises(UsageError, match="Another service runs") as caught,
                opened_service(address, second),
            ):
                pass
            assert caught.value.field == "--database"
        assert service.access.identity(token, "read").role == "administrator"
    with opened_service(address, second):
        pass


def test_a_second_service_of_a_directory_is_refused_whatever_its_database(tmp_path) -> None:
    packages = tmp_path / "one" / "packages"
    packages.mkdir(parents=True)
    upload = packages / "upload-1"
    with ExitStack() as stack:
        stack.enter_context(opened_service(str(tmp_path / "a.sqlite"), str(packages)))
        upload.write_text("what is being sent to the first")
        with pytest.raises(UsageError, match="Another service runs") as caught:
            stack.enter_context(opened_service(str(tmp_path / "b.sqlite"), str(packages)))
        assert (caught.value.field, upload.exists()) == ("--store", True)


def test_a_directory_that_cannot_be_written_to_is_one_clear_error(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    wrong = str(tmp_path / "file" / "packages")
    with (
        pytest.raises(StoreError, match="cannot keep files"),
        opened_service(str(tmp_path / "a.sqlite"), wrong),
    ):
        pass
