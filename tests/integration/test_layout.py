"""Programs that `steelyard cc` and `steelyard c++` build: they move, and do what they did."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import User, validate
from tests.layout_programs import SOURCES, environment_with, read_report, require_layout
from tests.layout_programs import run as run_program

PARTS = ("none", "code", "stack", "heap", "code,stack,heap", "blocks", "blocks,stack,heap")

require_layout()

Build = Callable[..., str]


@pytest.fixture
def build(user: User) -> Build:
    """Compiles a source of this folder and gives the program's path."""

    def compile_(source: Path, *options: str) -> str:
        driver = "cc" if source.suffix == ".c" else "c++"
        program = str(user.home / source.stem)
        told = user.types(driver, "-O2", *options, str(source), "-o", program)
        assert told.status == 0, told.err
        return program

    return compile_


def run(program: str, *arguments: str, **layout: str) -> str:
    """The output of a run; `layout` are the runtime's variables by their last words."""
    return run_program(program, *arguments, **layout).stdout


def report_of(program: str, folder: Path, *arguments: str, **layout: str) -> dict[str, Any]:
    file = folder / "report.json"
    run(program, *arguments, **layout, _REPORT=str(file))
    document = read_report(file)
    validate(document)
    return document


@pytest.mark.parametrize(
    ("source", "options"), [("everything.c", ()), ("exceptions.cpp", ("-std=c++20",))]
)
def test_every_treatment_of_one_program_gives_the_same_output(
    build: Build, source: str, options: tuple[str, ...]
) -> None:
    program = build(SOURCES / source, *options)
    outputs = {parts: run(program, _INTERVAL="1ms", **{"": parts}) for parts in PARTS}
    assert len(set(outputs.values())) == 1, outputs


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3", "-Os"])
def test_other_levels_of_optimisation_move_too(build: Build, level: str) -> None:
    program = build(SOURCES / "everything.c", level)
    outputs = {run(program, "5", _INTERVAL="1ms", **{"": parts}) for parts in PARTS}
    assert len(outputs) == 1


def test_a_long_loop_enters_new_copies_and_old_ones_are_freed(build: Build, user: User) -> None:
    source = user.home / "loop.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n"
        "static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);"
        " return t.tv_sec * 1000 + t.tv_nsec / 1000000; }\n"
        "__attribute__((noinline)) void *here(void) { return __builtin_return_address(0); }\n"
        "__attribute__((noinline)) void *called(void) { void *p = here();"
        ' __asm__ volatile("" ::: "memory"); return p; }\n'
        "int main(int count, char **words) { void *last = 0;"
        " long seen = 0, most = atol(words[count - 1]), start = now();"
        # Until it has been in so many copies, however long the machine takes for that.
        " while (seen < most ? now() < start + 600000 : now() < start + 50) {"
        " void *p = called(); seen += p != last; last = p; }"
        ' printf("%ld\\n", seen); return 0; }\n'
    )
    program = build(source)
    assert int(run(program, "1", **{"": "none"})) == 1
    file = str(user.home / "report.json")
    assert int(run(program, "40", _INTERVAL="5ms", _REPORT=file, **{"": "code"})) == 40
    report = read_report(file)
    validate(report)
    # It enters its fortieth copy with the thirty-ninth move, but for those replaced within a move;
    # by then the copies of all functions but the last ones are gone.
    assert report["moves"] >= 20
    assert report["copies_freed"] >= report["functions"] * report["moves"] / 2
    assert report["most_copies_bytes"] < 100 * 4096


def test_the_same_seed_repeats_a_layout_and_another_does_not(build: Build, user: User) -> None:
    source = user.home / "place.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <stdint.h>\n"
        "__attribute__((noinline)) void *here(void) { return __builtin_return_address(0); }\n"
        "int main(void) { uintptr_t original = (uintptr_t)main;"
        ' printf("%ld %ld %ld\\n", (long)((uintptr_t)here() - original),'
        " (long)((uintptr_t)malloc(64) & 0xffff),"
        " (long)((uintptr_t)__builtin_frame_address(0) & 0)); return 0; }\n"
    )
    program = build(source)
    first, again, other = (run(program, _SEED=seed) for seed in ("7", "7", "8"))
    assert first == again
    assert first != other


