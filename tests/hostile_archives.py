"""Archives that attack who unpacks them: each by name, made from a seed, with what is said of it.

Each holds what a good package holds as well, so that nothing but the attack is refused.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

RUN = b"#!/bin/sh\necho 1\n"


@dataclass(frozen=True)
class Attack:
    """A hostile archive.

    Attributes
    ----------
    made : callable
        From a generator to the bytes of the archive.
    said : str
        A regular expression that is found in the error.
    """

    made: Callable[[random.Random], bytes]
    said: str


def entry(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    """A member of a tar file."""
    about = tarfile.TarInfo(name)
    about.size = len(content)
    about.mode = 0o755
    for field, value in fields.items():
        setattr(about, field, value)
    return about, content


def good_members() -> list[tuple[tarfile.TarInfo, bytes]]:
    """What a package has."""
    return [entry("run.sh", RUN), entry("collect.sh", RUN), entry("data/input", b"x" * 100)]


def tar_of(
    members: list[tuple[tarfile.TarInfo, bytes]], kind: str = "gz", **options: object
) -> bytes:
    """A tar file of these members."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode=f"w:{kind}", **options) as file:
        for about, content in members:
            file.addfile(about, io.BytesIO(content))
    return written.getvalue()


def _tar(*hostile: tuple[tarfile.TarInfo, bytes]) -> Callable[[random.Random], bytes]:
    """Among good members, wherever chance puts them, but in their order."""

    def made(rng: random.Random) -> bytes:
        members = good_members()
        places = sorted(rng.randrange(len(members) + 1) for _ in hostile)
        for shift, (place, member) in enumerate(zip(places, hostile, strict=True)):
            members.insert(place + shift, member)
        return tar_of(members, rng.choice(["", "gz", "bz2", "xz"]))

    return made


def _link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.SYMTYPE, linkname=target)


def _hard(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.LNKTYPE, linkname=target)


def _pax(headers: dict[str, str], name: str = "innocent") -> Callable[[random.Random], bytes]:
    def made(_: random.Random) -> bytes:
        about, content = entry(name, b"xx")
        about.pax_headers = headers
        return tar_of([*good_members(), (about, content)], format=tarfile.PAX_FORMAT)

    return made


def _global_pax(_: random.Random) -> bytes:
    return tar_of(good_members(), format=tarfile.PAX_FORMAT, pax_headers={"path": "../../out"})


def _bomb(kind: str) -> Callable[[random.Random], bytes]:
    def made(_: random.Random) -> bytes:
        zeros = entry("zeros", bytes(80 << 20))
        return tar_of([*good_members(), zeros], kind)

    return made


def _bomb_in_header(_: random.Random) -> bytes:
    header = entry("x", type=tarfile.XHDTYPE)[0]
    header.size = 2**40
    return header.tobuf(tarfile.GNU_FORMAT) + bytes(10_240)


def _sparse(_: random.Random) -> bytes:
    """One byte at the end of a terabyte, as GNU tar 1.0 writes it."""
    about, _content = entry("GNUSparseFile.0/big")
    content = b"1\n%d\n1\n" % (2**40 - 1)
    content = content.ljust(512, b"\0") + b"x"
    about.size = len(content)
    about.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "big",
        "GNU.sparse.realsize": str(2**40),
    }
    return tar_of([*good_members(), (about, content)], format=tarfile.PAX_FORMAT)


def _old_sparse(_: random.Random) -> bytes:
    about, content = entry("big", b"x" * 512, type=tarfile.GNUTYPE_SPARSE)
    head = bytearray(about.tobuf(tarfile.GNU_FORMAT))
    head[386:410] = b"00000000000\0" + b"00000001000\0"
    head[483:495] = b"77777777777\0"
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + content + bytes(1024)


