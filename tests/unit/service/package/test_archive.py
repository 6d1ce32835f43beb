"""Packages are read whole or refused by one error, and are the same whoever packed them."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from steelyard.core.errors import ArchiveError
from steelyard.service.package.archive import PackageLimits, open_package, unpack
from steelyard.service.package.kept_packages import KeptPackages
from tests.fuzz.reader import check_message
from tests.hostile_archives import ATTACKS, entry, good_members, good_zip, tar_of, zip_of

LIMITS = PackageLimits(member_count=2000, total_bytes=1 << 30)


def tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_hostile_archive_is_refused_by_name_and_leaves_nothing(tmp_path, name, seed):
    place = tmp_path / "place"
    place.mkdir()
    archive = tmp_path / "hostile"
    archive.write_bytes(ATTACKS[name].made(random.Random(seed)))
    with pytest.raises(ArchiveError, match=ATTACKS[name].said) as refused:
        unpack(str(archive), str(place / "files"), LIMITS)
    check_message(refused.value.message)
    assert str(archive) in refused.value.message
    assert tree(tmp_path) == ["hostile", "place"]


def test_an_archive_that_takes_too_long_is_refused(tmp_path):
    archive = tmp_path / "p"
    archive.write_bytes(tar_of(good_members()))
    with pytest.raises(ArchiveError, match="takes longer"):
        open_package(str(archive), PackageLimits(time_s=0))


def test_an_archive_that_is_too_large_is_not_even_opened(tmp_path):
    archive = tmp_path / "p"
    with open(archive, "wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(ArchiveError, match="a package may have 1073741824"):
        open_package(str(archive))


@pytest.mark.parametrize("kind", ["", "gz", "bz2", "xz", "zip", "folder", "within-a-folder"])
def test_a_package_is_the_same_however_it_is_packed(tmp_path, kind):
    plain = tmp_path / "plain.tar"
    plain.write_bytes(tar_of([entry(n, c) for n, c, _ in good_zip()], ""))
    other = tmp_path / "other"
    if kind == "zip":
        other.write_bytes(zip_of(good_zip()))
    elif kind == "folder":
        unpack(str(plain), str(other))
        (other / ".git").mkdir()
        (other / ".git" / "config").write_text("x")
        os.utime(other / "run.sh", (5, 5))
    elif kind == "within-a-folder":
        other.write_bytes(tar_of([entry(f"./p/{n}", c, mtime=7) for n, c, _ in good_zip()]))
    else:
        other.write_bytes(tar_of([entry(n, c, uid=7) for n, c, _ in good_zip()][::-1], kind))
    assert open_package(str(other)).digest == open_package(str(plain)).digest


@pytest.mark.parametrize(
    "change", [("run.sh", b"other"), ("new", b""), ("data/x", b"x" * 98)], ids=lambda c: c[0]
)
def test_another_content_is_another_package(tmp_path, change):
    members = {n: c for n, c, _ in good_zip()}
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(tar_of([entry(*item) for item in members.items()]))
    second.write_bytes(tar_of([entry(*item) for item in {**members, change[0]: change[1]}.items()]))
    assert open_package(str(first)).digest != open_package(str(second)).digest


def test_streams_one_after_the_other_are_read_as_compressors_of_many_threads_write_them(tmp_path):
    import bz2
    import gzip
    import lzma

    plain = tar_of(good_members(), "")
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        path = tmp_path / "p"
        path.write_bytes(
            b"".join(compress(plain[at : at + 700]) for at in range(0, len(plain), 700))
        )
        assert open_package(str(path)).member("data/input").size_bytes == 100


def test_links_within_a_package_are_kept_and_permissions_and_times_are_made_alike(tmp_path):
    members = [
        *good_members(),
        entry("also", type=tarfile.SYMTYPE, linkname="data/input"),
        entry("same", type=tarfile.LNKTYPE, linkname="run.sh"),
        entry("text", b"t", mode=0o666, mtime=9),
    ]
    archive = tmp_path / "p.tar.gz"
    archive.write_bytes(tar_of(members))
    package = unpack(str(archive), str(tmp_path / "files"))
    assert os.readlink(tmp_path / "files/also") == "data/input"
    assert (tmp_path / "files/same").read_bytes() == (tmp_path / "files/run.sh").read_bytes()
    assert stat.S_IMODE((tmp_path / "files/text").stat().st_mode) & 0o111 == 0
    assert len({path.lstat().st_mtime for path in tmp_path.glob("files/*.sh")}) == 1
    assert package.member("also").kind == "link"
    assert not package.has_setup
    assert not package.has_env


@pytest.mark.parametrize("odd", ["fifo", "link", "socket"])
def test_a_folder_with_what_no_package_has_is_refused(tmp_path, odd):
    import socket

    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "run.sh").write_bytes(b"#!/bin/sh\n")
    if odd == "fifo":
        os.mkfifo(folder / "odd")
    elif odd == "link":
        (folder / "odd").symlink_to("/etc/passwd")
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(folder / "odd"))
    with pytest.raises(ArchiveError, match="'odd'"):
        open_package(str(folder))


def test_a_package_of_gnu_tar_and_of_info_zip_is_read(tmp_path):
    unpack_from = tmp_path / "p"
    plain = tmp_path / "plain.tar"
    plain.write_bytes(tar_of(good_members(), ""))
    digest = unpack(str(plain), str(unpack_from)).digest
    for options in (["--format=gnu"], ["--format=posix"], ["-z"], ["-j"], ["-J"], ["-S"]):
        archive = tmp_path / "made"
        subprocess.run(["tar", "-C", unpack_from, *options, "-cf", archive, "."], check=True)
        assert open_package(str(archive)).digest == digest
    if shutil.which("zip"):
        subprocess.run(["zip", "-qr", tmp_path / "made.zip", "."], cwd=unpack_from, check=True)
        assert open_package(str(tmp_path / "made.zip")).digest == digest


def test_names_in_utf_8_come_out_of_a_zip_of_unix_that_does_not_say_so(tmp_path):
    # As Info-ZIP writes them in the locale C.
    members = [*good_zip(), ("Größe ü.txt", b"x", 0o100644)]
    data = bytearray(zip_of(members))
    for magic, place in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        at = data.find(magic)
        while at >= 0:
            data[at + place] &= ~0x8
            at = data.find(magic, at + 4)
    archive, plain = tmp_path / "a.zip", tmp_path / "plain.tar"
    archive.write_bytes(data)
    plain.write_bytes(tar_of([entry(n, c, mode=mode & 0o777) for n, c, mode in members], ""))
    assert open_package(str(archive)).member("Größe ü.txt").size_bytes == 1
    assert open_package(str(archive)).digest == open_package(str(plain)).digest


def test_a_package_is_kept_once_and_one_that_was_changed_is_not_given(tmp_path):
    archive = tmp_path / "p"
    archive.write_bytes(tar_of(good_members()))
    kept = KeptPackages(str(tmp_path / "kept"))
    first, second = kept.add(str(archive)), kept.add(str(archive))
    assert first.digest == second.digest
    assert os.listdir(tmp_path / "kept") == [first.digest]
    assert kept.package(first.digest).members == first.members
    Path(kept.place(first.digest), "run.sh").write_bytes(b"other")
    with pytest.raises(ArchiveError, match="was changed"):
        kept.package(first.digest)
    kept.forget(first.digest)
    assert os.listdir(tmp_path / "kept") == []
    with pytest.raises(ArchiveError, match="No package"):
        kept.package(first.digest)


@pytest.mark.parametrize("digest", ["../..", "", "a" * 63, "A" * 64, "a" * 64 + "\n"])
def test_what_is_no_digest_names_no_place(tmp_path, digest):
    with pytest.raises(ArchiveError, match="no digest"):
        KeptPackages(str(tmp_path)).place(digest)


def test_a_package_that_was_changed_since_it_was_opened_is_refused(tmp_path):
    archive = tmp_path / "p"
    archive.write_bytes(tar_of(good_members()))
    package = open_package(str(archive))
    archive.write_bytes(tar_of([*good_members(), entry("more", b"x")]))
    with pytest.raises(ArchiveError, match="has changed"):
        unpack(package, str(tmp_path / "files"))
    assert not (tmp_path / "files").exists()
