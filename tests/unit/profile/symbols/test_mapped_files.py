"""Only the file that was mapped names functions."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.profile.attribution import attribute
from steelyard.profile.boot_identity import boot_id
from steelyard.profile.file.profile_file import RawProfile, read_profile
from steelyard.profile.symbols import debug_files, kernel_symbols
from steelyard.profile.symbols.debug_files import read_build_id
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.mapped_files import MappedFile, open_path
from steelyard.profile.symbols.place_names import NamingRules
from tests.needs import need, need_root
from tests.unit.profile.profile_bytes import (
    chunk,
    events,
    head,
    identity,
    mapping,
    samples,
    summary,
)

SOURCE = "int {name}(int x) {{ return x * 3; }}\nint main(void) {{ return {name}(1); }}\n"


def built(folder: Path, name: str, *flags: str) -> Path:
    need("gcc")
    folder.mkdir(exist_ok=True)
    (folder / "a.c").write_text(SOURCE.format(name=name))
    command = ["gcc", "-O0", *(flags or ("-Wl,--build-id=sha1",)), "a.c", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "program"


def place_of(path: Path, function: str) -> int:
    """The offset of a function in its file."""
    symbols = read_symbols(str(path))
    address = int(symbols.addresses[list(symbols.names).index(function.encode())])
    return next(
        address - start + offset
        for offset, size, start in symbols.segments
        if start <= address < start + size
    )


def recorded(tmp_path: Path, path: Path, offset: int, **known: object) -> RawProfile:
    """One sample of a process that has the file mapped as a whole, from an address on."""
    profile = tmp_path / "p.profile"
    mapped = mapping(1, 5, 0x100000, 0x100000, 0, str(path)) + identity(**known)
    profile.write_bytes(
        head()
        + events(mapped)
        + samples((2, 5, 5, 0, 0, 0x100000 + offset, []))
        + events(summary(samples=1))
    )
    return read_profile(str(profile))


def name_in(raw: RawProfile) -> tuple[str, tuple[str, ...]]:
    found = attribute(raw)
    return found.frames[found.functions[0]].name, found.foreign_files


def test_a_file_of_the_recorded_build_names_functions(tmp_path):
    path = built(tmp_path, "triple")
    raw = recorded(tmp_path, path, place_of(path, "triple"), build_id=read_build_id(str(path)))
    assert name_in(raw) == ("triple", ())


def test_another_build_under_the_same_path_names_nothing_and_is_told_of(tmp_path):
    path = built(tmp_path, "triple")
    build_id, offset = read_build_id(str(path)), place_of(path, "triple")
    built(tmp_path, "another")
    raw = recorded(tmp_path, path, offset, build_id=build_id)
    assert name_in(raw) == ("[program]", (str(path),))
    answer = profile_answer(
        attribute(raw), Recorded("p", raw.header, {}, raw.samples["time_ns"], raw.samples["cpu"])
    )
    told = {caution.code: caution.message for caution in answer.cautions}
    assert str(path) in told["foreign-files"]


@pytest.mark.parametrize("flag", ["-Wl,--build-id=none"])
def test_without_a_build_id_the_inode_tells_one_file_from_another(tmp_path, flag):
    path = built(tmp_path, "triple", flag)
    offset, inode = place_of(path, "triple"), os.stat(path).st_ino
    assert name_in(recorded(tmp_path, path, offset, inode=inode)) == ("triple", ())
    shutil.copy(path, tmp_path / "copy")
    os.replace(tmp_path / "copy", path)
    raw = recorded(tmp_path, path, offset, inode=inode)
    assert name_in(raw) == ("[program]", (str(path),))


def test_a_recording_that_does_not_say_which_file_it_was_is_named_by_what_is_there(tmp_path):
    path = built(tmp_path, "triple")
    profile = tmp_path / "p.profile"
    offset = place_of(path, "triple")
    mapped = mapping(1, 5, 0x100000, 0x100000, 0, str(path))
    sample = samples((2, 5, 5, 0, 0, 0x100000 + offset, []))
    profile.write_bytes(head() + events(mapped) + sample + events(summary(samples=1)))
    assert name_in(read_profile(str(profile))) == ("triple", ())


def test_a_file_is_opened_as_the_process_sees_it(tmp_path):
    path = built(tmp_path, "triple")
    file = MappedFile(str(path), read_build_id(str(path)))
    os.rename(path, tmp_path / "elsewhere")
    assert open_path(file, []) is None
    # Whoever is this process sees what it sees itself.
    os.rename(tmp_path / "elsewhere", path)
    built(tmp_path / "other", "another")
    seen = open_path(MappedFile(str(path), file.build_id), [os.getpid()])
    assert seen == str(path)


def test_a_program_that_was_removed_is_read_while_it_runs(tmp_path):
    path = tmp_path / "program"
    shutil.copy(os.path.realpath(shutil.which("sleep") or ""), path)
    build_id = read_build_id(str(path))
    with subprocess.Popen([str(path), "60"]) as process:
        try:
            path.unlink()
            for shown in (str(path), f"{path} (deleted)"):
                found = open_path(MappedFile(shown, build_id), [process.pid])
                assert found is not None
                assert read_build_id(found) == build_id
                assert open_path(MappedFile(shown, "ab" * 20), [process.pid]) is None
        finally:
            process.kill()
    assert open_path(MappedFile(str(path), build_id), [process.pid]) is None


def test_a_library_that_was_removed_is_read_while_a_process_has_it(tmp_path):
    need_root()
    path = tmp_path / "library.so"
    shutil.copy(built(tmp_path, "triple"), path)
    inode = os.stat(path).st_ino
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        path.unlink()
        found = open_path(MappedFile(str(path), inode=inode), [os.getpid()])
        assert found is not None
        assert b"triple" in list(read_symbols(found).names)


def test_a_whole_file_that_is_kept_by_its_build_id_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(debug_files, "DEBUG_ROOT", str(tmp_path / "root"))
    path = built(tmp_path, "triple")
    build_id = read_build_id(str(path))
    kept = tmp_path / "root" / ".build-id" / build_id[:2] / build_id[2:]
    kept.parent.mkdir(parents=True)
    os.rename(path, kept)
    assert open_path(MappedFile(str(path), build_id), []) == str(kept)


def test_files_of_one_path_and_two_builds_have_rows_of_their_own(tmp_path):
    path = built(tmp_path, "triple")
    offset, build_id = place_of(path, "triple"), read_build_id(str(path))
    profile = tmp_path / "p.profile"
    profile.write_bytes(
        head()
        + events(
            mapping(1, 5, 0x100000, 0x100000, 0, str(path)) + identity(build_id=build_id),
            mapping(1, 6, 0x100000, 0x100000, 0, str(path)) + identity(build_id="ab" * 20),
        )
        + samples((2, 5, 5, 0, 0, 0x100000 + offset, []), (3, 6, 6, 0, 0, 0x100000 + offset, []))
        + events(summary(samples=2))
    )
    found = attribute(read_profile(str(profile)))
    shown = [found.frames[index] for index in found.functions]
    assert [frame.name for frame in shown][:1] == ["triple"]
    assert shown[0].object != shown[1].object
    assert found.foreign_files == (shown[1].object,)


def test_an_identity_without_a_mapping_is_damage(tmp_path):
    profile = tmp_path / "p.profile"
    profile.write_bytes(head() + chunk(b"EVNT", identity(inode=3)))
    assert "that of no mapping" in (read_profile(str(profile)).damage or "")


KALLSYMS = """\
ffffffff81000000 T _text
ffffffff81000100 t do_work
ffffffff81000100 T work_alias
ffffffff81000200 D not_code
ffffffffc0000000 t driver_step\t[driver]
ffffffffc0000100 T driver_end\t[driver]
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    (tmp_path / "kallsyms").write_text(KALLSYMS)
    read = kernel_symbols.kernel_symbols
    monkeypatch.setattr(
        "steelyard.profile.attribution.kernel_symbols",
        lambda header: read(header, str(tmp_path / "kallsyms")),
    )