def _cut(rng: random.Random) -> bytes:
    whole = tar_of(good_members(), rng.choice(["", "gz", "bz2", "xz"]))
    return whole[: rng.randrange(len(whole) // 4, len(whole) // 2)]


def _cut_at_a_member(_: random.Random) -> bytes:
    return tar_of(good_members(), "")[:1024]


def _header_damaged(_: random.Random) -> bytes:
    data = bytearray(tar_of(good_members(), ""))
    data[1024 + 20] ^= 0xFF
    return bytes(data)


def _second_archive_behind(rng: random.Random) -> bytes:
    whole = tar_of(good_members(), "") + tar_of([entry("hidden", b"x")], "")
    return rng.choice([gzip.compress, bz2.compress, lzma.compress])(whole)


def _garbage_behind(kind: str) -> Callable[[random.Random], bytes]:
    return lambda rng: tar_of(good_members(), kind) + rng.randbytes(50)


def _size_beyond_the_end(_: random.Random) -> bytes:
    about, _content = entry("big")
    about.size = 2**33
    return about.tobuf(tarfile.GNU_FORMAT) + bytes(2048)


def _negative_size(_: random.Random) -> bytes:
    head = bytearray(entry("run.sh", RUN)[0].tobuf(tarfile.GNU_FORMAT))
    head[124:136] = b"\xff" * 12
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + bytes(1024)


def _xz_of_much_memory(_: random.Random) -> bytes:
    small = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 16}]
    data = bytearray(lzma.compress(tar_of(good_members(), ""), filters=small))
    # The size of the dictionary stands in the block's header: 40 is 4 GiB - 1 (xz 1.2.1, 5.3.1).
    place = data.index(b"\x21\x01", 12) + 2
    data[place] = 40
    length = (data[12] + 1) * 4
    body = bytes(data[12 : 12 + length - 4])
    data[12 + length - 4 : 12 + length] = struct.pack("<I", zlib.crc32(body))
    return bytes(data)


def _many(_: random.Random) -> bytes:
    return tar_of([*good_members(), *(entry(f"f{number}") for number in range(2100))])


def zip_of(members: list[tuple[str, bytes, int]]) -> bytes:
    """A zip file: names, contents, modes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content, mode in members:
            about = zipfile.ZipInfo(name)
            about.external_attr = mode << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(about, content)
    return written.getvalue()


_PLAIN = stat.S_IFREG | 0o755


def good_zip() -> list[tuple[str, bytes, int]]:
    """What a package has."""
    return [("run.sh", RUN, _PLAIN), ("collect.sh", RUN, _PLAIN), ("data/x", b"x" * 99, _PLAIN)]


def _zip(name: str, content: bytes = b"x", mode: int = _PLAIN) -> Callable[[random.Random], bytes]:
    def made(rng: random.Random) -> bytes:
        members = good_zip()
        members.insert(rng.randrange(4), (name, content, mode))
        return zip_of(members)

    return made


def _zip_patched(old: bytes, new: bytes, *, last: bool = False) -> Callable[[random.Random], bytes]:
    """Change the first, or the last, place of some bytes: a member's header, or the directory."""

    def made(_: random.Random) -> bytes:
        data = zip_of(good_zip())
        place = data.rfind(old) if last else data.find(old)
        return data[:place] + new + data[place + len(old) :]

    return made


def _zip_local_method(_: random.Random) -> bytes:
    data = bytearray(zip_of(good_zip()))
    data[8] = 0  # The first member is stored, its own header says.
    return bytes(data)


def _zip_local_size(_: random.Random) -> bytes:
    data = bytearray(zip_of(good_zip()))
    data[22] ^= 1
    return bytes(data)


def _zip_overlapping(_: random.Random) -> bytes:
    """Two entries of the directory that share one member's data."""
    data = bytearray(zip_of(good_zip()))
    first = data.find(b"PK\1\2")
    second = data.find(b"PK\1\2", first + 4)
    data[second + 42 : second + 46] = bytes(4)
    return bytes(data)


def _zip_encrypted(_: random.Random) -> bytes:
    data = bytearray(zip_of(good_zip()))
    data[6] |= 1
    data[data.find(b"PK\1\2") + 8] |= 1
    return bytes(data)


def _zip_bomb(_: random.Random) -> bytes:
    return zip_of([*good_zip(), ("zeros", bytes(80 << 20), _PLAIN)])