def test_basic_blocks_lie_apart_where_that_is_asked_for(build: Build, user: User) -> None:
    source = user.home / "apart.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdint.h>\nvolatile int sink;\n"
        "__attribute__((noinline)) void *here(void) { return __builtin_return_address(0); }\n"
        "__attribute__((noinline)) uintptr_t apart(int x) { uintptr_t place;"
        " if (x > 1) { sink = 1; place = (uintptr_t)here(); sink = 2; }"
        " else { sink = 3; place = (uintptr_t)here() + 1; sink = 4; } return place; }\n"
        'int main(void) { printf("%ld\\n", (long)(apart(1) - apart(2))); return 0; }\n'
    )
    program = build(source)
    assert len({run(program, _SEED=str(seed), **{"": "code"}) for seed in range(1, 11)}) == 1
    assert len({run(program, _SEED=str(seed), **{"": "blocks"}) for seed in range(1, 11)}) > 1
    repeated = [run(program, _SEED="3", _INTERVAL="off", **{"": "blocks"}) for _ in range(2)]
    assert repeated[0] == repeated[1]


def test_what_cannot_be_taken_apart_is_copied_whole_and_named(build: Build, user: User) -> None:
    source = user.home / "whole.c"
    source.write_text(
        "__attribute__((noinline)) int odd(int x) {"
        ' __asm__ volatile("jrcxz 1f\\n nop\\n1:" ::: "rcx"); return x > 3 ? x * x : 1 - x; }\n'
        "int main(int count, char **words) { (void)words; return odd(count); }\n"
    )
    program = build(source, "--layout=blocks")
    told = user.types("layout", "audit", program)
    assert "whole: odd: it has a jump that cannot be made longer" in told.out
    assert "basic blocks lie apart" in told.out
    report = report_of(program, user.home, _INTERVAL="1ms")
    assert report["parts"] == {"code": True, "stack": False, "heap": False, "blocks": True}


@pytest.mark.parametrize(("suffix", "linkage"), [(".c", ""), (".cpp", 'extern "C" ')])
def test_a_function_that_cannot_move_is_named_by_the_audit_and_the_report(
    build: Build, user: User, suffix: str, linkage: str
) -> None:
    source = user.home / f"stays{suffix}"
    source.write_text(
        '__asm__(".text\\n.globl odd\\n.type odd,@function\\nodd:\\n xorl %eax,%eax\\n ret\\n'
        ' .byte 0x06,0x07\\n.size odd,.-odd\\n");\n'
        f"{linkage}int odd(void);\nint main(void) {{ return odd(); }}\n"
    )
    program = build(source)
    told = user.types("layout", "audit", "--json", "-", program)
    functions = {function["name"]: function for function in told.document()["functions"]}
    assert functions["odd"]["moves"] is False
    assert "cannot be decoded" in functions["odd"]["reason"]
    assert functions["main"]["moves"] is True
    assert "stays: odd" in user.types("layout", "audit", program).out
    report = report_of(program, user.home)
    assert "odd" in {function["name"] for function in report["exempted"]}


def test_assembly_moves_or_is_named_with_the_reason(build: Build, user: User) -> None:
    program = build(SOURCES / "planted.c", str(SOURCES / "planted.s"))
    audit = user.types("layout", "audit", "--json", "-", program).document()
    functions = {function["name"]: function for function in audit["functions"]}
    for name in ("moves", "with_labels", "jumps_out", "fast", "resolve", "main"):
        assert functions[name]["moves"], functions[name]
    reasons = {
        "has_no_size": "its symbol has no size",
        "is_not_marked": "its symbol is not marked as a function",
        "is_entered_inside": "addresses of places in it are kept in data",
        "enters": "smaller than the jump to its copy",
        "has_data": "cannot be decoded",
    }
    for name, reason in reasons.items():
        assert reason in functions[name]["reason"]
    outputs = {run(program, _INTERVAL="1ms", **{"": parts}) for parts in PARTS}
    assert len(outputs) == 1


def test_only_what_the_link_asks_for_is_randomised_by_default(build: Build, user: User) -> None:
    program = build(SOURCES / "everything.c", "--layout=code", "--layout-interval=off")
    report = report_of(program, user.home, "1")
    assert report["parts"] == {"code": True, "stack": False, "heap": False, "blocks": False}
    assert report["interval_ns"] == 0
    assert report["moves"] == 0


