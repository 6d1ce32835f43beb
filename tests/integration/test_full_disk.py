"""The disk that holds the store becomes full in the middle of a comparison."""

import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def mounted_at(place):
    """A file system of 20 MiB; only root can make one."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a file system takes root")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def small_disk(tmp_path):
    with mounted_at(tmp_path / "small") as place:
        yield place


def test_trials_that_ended_before_the_disk_was_full_are_kept(user, script, small_disk):
    filler = script(
        "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n\n"
        f"[ $n -ne 7 ] || cat /dev/zero >{small_disk}/filler 2>/dev/null; true"
    )
    store = str(small_disk / "store.sqlite")
    told = user.types("measure", "--runs", "30", "--store", store, "--", filler)
    assert told.status != 0
    assert "disk" in told.err or "space" in told.err
    assert "Traceback" not in told.err

    (small_disk / "filler").unlink()
    shown = user.types("show", "latest", "--store", store, "--trials", "--json", "-").document()
    # The last page of the journal may have had room for a few more.
    assert 7 <= len(shown["trials"]) < 30
    resumed = user.types("resume", "latest", "--store", store, "--json", "-")
    assert resumed.status == 0, resumed.err
    assert resumed.document()["variants"][0]["repetitions"]["execution"] == 30


def test_a_disk_that_is_full_already_is_told_before_any_trial(user, script, small_disk):
    (small_disk / "filler").write_bytes(bytes(12 << 20))
    marker = user.home / "ran"
    store = str(small_disk / "store.sqlite")
    told = user.types("measure", "--store", store, "--", script(f"touch {marker}"))
    assert told.status == 2
    assert "MiB left" in told.err
    assert not marker.exists()