_DEEP = "/".join(["d"] * 40)
ATTACKS: dict[str, Attack] = {
    "absolute-name": Attack(_tar(entry("/etc/out", b"x")), "'/etc/out' has a name that no"),
    "name-up": Attack(_tar(entry("../out", b"x")), "'../out' leads out"),
    "name-up-within": Attack(_tar(entry("a/../../out", b"x")), "leads out"),
    "folder-up": Attack(_tar(entry("../out", type=tarfile.DIRTYPE)), "leads out"),
    "link-absolute": Attack(_tar(_link("a", "/etc/passwd")), "link 'a' leads out"),
    "link-up": Attack(_tar(_link("a", "../../out")), "link 'a' leads out"),
    "links-that-together-leave": Attack(
        _tar(_link("down", "data/.."), _link("e/c", "../down/../../etc")), "leads out"
    ),
    "write-through-a-link": Attack(_tar(_link("d", "data"), entry("d/f", b"x")), "through|twice"),
    "hard-link-absolute": Attack(_tar(_hard("a", "/etc/passwd")), "'/etc/passwd' has a name"),
    "hard-link-up": Attack(_tar(_hard("a", "../out")), "leads out"),
    "hard-link-to-nothing": Attack(_tar(_hard("a", "nothing")), "link to no file"),
    "hard-link-to-a-link": Attack(_tar(_link("l", "run.sh"), _hard("a", "l")), "link to no file"),
    "character-device": Attack(
        _tar(entry("dev", type=tarfile.CHRTYPE, devmajor=1, devminor=3)), "'dev' is neither"
    ),
    "block-device": Attack(
        _tar(entry("dev", type=tarfile.BLKTYPE, devmajor=8, devminor=0)), "'dev' is neither"
    ),
    "fifo": Attack(_tar(entry("pipe", type=tarfile.FIFOTYPE)), "'pipe' is neither"),
    "unknown-kind": Attack(_tar(entry("odd", type=b"Z")), "'odd' is neither"),
    "pax-path": Attack(_pax({"path": "../../out"}), "leads out"),
    "pax-path-absolute": Attack(_pax({"path": "/out"}), "no member may have"),
    "pax-path-of-all": Attack(_global_pax, "leads out"),
    "pax-size": Attack(_pax({"size": "99999999999"}), "cut off|damaged|becomes|end of data"),
    "pax-size-that-is-none": Attack(_pax({"size": "-5"}), "size of -5|damaged|cut off|cannot"),
    "pax-newline": Attack(_pax({"path": "a\nb"}), "control characters"),
    "pax-sparse": Attack(_sparse, "sparse|becomes"),
    "gnu-sparse": Attack(_old_sparse, "sparse|becomes"),
    "set-user-id": Attack(_tar(entry("su", b"x", mode=0o4755)), "'su' has set-id bits"),
    "set-group-id": Attack(_tar(entry("sg", b"x", mode=0o2755)), "'sg' has set-id bits"),
    "twice": Attack(_tar(entry("a", b"1"), entry("a", b"2")), "'a' is there twice"),
    "twice-by-dots": Attack(_tar(entry("a", b"1"), entry("./a", b"2")), "'a' is there twice"),
    "file-that-is-a-folder": Attack(_tar(entry("a", b"1"), entry("a/b", b"2")), "twice"),
    "folder-that-is-a-file": Attack(_tar(entry("a/b", b"1"), entry("a", b"2")), "twice"),
    "other-case": Attack(_tar(entry("A", b"1"), entry("a", b"2")), "take for the same"),
    "other-case-of-a-folder": Attack(_tar(entry("A/x", b"1"), entry("a/y", b"2")), "the same"),
    "other-unicode": Attack(
        _tar(entry("\u00e9", b"1"), entry("e\u0301", b"2")), "take for the same"
    ),
    "ligature": Attack(_tar(entry("\ufb01le", b"1"), entry("file", b"2")), "take for the same"),
    "newline": Attack(_tar(entry("a\nb", b"x")), "control characters"),
    "escape": Attack(_tar(entry("a\x1b[2Jb", b"x")), "control characters"),
    "not-utf-8": Attack(_tar(entry("a\udcff", b"x")), "not UTF-8"),
    "backslash": Attack(_tar(entry("a\\..\\b", b"x")), "no member may have"),
    "deep": Attack(_tar(entry(_DEEP, b"x")), "deeper than"),
    "long-name": Attack(_tar(entry("n" * 300, b"x")), "name of 300 bytes"),
    "long-path": Attack(_tar(entry("/".join(["n" * 200] * 8), b"x")), "name of 1607 bytes"),
    "too-many": Attack(_many, "more than 2000 members"),
    "bomb-gz": Attack(_bomb("gz"), "a trap"),
    "bomb-bz2": Attack(_bomb("bz2"), "a trap"),
    "bomb-xz": Attack(_bomb("xz"), "a trap"),
    "bomb-in-a-header": Attack(_bomb_in_header, "headers"),
    "xz-that-takes-4-gib": Attack(_xz_of_much_memory, "[Mm]emory"),
    "cut-off": Attack(_cut, "cut off|damaged|end of data|ended|Compressed"),
    "cut-off-at-a-member": Attack(_cut_at_a_member, "cut off|damaged|end of data"),
    "damaged-header": Attack(_header_damaged, "damaged"),
    "size-beyond-the-end": Attack(_size_beyond_the_end, "becomes larger|trap|cut off|end of data"),
    "size-below-zero": Attack(_negative_size, "size of -|damaged|invalid|cannot"),
    "archive-behind": Attack(_second_archive_behind, "follows the end"),
    "garbage-behind-gz": Attack(_garbage_behind("gz"), "follows the end"),
    "garbage-behind-bz2": Attack(_garbage_behind("bz2"), "follows the end"),
    "garbage-behind-xz": Attack(_garbage_behind("xz"), "follows the end"),
    "empty": Attack(lambda _: b"", "damaged|empty|cannot be read"),
    "no-archive": Attack(lambda rng: rng.randbytes(3000), "cannot be read"),
    "zip-absolute": Attack(_zip("/etc/out"), "no member may have"),
    "zip-up": Attack(_zip("../out"), "leads out"),
    "zip-backslash": Attack(_zip("a\\..\\..\\out"), "no member may have"),
    "zip-link": Attack(_zip("l", b"/etc/passwd", stat.S_IFLNK | 0o777), "'l' is neither"),
    "zip-device": Attack(_zip("d", b"", stat.S_IFCHR | 0o666), "'d' is neither"),
    "zip-fifo": Attack(_zip("p", b"", stat.S_IFIFO | 0o666), "'p' is neither"),
    "zip-set-id": Attack(_zip("s", b"x", stat.S_IFREG | 0o4755), "'s' has set-id bits"),
    "zip-folder-that-is-a-file": Attack(_zip("f", b"x", stat.S_IFDIR | 0o755), "'f' is a file"),
    "zip-twice": Attack(_zip("./run.sh"), "twice"),
    "zip-other-case": Attack(_zip("RUN.sh"), "take for the same"),
    "zip-newline": Attack(_zip("a\nb"), "control characters"),
    "zip-nul": Attack(_zip_patched(b"run.sh", b"run\0sh", last=True), "no member may have|where"),
    "zip-name-disagrees": Attack(_zip_patched(b"run.sh", b"ruin.x"), "disagrees"),
    "zip-method-disagrees": Attack(_zip_local_method, "disagrees"),
    "zip-size-disagrees": Attack(_zip_local_size, "disagrees"),
    "zip-overlapping": Attack(_zip_overlapping, "overlaps|disagrees"),
    "zip-encrypted": Attack(_zip_encrypted, "encrypted"),
    "zip-bomb": Attack(_zip_bomb, "a trap"),
    "zip-something-before": Attack(lambda _: b"#!/bin/sh\n" + zip_of(good_zip()), "cannot be read"),
    "zip-something-behind": Attack(
        lambda rng: zip_of(good_zip()) + rng.randbytes(9), "follows the end"
    ),
    "zip-cut-off": Attack(lambda _: zip_of(good_zip())[:-30], "cannot be read"),
    "zip-damaged": Attack(
        lambda _: zip_of(good_zip())[:40] + b"\xff\xff" + zip_of(good_zip())[42:], "cannot be read"
    ),
}
