"""Fortran, Rust and Go in programs, which move through the same runtime."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.integration.conftest import User, validate
from tests.layout_programs import SOURCES, read_report, require_layout
from tests.layout_programs import run as run_program
from tests.needs import need

require_layout()


def run(user: User, program: str, size: str, parts: str) -> tuple[str, dict[str, Any]]:
    """The output at an interval of 1 ms, and the report."""
    report = str(user.home / "report.json")
    done = run_program(program, size, _INTERVAL="1ms", _REPORT=report, **{"": parts})
    document = read_report(report)
    validate(document)
    return done.stdout, document


def moves_and_says_the_same(user: User, program: str) -> None:
    # A small one may be over before the machine has come to move it.
    for size in ("1", "10", "100"):
        plain, report = run(user, program, size, "none")
        assert report["moves"] == 0
        assert plain.strip()
        moved, report = run(user, program, size, "code,heap")
        assert moved == plain
        if report["moves"] >= 3:
            return
    raise AssertionError("it hardly moved")


def test_a_fortran_program_moves(user: User) -> None:
    need("gfortran")
    told = user.types("fc", "-O2", str(SOURCES / "shapes.f90"), "-o", "shapes")
    assert told.status == 0, told.err
    moves_and_says_the_same(user, str(user.home / "shapes"))
    audit = user.types("layout", "audit", "--json", "-", "shapes").document()
    assert audit["parts"] == ["code", "heap"]
    assert all(
        function["moves"]
        for function in audit["functions"]
        if function["name"] in {"MAIN__", "__shapes_MOD_fib", "__shapes_MOD_choose"}
    )


def test_frames_of_fortran_cannot_be_padded(user: User) -> None:
    need("gfortran")
    told = user.types("fc", "--layout=stack", "-c", str(SOURCES / "shapes.f90"))
    assert told.status == 2
    assert "--layout takes code and heap for Fortran" in told.err


def test_a_rust_program_moves_with_its_standard_library_and_its_panics(
    user: User, script: Callable[..., str]
) -> None:
    need("rustc")
    driver = f"{sys.executable} -m steelyard.cli.main"
    linker = script(f'exec {driver} cc "$@"', "moving-cc")
    # The toolchain that a user chose is found by their real home.
    environment = {**user.environment, "HOME": os.environ.get("HOME", "/")}
    done = subprocess.run(
        ["rustc", "-O", "-C", f"linker={linker}", str(SOURCES / "panics.rs"), "-o", "panics"],
        cwd=user.home,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    moves_and_says_the_same(user, str(user.home / "panics"))
    audit = user.types("layout", "audit", "--json", "-", "panics").document()
    assert audit["moving_ratio"] > 0.99
    assert any("compiled" in function["reason"] for function in audit["unpadded"])


def test_code_whose_calls_a_table_knows_by_where_they_return_to_stays(user: User) -> None:
    sources = [str(SOURCES / f"return_tables.{suffix}") for suffix in ("c", "s")]
    told = user.types("cc", "-O2", *sources, "-o", "program")
    assert told.status == 0, told.err
    audit = user.types("layout", "audit", "--json", "-", "program").document()
    moves = {function["name"]: function["moves"] for function in audit["functions"]}
    names = ("calls_of_ocaml", "calls_by_register", "where_it_returns")
    assert [moves[name] for name in names] == [False, False, True]
    assert run_program(str(user.home / "program"), **{"": "code"}).stdout == "1 1\n"


def test_code_of_go_stays_where_its_own_runtime_looks_for_it(user: User) -> None:
    sources = [str(SOURCES / f"go_like.{suffix}") for suffix in ("c", "s")]
    told = user.types("cc", "-O2", *sources, "-o", "program")
    assert told.status == 0, told.err
    audit = user.types("layout", "audit", "--json", "-", "program").document()
    moves = {function["name"]: function["moves"] for function in audit["functions"]}
    assert (moves["one_of_go"], moves["one_of_c"]) == (False, True)
    assert run_program(str(user.home / "program"), **{"": "code"}).stdout == "2\n"