@pytest.mark.parametrize(
    ("variable", "value"),
    [("", "kode"), ("_INTERVAL", "5"), ("_SEED", "x"), ("_BASE", "libnothing.so")],
)
def test_a_wrong_word_in_the_environment_ends_the_program_at_once(
    build: Build, variable: str, value: str
) -> None:
    program = build(SOURCES / "everything.c")
    environment = environment_with({variable: value})
    done = subprocess.run([program, "1"], env=environment, capture_output=True, check=False)
    assert done.returncode == 125
    assert value in done.stderr.decode()
    assert f"STEELYARD_LAYOUT{variable} must be" in done.stderr.decode()


@pytest.mark.parametrize("source", ["everything.c", "exceptions.cpp"])
def test_the_heap_can_be_shuffled_over_the_c_librarys(build: Build, source: str) -> None:
    program = build(SOURCES / source, *(("-std=c++20",) if source.endswith("pp") else ()))
    plain = run(program, **{"": "none"})
    for base in ("own", "pages", "libc"):
        assert run(program, _BASE=base, _INTERVAL="5ms", **{"": "heap"}) == plain


def test_the_base_of_the_heap_is_what_was_asked_for(build: Build, user: User) -> None:
    source = user.home / "base.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nextern char end;\n"
        "int main(void) { long inside = 0, steps = 0; char *last = malloc(64);"
        " for (int i = 0; i < 1000; ++i) { char *p = malloc(64); steps += p - last == 80; last = p;"
        " inside += p > &end && p < (char *)sbrk(0); }"
        ' printf("%d %d\\n", inside == 1000, steps < 100); return 0; }\n'
    )
    program = build(source)
    assert run(program, **{"": "none"}).split() == ["1", "0"]
    assert run(program, _BASE="libc", **{"": "heap"}).split() == ["1", "1"]
    assert run(program, _BASE="own", **{"": "heap"}).split() == ["0", "1"]


def test_a_program_that_was_not_built_so_has_its_heap_shuffled_by_preload(user: User) -> None:
    source = user.home / "heap.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        "int main(void) { long steps = 0; char *last = malloc(64);"
        " for (int i = 0; i < 100; ++i) { char *p = malloc(64); steps += p - last == 80;"
        ' last = p; } printf("%ld\\n", steps); return 0; }\n'
    )
    program = user.home / "heap"
    subprocess.run(["clang-19", "-O1", str(source), "-o", str(program)], check=True)
    assert int(run(str(program))) > 90
    told = user.types("layout", "run", "--layout-seed", "3", "--", str(program))
    assert int(told.out) < 10
    again = user.types("layout", "run", "--layout=heap", "--layout-seed=3", "--", str(program))
    assert again.out == told.out
    assert user.types("layout", "run", "--layout=code", "--", str(program)).status == 2


def test_objects_and_libraries_come_out_as_from_clang(user: User) -> None:
    (user.home / "part.c").write_text("int part(int x) { return x * 3; }\n")
    (user.home / "main.c").write_text("int part(int);\nint main(void) { return part(14) - 42; }\n")
    assert user.types("cc", "-O2", "-c", "part.c").status == 0
    subprocess.run(["ar", "rcs", "libpart.a", "part.o"], cwd=user.home, check=True)
    (user.home / "words").write_text("-O2 main.c -L. -lpart -o by-archive")
    assert user.types("cc", "@words").status == 0
    run(str(user.home / "by-archive"))
    (user.home / "lib").mkdir()
    assert user.types("cc", "-shared", "-fPIC", "part.c", "-o", "lib/libpart.so").status == 0
    found = ("-Llib", "-lpart", f"-Wl,-rpath,{user.home}/lib")
    linked = user.types("cc", "main.c", *found, "-o", "by-library")
    assert linked.status == 0, linked.err
    report = report_of(str(user.home / "by-library"), user.home)
    assert any(moving["path"].endswith("libpart.so") for moving in report["moving_libraries"])
    assert "clang" in user.types("cc", "--version").out
    assert "part" in user.types("cc", "-E", "part.c").out


