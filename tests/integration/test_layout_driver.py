"""The compiler drivers, called as builds and people call them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.layout.command_line import parse_command_line
from steelyard.layout.compiler_call import compiler_arguments
from steelyard.layout.split_compile import split_compile
from steelyard.layout.toolchain import find_toolchain
from tests.integration.conftest import User, validate
from tests.layout_programs import SOURCES, environment_with, read_report, require_layout, run
from tests.needs import need

require_layout()

PARTS = ("none", "code", "code,stack,heap", "blocks,stack,heap")
STEELYARD = Path(sys.executable).with_name("steelyard")
NAMES = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
ALLOCATOR = (
    "#include <string.h>\nstatic char pool[1 << 24];\nstatic unsigned long used;\n"
    "void *malloc(unsigned long size) { unsigned long *p = (unsigned long *)(pool + used);"
    " size = (size + 31) & ~15ul; used += size; *p = size - 16; return p + 2; }\n"
    "void free(void *p) { (void)p; }\n"
    "void *calloc(unsigned long n, unsigned long size) {"
    " void *p = malloc(n * size); return memset(p, 0, n * size); }\n"
    "void *realloc(void *old, unsigned long size) { void *p = malloc(size);"
    " unsigned long has = old ? ((unsigned long *)old)[-2] : 0;"
    " return old ? memcpy(p, old, has < size ? has : size) : p; }\n"
    "int is_own(void *p) { return (char *)p >= pool && (char *)p < pool + sizeof pool; }\n"
)
USER_OF_IT = (
    f"{NAMES}int is_own(void *);\n"
    'int main(void) { char *copy = strdup("x"); void *other = NULL;'
    " if (posix_memalign(&other, 64, 9) != 0) return 3;"
    " return is_own(copy) && is_own(malloc(3)) ? 0 : 4; }\n"
)


def drive(user: User, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """The console script itself, which takes another way than `python -m`."""
    return subprocess.run(
        [STEELYARD, *arguments],
        cwd=user.home,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )


def linked(user: User, *arguments: str, typed: str = "") -> None:
    done = drive(user, *arguments, typed=typed)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_is_compiled_from_standard_input(user: User) -> None:
    linked(user, "cc", "-x", "c", "-", "-o", "program", typed="int main(void) { return 0; }\n")
    run(str(user.home / "program"))
    linked(user, "c++", "-xc++", "-o", "program", "-", typed="int main() { return 0; }\n")
    run(str(user.home / "program"))


def test_a_precompiled_header_is_made_and_used(user: User) -> None:
    (user.home / "all.h").write_text("#include <stdio.h>\n#define STATUS 0\n")
    (user.home / "main.c").write_text('int main(void) { puts(""); return STATUS; }\n')
    linked(user, "cc", "-O2", "-x", "c-header", "all.h", "-o", "all.h.pch")
    linked(user, "cc", "-O2", "-include", "all.h", "main.c", "-o", "program")
    run(str(user.home / "program"))
    linked(user, "c++", "-x", "c++-header", "all.h", "-o", "all.gch")


def test_analysis_answers_as_clangs_and_links_nothing(user: User) -> None:
    (user.home / "main.c").write_text("int main(void) { int *p = 0; return *p; }\n")
    done = drive(user, "cc", "--analyze", "main.c")
    assert (done.returncode, "Dereference of null pointer" in done.stderr) == (0, True)
    assert not (user.home / "a.out").exists()


def test_a_link_into_a_device_leaves_the_device_alone(user: User) -> None:
    (user.home / "main.c").write_text("int main(void) { return 0; }\n")
    linked(user, "cc", "main.c", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()
    assert "LLD" in drive(user, "cc", "-Wl,--version", "main.c").stdout


@pytest.mark.parametrize("layout", ["none", "code,stack,heap"])
@pytest.mark.parametrize("is_archive", [False, True])
def test_a_malloc_of_the_programs_own_stays_in_its_place(
    user: User, layout: str, is_archive: bool
) -> None:
    (user.home / "own.c").write_text(ALLOCATOR)
    (user.home / "main.c").write_text(USER_OF_IT)
    linked(user, "cc", "-O2", "-c", "own.c")
    subprocess.run(["ar", "rcs", "libown.a", "own.o"], cwd=user.home, check=True)
    where = ("-L.", "-lown") if is_archive else ("own.o",)
    linked(user, "cc", f"--layout={layout}", "main.c", *where, "-o", "program")
    program, file = str(user.home / "program"), user.home / "report.json"
    for parts in ("none", "heap", "code,stack,heap"):
        run(program, _INTERVAL="1ms", _REPORT=str(file), **{"": parts})
        report = read_report(file)
        validate(report)
        assert (report["own_malloc"], report["parts"]["heap"]) == (True, False)
    assert drive(user, "layout", "audit", program).stdout.count("malloc of its own") == 1


def test_a_malloc_that_only_the_heap_replaces_is_not_the_programs_own(user: User) -> None:
    (user.home / "main.c").write_text(f"{NAMES}int main(void) {{ return malloc(3) == 0; }}\n")
    linked(user, "cc", "main.c", "-o", "program")
    file = user.home / "report.json"
    run(str(user.home / "program"), _REPORT=str(file))
    report = read_report(file)
    assert (report["own_malloc"], report["parts"]["heap"]) == (False, True)


@pytest.mark.parametrize("driver", ["cc", "c++", "fc"])
def test_the_help_is_steelyards_own_and_names_the_compilers(user: User, driver: str) -> None:
    told = drive(user, driver, "--help")
    assert told.returncode == 0
    assert told.stdout.startswith(f"Usage: steelyard {driver} ")
    for word in ("--layout=", "--layout-interval=", "--layout-seed=", "STEELYARD_LAYOUT="):
        assert word in told.stdout
    assert told.stdout == user.types(driver, "--help").out
    other = next(line for line in told.stdout.splitlines() if line.startswith("All other options"))
    words = other.split("`")[1].split()[1:]
    assert driver == "fc" or "OVERVIEW: clang" in drive(user, *words).stdout


def test_a_program_runs_without_proc(user: User) -> None:
    (user.home / "main.c").write_text(f'{NAMES}int main(void) {{ puts("here"); return 0; }}\n')
    linked(user, "cc", "main.c", "-o", "program")
    hide = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not take /proc away")
    for layout, told in (("none", ""), ("heap", ""), ("code", "no /proc")):
        done = subprocess.run(
            [*hide, str(user.home / "program")],
            env=environment_with({"": layout}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "here\n")
        assert told in done.stderr


def test_a_debugger_is_told_that_its_breakpoints_are_lost(user: User) -> None:
    need("gdb")
    (user.home / "main.c").write_text(
        f"{NAMES}__attribute__((noinline)) int called(int x) {{ return x + 1; }}\n"
        "int main(int count, char **words) { (void)words; return called(count) - 2; }\n"
    )
    linked(user, "cc", "-g", "-O1", "main.c", "-o", "program")
    call = ["gdb", "-q", "-batch", "-ex", "break called"]
    end = ["-ex", "run", "-ex", "bt", str(user.home / "program")]

    def seen(*more: str) -> str:
        done = subprocess.run(
            [*call, *more, *end], cwd=user.home, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    lost = seen()
    if "Operation not permitted" in lost:
        pytest.skip("nobody may trace processes here")
    assert "1 breakpoints are lost" in lost
    kept = seen("-ex", "set environment STEELYARD_LAYOUT=heap")
    assert "breakpoints are lost" not in kept
    assert "in main (count=1" in kept


@pytest.mark.parametrize(
    "flags",
    [
        ("-fbasic-block-sections=all",),
        ("-fsanitize=kcfi",),
        ("-g", "-ffile-prefix-map=/tmp=/elsewhere", "-fdebug-prefix-map=/usr=/other"),
        ("-g", "-gsplit-dwarf", "-fdebug-types-section", "-save-temps=obj"),
        ("-fcf-protection=full", "-fstack-protector-all", "-fstack-clash-protection"),
        ("-mcmodel=large", "-mretpoline"),
        ("-finstrument-functions", "-fpatchable-function-entry=5"),
        ("-O0", "-fno-plt", "-mstackrealign", "-fzero-call-used-regs=all"),
    ],
)
def test_odd_options_change_nothing_of_what_a_program_does(
    user: User, flags: tuple[str, ...]
) -> None:
    linked(user, "cc", "-O2", str(SOURCES / "everything.c"), *flags, "-o", "program")
    program = str(user.home / "program")
    outputs = {run(program, "3", _INTERVAL="1ms", **{"": parts}).stdout for parts in PARTS}
    assert len(outputs) == 1


def test_an_option_that_cannot_be_with_copies_is_refused(user: User) -> None:
    (user.home / "main.c").write_text("int main(void) { return 0; }\n")
    told = drive(user, "cc", "-mspeculative-load-hardening", "-c", "main.c")
    assert (told.returncode, "is refused" in told.stderr) == (2, True)


def test_folders_that_are_mapped_are_so_in_the_object(user: User) -> None:
    (user.home / "main.c").write_text("int main(void) { return 0; }\n")
    for assembler in ("", "-Wa,--fatal-warnings,-an"):
        mapped = f"-ffile-prefix-map={user.home}=/elsewhere"
        done = drive(user, "cc", "-g", mapped, *filter(None, [assembler]), "-c", "main.c")
        assert (done.returncode, done.stderr) == (0, "")
        data = (user.home / "main.o").read_bytes()
        assert b"/elsewhere" in data
        assert str(user.home).encode() not in data


@pytest.mark.parametrize(
    "words",
    [
        ("-O2", "-c", "main.c"),
        ("-g", "-Ione", "-I", "two", "-isystem", "three", "-c", "main.c", "-o", "x.o"),
        ("-g", "-gdwarf-4", "-fPIC", "-c", "main.c"),
        ("-g0", "-gdwarf-4", "-O1", "-x", "c++", "-c", "main.c"),
        ("-gdwarf-4", "-c", "main.c"),
        ("-gdwarf-5", "-g", "-c", "main.c", "-MD", "-MF", "main.d", "-MT", "main.o"),
        ("-g", "-g0", "-pthread", "-march=native", "-c", "main.c"),
        ("-gdwarf-5", "-g0", "-g", "-w", "-std=c17", "-fvisibility=hidden", "-c", "main.c"),
    ],
)
def test_two_calls_are_those_that_clang_would_make(user: User, words: tuple[str, ...]) -> None:
    (user.home / "main.c").write_text("int main(void) { return 0; }\n")
    line, tools = parse_command_line(words), find_toolchain("c")
    argv = compiler_arguments(line, tools, "c")
    asked = subprocess.run(
        [*argv, "-###"], cwd=user.home, capture_output=True, text=True, check=True
    )
    compiled, assembled = (shlex.split(row) for row in asked.stderr.splitlines()[-2:])
    own = split_compile(line, tools, argv, compiled[compiled.index("-x") - 1])
    assert own is not None
    assert own[1] == assembled
    asked = subprocess.run(
        [*own[0], "-###"], cwd=user.home, capture_output=True, text=True, check=True
    )
    assert shlex.split(asked.stderr.splitlines()[-1]) == compiled


def test_an_object_may_be_a_device_and_its_folder_may_take_no_other_file(user: User) -> None:
    (user.home / "main.c").write_text("int main(void) { return 0; }\n")
    closed = user.home / "closed"
    closed.mkdir()
    (closed / "main.o").touch()
    (closed / "main.o").chmod(0o666)
    closed.chmod(0o555)
    user.home.chmod(0o755)
    # Root may write everywhere; who is nobody may not read every checkout.
    nobody = ["setpriv", "--reuid", "65534", "--clear-groups"]
    tried = [*nobody, STEELYARD, "cc", "--version"]
    status = subprocess.run(tried, capture_output=True, check=False).returncode
    can_be = os.geteuid() == 0 and status == 0
    as_nobody = nobody if can_be else []
    for output in ("/dev/null", "closed/main.o"):
        for more in ((), ("-Wa,--fatal-warnings",)):
            done = subprocess.run(
                [*as_nobody, STEELYARD, "cc", *more, "-c", "main.c", "-o", output],
                cwd=user.home,
                capture_output=True,
                text=True,
                check=False,
                env=environment_with({}) | {"TMPDIR": "/tmp"},
            )
            assert (done.returncode, done.stderr) == (0, "")
    assert (closed / "main.o").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.usefixtures("unmeasured")
def test_a_call_loads_nothing_that_takes_long(user: User) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-X", "importtime", STEELYARD, "cc", "--version"],
        cwd=user.home,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines()}
    slow = {"typing", "re", "enum", "dataclasses", "collections", "subprocess", "signal", "click"}
    assert "steelyard.layout.driver" in loaded
    assert not slow & loaded
