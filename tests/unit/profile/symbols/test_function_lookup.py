"""Where the code of a function is that somebody names."""

from __future__ import annotations

import itertools
import os
import subprocess

import numpy as np
import pytest

from steelyard.core.errors import UsageError
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.function_lookup import (
    file_offsets,
    find_function,
    libraries_of,
    split_place,
)
from tests.needs import need, need_x86_64

SOURCE = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
namespace room { __attribute__((noinline)) int turn(int x) { return x * 3; } }
int main(int n, char** words) {
    char* copy = static_cast<char*>(malloc(9));
    memcpy(copy, words[0], 2);
    return room::turn(n) + static_cast<int>(read(0, copy, 0));
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> str:
    need("g++", "ldd")
    folder = tmp_path_factory.mktemp("lookup")
    (folder / "a.cpp").write_text(SOURCE)
    command = ["g++", "-O1", "a.cpp", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    if "libc.so.6" not in libraries_of(str(folder / "program")):
        pytest.skip("this machine has another C library")
    return str(folder / "program")


def dynamic_offset(path: str, name: str) -> int:
    """What nm says; libraries have the same offsets and addresses where their code begins."""
    need("nm", "objdump")
    told = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout
    found = (line.split() for line in told.splitlines())
    address = next(int(words[0], 16) for words in found if words[-1].partition("@")[0] == name)
    headers = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True)
    lines = headers.stdout.splitlines()
    for first, second in itertools.pairwise(lines):
        words, more = first.split(), second.split()
        if words[:1] == ["LOAD"]:
            offset, start, size = int(words[2], 16), int(words[4], 16), int(more[1], 16)
            if start <= address < start + size:
                return address - start + offset
    raise AssertionError(name)


@pytest.mark.parametrize("name", ["read", "free", "malloc", "write", "_exit"])
def test_a_function_of_a_library_is_found_by_any_of_its_names(program, name):
    library = libraries_of(program)["libc.so.6"]
    for text in (f"libc.so.6:{name}", f"{library}:{name}", name):
        place = find_function(text, program)
        assert place.path == os.path.realpath(library)
        assert place.offset == dynamic_offset(library, name)


def test_a_function_that_the_processor_chooses_is_the_one_that_is_called(program):
    need_x86_64()
    place = find_function("memcpy", program)
    symbol = dynamic_offset(place.path, "memcpy")
    assert place.offset != symbol
    assert place.path == os.path.realpath(libraries_of(program)["libc.so.6"])


@pytest.mark.parametrize("text", ["room::turn(int)", "_ZN4room4turnEi", "main"])
def test_the_functions_of_the_program_come_first(program, text):
    assert find_function(text, program).path == os.path.realpath(program)


def test_colons_of_scopes_part_no_file_from_its_function():
    assert split_place("room::turn(int)") == ("", "room::turn(int)")
    assert split_place("./program:room::turn(int)") == ("./program", "room::turn(int)")
    assert split_place("libc.so.6:read") == ("libc.so.6", "read")


@pytest.fixture(scope="module")
def same_names(tmp_path_factory) -> str:
    """A program in which two sources have a function of one name."""
    need("gcc")
    folder = tmp_path_factory.mktemp("same")
    unit = "static __attribute__((noinline)) int init(int n) { return n * %d; }\n"
    (folder / "main.c").write_text(
        unit % 3 + "int other(int);\nint main(int n, char** w) { return init(n) + other(n); }\n"
    )
    (folder / "net.c").write_text(unit % 5 + "int other(int n) { return init(n + 1); }\n")
    command = ["gcc", "-O1", "-g", "main.c", "net.c", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "program")


def test_functions_of_one_name_are_found_by_their_sources(same_names):
    found = {find_function(f"init [{name}.c]", same_names).offset for name in ("main", "net")}
    found.add(find_function(f"{same_names}:init [net.c]", None).offset)
    symbols = read_symbols(same_names)
    own = np.array([name == b"init" for name in symbols.names])
    assert found == set(file_offsets(symbols, symbols.addresses[own]).tolist())
    assert len(found) == 2


def test_a_name_that_functions_of_several_sources_have_is_refused_with_their_names(same_names):
    with pytest.raises(UsageError) as refused:
        find_function("init", same_names)
    assert refused.value.message.endswith("name one of them, init [main.c], init [net.c].")
    with pytest.raises(UsageError):
        find_function("init [other.c]", same_names)


def test_what_is_not_there_is_one_clear_error(program, tmp_path):
    with pytest.raises(UsageError, match="no function 'nowhere'"):
        find_function("nowhere", program)
    with pytest.raises(UsageError, match=r"no file 'libz.so.77'.*libc.so.6"):
        find_function("libz.so.77:deflate", program)
    with pytest.raises(UsageError, match="not there yet"):
        find_function("main", None)


def test_a_script_has_no_libraries(tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert libraries_of(str(script)) == {}