def test_a_program_may_be_stripped_after_it_is_linked(user: User) -> None:
    source = str(SOURCES / "everything.c")
    told = user.types("cc", "-O2", "-s", source, "-o", "whole")
    assert told.status == 0
    assert "steelyard: -s is left out" in told.err
    subprocess.run(["strip", "whole", "-o", "bare"], cwd=user.home, check=True)
    report = report_of(str(user.home / "bare"), user.home, _INTERVAL="1ms")
    assert report["moves"] > 0
    assert run(str(user.home / "bare")) == run(str(user.home / "whole"))


def test_what_cannot_be_is_refused_with_its_reason(user: User) -> None:
    (user.home / "main.c").write_text("int main(void) { return 0; }\n")
    static = user.types("cc", "-static", "main.c")
    assert (static.status, "-static is refused" in static.err) == (2, True)
    assert user.types("cc", "--layout=kode", "main.c").status == 2
    assert user.types("cc", "--layout-interval=5", "main.c").status == 2
    assert user.types("layout", "audit", "/bin/ls").status == 2
    assert user.types("layout", "audit", str(user.home / "main.c")).status == 2
    assert user.types("cc", "nothing.c").status == 1


LOOP = (
    "#include <stdio.h>\n#include <unistd.h>\n__attribute__((noinline)) long f(long n)"
    ' { __asm__ volatile(""); return n + 1; }\n'
    "int main(int count, char **words) { long n = 0; while (n < 100000000) n = f(n);"
    " if (count > 1) _exit(0); return n == 0; }\n"
)


def trials_of(user: User, *arguments: str) -> list[dict[str, Any]]:
    told = user.types(*arguments)
    assert told.status == 0, told.err
    return user.types("show", "--trials", "--json", "-").document()["trials"]


def test_each_trial_of_a_comparison_keeps_what_its_program_did(build: Build, user: User) -> None:
    source = user.home / "loop.c"
    source.write_text(LOOP)
    program = build(source)
    call = ("compare", "--runs", "2", "--layout", "none", "--layout", "code,heap@1ms", program)
    trials = trials_of(user, *call)
    levels = {trial["variant"].partition(" ")[2]: trial["realised"]["layout"] for trial in trials}
    assert levels == {"(layout=none)": "none", "(layout=code,heap@1ms)": "code,heap@1ms"}
    moved = [t["details"]["layout"]["moves"] > 0 for t in trials if "code" in t["variant"]]
    assert moved == [True, True]
    assert len({trial["details"]["layout"]["seed"] for trial in trials}) == len(trials)


def test_a_trial_without_a_report_counts_and_the_answer_says_so(build: Build, user: User) -> None:
    source = user.home / "loop.c"
    source.write_text(LOOP)
    program = build(source)
    answer = user.types("measure", "--runs", "2", "--json", "-", "--", program, "ends")
    assert answer.status == 0, answer.err
    assert "layout-not-told" in {each["code"] for each in answer.document()["warnings"]}
    trials = user.types("show", "--trials", "--json", "-").document()["trials"]
    assert {trial["status"] for trial in trials} == {"ok"}
    assert all("problem" in trial["details"]["layout"] for trial in trials)


def test_an_experiment_varies_the_layout_of_what_it_builds(user: User) -> None:
    (user.home / "src").mkdir()
    (user.home / "src" / "loop.c").write_text(LOOP)
    steelyard = Path(sys.executable).with_name("steelyard")
    (user.home / "e.toml").write_text(
        "[experiment]\nruns = 2\n[[benchmark]]\nname = 'loop'\nsource = 'src'\n"
        f"build = '{steelyard} cc -O2 loop.c -o loop'\ncommand = '{{build}}/loop'\n"
        "[[factor]]\nfactor = 'layout'\nlevels = ['none', 'all@1ms']\n"
    )
    trials = trials_of(user, "experiment", "run", "e.toml")
    assert {t["realised"]["layout"] for t in trials} == {"none", "code,stack,heap@1ms"}


def test_a_program_that_does_not_move_has_no_layout_to_choose(user: User) -> None:
    told = user.types("compare", "--layout", "none", "--layout", "all", "true")
    assert told.status == 2
    assert "true was not built by `steelyard cc`" in told.err
    assert user.types("show").status == 2
