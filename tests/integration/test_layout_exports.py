"""Programs whose link hides what their archives define: there is one heap in them all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.layout.clang_options import EXPORTED
from tests.integration.conftest import User
from tests.layout_programs import require_layout
from tests.layout_programs import run as run_program

EXPORTS = Path(__file__).resolve().parents[2] / "native" / "layout" / "exports.map"
HIDING = {
    "exclude": "-Wl,--exclude-libs,ALL",
    "script": "-Wl,--version-script=hides.map",
    "versions": "-Wl,--version-script,versions.map",
    "dynamic": "-rdynamic",
}

require_layout()


def test_the_script_for_the_linker_names_what_the_driver_exports() -> None:
    lines = EXPORTS.read_text().splitlines()
    names = [line.strip(" ;").replace("[", "").replace("]", "") for line in lines if "[" in line]
    assert names == list(EXPORTED)


@pytest.mark.parametrize("hiding", HIDING)
def test_what_the_c_library_allocates_is_of_the_heap_of_the_program(
    user: User, hiding: str
) -> None:
    source = user.home / "hides.c"
    source.write_text(
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        'int main(void) { size_t size = 8; char *line = malloc(size), *name = strdup("x");'
        ' FILE *file = fopen("/proc/self/maps", "r");'
        " while (getline(&line, &size, file) > 0) { free(line); line = malloc(8); size = 8; }"
        ' free(line); name = realloc(name, 100); free(name); return puts("good") < 0; }\n'
    )
    (user.home / "hides.map").write_text("{ global: main; local: *; };\n")
    (user.home / "versions.map").write_text("V1 { global: main; local: *; };\n")
    program = str(user.home / "hides")
    option = HIDING[hiding].replace("script=", f"script={user.home}/")
    option = option.replace("script,", f"script,{user.home}/")
    told = user.types("cc", "-O2", str(source), option, "-o", program)
    assert told.status == 0, told.err
    for parts in ("none", "heap", "code,stack,heap"):
        assert run_program(program, **{"": parts}).stdout == "good\n"