def kernel_profile(tmp_path: Path, boot: str) -> RawProfile:
    """A sample of a thread of the kernel, and one in which it works for the program."""
    raw = recorded(tmp_path, tmp_path / "gone", 0)
    raw.header["boot_id"] = boot
    raw.samples = raw.samples.repeat(2)
    raw.frame_words = raw.frame_words.repeat(2)
    raw.samples["in_kernel"] = 1
    raw.samples["address"] = [0xFFFFFFFF81000110, 0xFFFFFFFFC0000010]
    raw.samples["user_address"][0] = 0
    return raw


def shown(raw: RawProfile, kernel_apart: bool) -> list[tuple[str, str]]:
    found = attribute(raw, rules=NamingRules(kernel_apart=kernel_apart))
    return [tuple(found.frames[index]) for index in found.functions]


def test_functions_of_the_kernel_have_names_and_on_request_rows_for_what_programs_asked(
    tmp_path, kernel
):
    raw = kernel_profile(tmp_path, boot_id())
    own = ("do_work", "[kernel]")
    assert shown(raw, kernel_apart=False) == [own, ("[gone]", str(tmp_path / "gone"))]
    assert shown(raw, kernel_apart=True) == [own, ("driver_step", "[driver]")]


def test_after_another_start_of_the_machine_the_kernel_has_no_names(tmp_path, kernel):
    raw = kernel_profile(tmp_path, "another")
    assert shown(raw, kernel_apart=True) == [("[kernel]", "[kernel]")] * 2


def test_functions_of_the_vdso_have_names(tmp_path):
    symbols = kernel_symbols.vdso_symbols({"boot_id": boot_id()}, "")
    if not len(symbols.names):
        pytest.skip("this machine has no vdso")
    assert any(b"clock_gettime" in name for name in symbols.names)
    assert not len(kernel_symbols.vdso_symbols({"boot_id": boot_id()}, "00" * 20).names)
    assert not len(kernel_symbols.vdso_symbols({}, "").names)
