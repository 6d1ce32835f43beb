"""Archives of which nothing is believed: what may come out of one, and what is refused."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from steelyard.archives.unpack_limits import UnpackLimits
from steelyard.archives.unpack_tar import unpack_tar
from steelyard.archives.unpack_zip import unpack_zip
from steelyard.core.errors import ArchiveError, SuiteError
from steelyard.suite.unpack import unpack

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, content: bytes = b"", **fields: object) -> Member:
    about = tarfile.TarInfo(name)
    about.size = len(content)
    for field, value in fields.items():
        setattr(about, field, value)
    return about, content


def tar(path: Path, *members: Member, mode: str = "w:gz") -> str:
    with tarfile.open(path, mode) as file:
        for about, content in members:
            file.addfile(about, io.BytesIO(content))
    return str(path)


def unpacked(tmp_path: Path, *members: Member) -> Path:
    target = tmp_path / "target"
    unpack(tar(tmp_path / "a.tar.gz", *members), str(target))
    return target


@pytest.mark.parametrize(
    ("hostile", "said"),
    [
        (member("../out", b"x"), "leads out"),
        (member("a/../../out", b"x"), "leads out"),
        (member("/etc/out", b"x"), "no member may have"),
        (member("a", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "leads out"),
        (member("a", type=tarfile.SYMTYPE, linkname="../../out"), "leads out"),
        (member("a", type=tarfile.LNKTYPE, linkname="../out"), "leads out"),
        (member("a", type=tarfile.LNKTYPE, linkname="/etc/passwd"), "no member may have"),
        (member("a", type=tarfile.CHRTYPE, devmajor=1, devminor=3), "neither a file"),
        (member("a", type=tarfile.BLKTYPE, devmajor=1, devminor=3), "neither a file"),
        (member("a", type=tarfile.FIFOTYPE), "neither a file"),
    ],
    ids=[
        "up",
        "within",
        "absolute",
        "link",
        "link-up",
        "hard-link-up",
        "hard-link",
        "character",
        "block",
        "fifo",
    ],
)
def test_a_member_that_no_source_has_is_refused_and_nothing_is_left(
    tmp_path: Path, hostile: Member, said: str
) -> None:
    with pytest.raises(SuiteError, match=said):
        unpacked(tmp_path, member("good/file", b"good"), hostile)
    assert sorted(os.listdir(tmp_path)) == ["a.tar.gz"]


def test_nothing_is_written_through_a_link_of_the_archive(tmp_path: Path) -> None:
    link = member("d", type=tarfile.SYMTYPE, linkname=".")
    with pytest.raises(SuiteError, match="through a link"):
        unpacked(tmp_path, link, member("d/file", b"x"))


@pytest.mark.parametrize("below", ["a/reached", "a/folder/reached"])
def test_no_link_or_directory_is_made_through_a_link_that_leads_out(
    tmp_path: Path, below: str
) -> None:
    place = tmp_path / "a" / "b"
    place.mkdir(parents=True)
    links = [
        member("a", type=tarfile.SYMTYPE, linkname="../.."),
        member(below, type=tarfile.SYMTYPE, linkname="x"),
    ]
    with pytest.raises(SuiteError, match="through a link"):
        unpack(tar(tmp_path / "x.tar.gz", *links), str(place / "source"))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "x.tar.gz"]


def test_an_archive_of_one_link_does_not_become_a_link_to_where_it_lies(tmp_path: Path) -> None:
    link = member("x", type=tarfile.SYMTYPE, linkname=".")
    unpack(tar(tmp_path / "x.tar.gz", link), str(tmp_path / "source"))
    assert not (tmp_path / "source").is_symlink()


def test_a_zip_whose_member_has_no_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a", "1")
    path.write_bytes(path.read_bytes().replace(b"a1PK", b"\0" + b"1PK").replace(b"aPK", b"\0PK"))
    with pytest.raises(SuiteError, match="no name"):
        unpack(str(path), str(tmp_path / "source"))


def test_links_that_only_together_lead_out_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="leads out"):
        unpacked(
            tmp_path,
            member("top/a/b/file", b"x"),
            member("top/down", type=tarfile.SYMTYPE, linkname="a/b/.."),
            member("top/a/c", type=tarfile.SYMTYPE, linkname="../down/../../../../etc"),
        )


def test_permissions_of_a_member_are_cut_to_those_of_a_source(tmp_path: Path) -> None:
    target = unpacked(tmp_path, member("p/run", b"#!", mode=0o7777), member("p/text", b"t", mode=0))
    assert stat.S_IMODE((target / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((target / "text").stat().st_mode) == 0o644


def test_a_source_comes_out_as_it_is_with_its_links_and_times(tmp_path: Path) -> None:
    target = unpacked(
        tmp_path,
        member("p-1/configure", b"#!/bin/sh", mode=0o755, mtime=1_000_000_000),
        member("p-1/lib/real.h", b"int x;", mtime=1_100_000_000),
        member("p-1/lib/same.h", type=tarfile.LNKTYPE, linkname="p-1/lib/real.h"),
        member("p-1/include", type=tarfile.SYMTYPE, linkname="lib"),
        member("p-1/gone", type=tarfile.SYMTYPE, linkname="lib/not-there"),
    )
    assert (target / "include" / "same.h").read_bytes() == b"int x;"
    assert os.readlink(target / "gone") == "lib/not-there"
    assert (target / "configure").stat().st_mtime == 1_000_000_000


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"member_count": 3}, "more than 3 members"),
        ({"total_bytes": 15_000}, "larger than 15000 bytes"),
        ({"ratio": 10.0, "ratio_from_bytes": 2000}, "a trap"),
    ],
)
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_an_archive_that_becomes_too_many_or_too_large_is_refused(
    tmp_path: Path, limits: dict[str, int], said: str, kind: str
) -> None:
    path = tmp_path / "a"
    if kind == "tar":
        tar(path, *(member(str(number), bytes(10_000)) for number in range(5)))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for number in range(5):
                file.writestr(str(number), bytes(10_000))
    bounds = UnpackLimits(path.stat().st_size, **limits)
    (tmp_path / "t").mkdir()
    with pytest.raises(ArchiveError, match=said):
        (unpack_tar if kind == "tar" else unpack_zip)(str(path), str(tmp_path / "t"), bounds)


def test_a_header_as_long_as_the_memory_is_not_read(tmp_path: Path) -> None:
    header = member("x", type=tarfile.XHDTYPE)[0]
    header.size = 2**40
    path = tmp_path / "a.tar"
    path.write_bytes(header.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    with pytest.raises(SuiteError, match="headers"):
        unpack(str(path), str(tmp_path / "t"))


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("offset", [0, 8, 60, -9])
def test_a_damaged_archive_gives_one_error(tmp_path: Path, kind: str, offset: int) -> None:
    path = tmp_path / f"a.tar.{kind}"
    content = os.urandom(500)
    tar(path, member("a", content), member("b/c", content), mode=f"w:{kind}")
    data = bytearray(path.read_bytes())
    data[offset] ^= 0xFF
    path.write_bytes(data[:-20] if offset == 60 else data)
    told = ""
    try:
        unpack(str(path), str(tmp_path / "t"))
    except SuiteError as error:
        told = error.message
    # A flipped byte of the header's time of change or of the padding changes nothing that matters.
    assert str(path) in told or (tmp_path / "t" / "a").read_bytes() == content


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "a\\..\\out"])
def test_a_zip_whose_member_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, "x")
    with pytest.raises(SuiteError, match=r"leads out|no member may have"):
        unpack(str(path), str(tmp_path / "t"))
    assert os.listdir(tmp_path) == ["a.zip"]


def test_a_zip_with_a_link_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr(link, "/etc/passwd")
    with pytest.raises(SuiteError, match="neither a file"):
        unpack(str(tmp_path / "a.zip"), str(tmp_path / "t"))


def test_a_zip_comes_out_as_it_is_without_special_permissions(tmp_path: Path) -> None:
    tool = zipfile.ZipInfo("pkg/tool")
    tool.external_attr = (stat.S_IFREG | 0o4777) << 16
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as file:
        file.writestr(tool, "run")
        file.writestr("pkg/__init__.py", "x = 1")
    unpack(str(tmp_path / "a.whl"), str(tmp_path / "t"))
    assert stat.S_IMODE((tmp_path / "t/pkg/tool").stat().st_mode) == 0o755
    assert (tmp_path / "t/pkg/__init__.py").read_text() == "x = 1"


def test_no_link_is_made_through_one_that_the_file_system_takes_for_the_same_name(
    tmp_path: Path,
) -> None:
    # As the link 'A' of an archive is on a file system that does not tell 'A' and 'a' apart.
    within = tmp_path / "within"
    within.mkdir()
    (within / "a").symlink_to("..")
    archive = tar(tmp_path / "x.tar", member("a/x", type=tarfile.SYMTYPE, linkname="y"))
    with pytest.raises(ArchiveError, match="through a link"):
        unpack_tar(archive, str(within))
    assert sorted(os.listdir(tmp_path)) == ["within", "x.tar"]


def test_a_sparse_file_comes_out_whole_and_one_beyond_the_limit_does_not(tmp_path: Path) -> None:
    made = tmp_path / "s"
    for size, kind in ((3 << 20, "gnu"), (1 << 20, "posix"), (90 << 30, "posix")):
        with open(made, "wb") as file:
            file.truncate(size)
            file.seek(700_000)
            file.write(b"x")
        archive = str(tmp_path / f"{size}.tar")
        words = ["tar", "--sparse", f"--format={kind}", "-C", str(tmp_path), "-cf", archive, "s"]
        subprocess.run(words, check=True)
        target = tmp_path / str(size)
        if size > 1 << 32:
            with pytest.raises(SuiteError, match="becomes larger"):
                unpack(archive, str(target))
        else:
            unpack(archive, str(target))
            assert (target / "s").read_bytes() == made.read_bytes()
