"""Where and how debugging information is kept: forms, split, packed, separate and shared files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.profile.symbols import debug_files
from steelyard.profile.symbols.debug_files import read_build_id
from steelyard.profile.symbols.elf_symbols import read_symbols
from tests.needs import need
from tests.unit.profile.symbols.described_programs import (
    CPLUSPLUS,
    HIDDEN,
    INLINED,
    built,
    places_in,
    run,
)


@pytest.mark.parametrize(
    "flags",
    [
        ("-gdwarf-2", "-gno-strict-dwarf"),
        ("-gdwarf-3",),
        ("-gdwarf-4",),
        ("-gdwarf-5",),
        ("-gdwarf-4", "-gsplit-dwarf"),
        ("-gdwarf-5", "-gsplit-dwarf"),
        ("-gdwarf-5", "-gsplit-dwarf", "-ffunction-sections"),
        ("-gdwarf-4", "-fdebug-types-section"),
        ("-gdwarf-5", "-fdebug-types-section"),
        ("-g", "-gz=zlib"),
        ("-g", "-gsplit-dwarf", "-gz=zlib"),
        ("-g", "-flto"),
        ("-g", "-freorder-blocks-and-partition"),
        ("-g", "-static"),
    ],
    ids=" ".join,
)
def test_every_form_of_debugging_information_tells_of_the_same_functions(tmp_path, flags):
    try:
        path = built(tmp_path, *flags, source=CPLUSPLUS, name="a.cpp")
    except subprocess.CalledProcessError:
        pytest.skip(f"this compiler does not take {' '.join(flags)}")
    found = places_in(path, "_Z5outeri")
    assert {name for names in found for name in names[:-1]} == INLINED
    assert {names[-1] for names in found} == {"outer(int)"}


def test_sections_packed_by_zstandard_are_read(tmp_path):
    need("objcopy")
    path = built(tmp_path, "-g")
    command = ["objcopy", "--compress-debug-sections=zstd", path]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this objcopy packs nothing by Zstandard")
    assert ("inner", "middle", "outer") in places_in(path, "outer")


def test_a_package_of_split_units_is_read(tmp_path):
    need("dwp")
    for version in ("4", "5"):
        folder = tmp_path / version
        flags = (f"-gdwarf-{version}", "-gsplit-dwarf")
        path = built(folder, *flags, source=CPLUSPLUS, name="a.cpp")
        done = subprocess.run(
            ["dwp", "-e", "program"], cwd=folder, capture_output=True, check=False
        )
        if done.returncode or not (folder / "program.dwp").exists():
            continue  # binutils packs DWARF 4 alone
        for unit in folder.glob("*.dwo"):
            unit.unlink()
        assert {name for names in places_in(path, "_Z5outeri") for name in names[:-1]} == INLINED


def test_split_units_that_are_gone_leave_the_symbols(tmp_path):
    path = built(tmp_path, "-g", "-gsplit-dwarf")
    for unit in tmp_path.glob("*.dwo"):
        unit.unlink()
    assert set(places_in(path, "outer")) == {("outer",)}


@pytest.mark.parametrize("way", ["beside", "folder", "build id"])
def test_the_separate_file_of_a_stripped_program_is_found(tmp_path, monkeypatch, way):
    monkeypatch.setattr(debug_files, "DEBUG_ROOT", str(tmp_path / "root"))
    id_flag = "-Wl,--build-id=" + ("sha1" if way == "build id" else "none")
    path = built(tmp_path, "-g", id_flag)
    build_id = read_build_id(path)
    kept = {
        "beside": tmp_path / "program.debug",
        "folder": tmp_path / ".debug" / "program.debug",
        "build id": tmp_path / "root" / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug",
    }[way]
    kept.parent.mkdir(parents=True, exist_ok=True)
    run("objcopy", "--only-keep-debug", path, str(kept))
    run("strip", path)
    if way != "build id":
        run("objcopy", f"--add-gnu-debuglink={kept}", path)
    assert ("inner", "middle", "outer") in places_in(path, "outer")


def test_the_separate_file_of_another_build_is_passed_over(tmp_path):
    path = built(tmp_path, "-g", "-Wl,--build-id=none")
    run("objcopy", "--only-keep-debug", path, str(tmp_path / "program.debug"))
    run("strip", path)
    run("objcopy", f"--add-gnu-debuglink={tmp_path / 'program.debug'}", path)
    assert b"outer" in read_symbols(path).names
    with open(tmp_path / "program.debug", "ab") as file:
        file.write(b"\0")
    assert b"outer" not in read_symbols(path).names


def test_parts_that_dwz_put_into_a_shared_file_are_read(tmp_path):
    need("dwz")
    paths = [
        built(tmp_path / name, "-g", "-gdwarf-4", source=CPLUSPLUS, name=f"{name}.cpp")
        for name in ("one", "two")
    ]
    run("dwz", "-m", str(tmp_path / "shared"), *paths)
    assert (tmp_path / "shared").exists()
    for path in paths:
        assert {name for names in places_in(path, "_Z5outeri") for name in names[:-1]} == INLINED


def test_parts_that_dwz_put_into_a_supplementary_file_of_dwarf_5_are_read(tmp_path):
    need("dwz")
    paths = [
        built(tmp_path / name, "-g", "-gdwarf-5", source=CPLUSPLUS, name=f"{name}.cpp")
        for name in ("one", "two")
    ]
    run("dwz", "--dwarf-5", "-m", str(tmp_path / "shared"), *paths)
    assert b".debug_sup" in Path(paths[0]).read_bytes()
    for path in paths:
        assert {name for names in places_in(path, "_Z5outeri") for name in names[:-1]} == INLINED


def test_functions_of_units_that_dwz_shares_are_named_in_the_language_of_who_has_them(tmp_path):
    need("dwz", "g++")
    # What is shared has to be as much as telling of it takes.
    source = "#include <cstdio>\n#include <string>\n" + HIDDEN
    (tmp_path / "same.cpp").write_text(source)
    paths = [str(tmp_path / name) for name in ("one", "two")]
    for path in paths:
        run("g++", "-O2", "-g", "same.cpp", "-o", path, folder=tmp_path)
    run("dwz", "-m", str(tmp_path / "shared"), *paths)
    for path in paths:
        inlined = {name for names in places_in(path, "_Z5outeri") for name in names[:-1]}
        assert inlined == {"hidden(char const*, unsigned long)"}


@pytest.mark.parametrize("section", [".debug_sup", ".gnu_debugaltlink"])
@pytest.mark.parametrize("content", [b"", b"\5", b"\5\0\0", b"\5\0\0name", b"\0" * 40])
def test_the_name_of_a_supplementary_file_that_is_damaged_is_passed_over(
    tmp_path, section, content
):
    path = built(tmp_path, "-g")
    (tmp_path / "content").write_bytes(content or b"\xff")
    run("objcopy", "--add-section", f"{section}={tmp_path / 'content'}", path)
    assert ("inner", "middle", "outer") in set(places_in(path, "outer"))
