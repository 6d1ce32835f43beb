"""What share of a run's samples lies in code that moves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import User, validate
from tests.layout_programs import require_layout

require_layout()

# As much time in what moves as in what stays, by instructions.
SOURCE = (
    "long spin(long n);\n__attribute__((noinline)) long mine(long n) { long s = 0;"
    ' for (long i = 0; i < n; i++) { s += 3 * i; __asm__ volatile("" : "+r"(s)); } return s; }\n'
    "int main(void) { long s = 0; for (int i = 0; i < 100; i++)"
    " s += mine(300000) + spin(300000); return s == 1; }\n"
)
ASSEMBLY = (
    ".text\n.globl spin\nspin: movq %rdi, %rax\n1: imulq $3, %rcx\n decq %rdi\n jnz 1b\n ret\n"
    ".section .note.GNU-stack\n"
)


@pytest.fixture
def program(user: User) -> str:
    (user.home / "half.c").write_text(SOURCE)
    (user.home / "spin.s").write_text(ASSEMBLY)
    assert user.types("cc", "-O2", "half.c", "spin.s", "-o", "half").status == 0
    return str(user.home / "half")


def samples(user: User, program: str, layout: str) -> dict[str, Any]:
    environment = {"STEELYARD_LAYOUT": layout, "STEELYARD_LAYOUT_INTERVAL": "10ms"}
    user = User(user.home, {**user.environment, **environment})
    recorded = user.types("profile", "record", "-o", "p", "--", program)
    if recorded.status == 4:
        pytest.skip("this kernel gives no samples")
    assert recorded.status == 0, recorded.err
    told = user.types("layout", "audit", program, "--profile", "p", "--json", "-")
    assert told.status == 0, told.err
    document = told.document()
    validate(document)
    return document["samples"]


@pytest.mark.parametrize("layout", ["none", "code,stack,heap"])
def test_samples_in_assembly_that_stays_are_told_from_those_that_move(
    user: User, program: str, layout: str
) -> None:
    found = samples(user, program, layout)
    staying = {each["name"]: each["samples"] for each in found["staying"]}
    assert found["moving"] > 0
    assert staying["spin"] > 0
    elsewhere = sum(each["samples"] for each in found["elsewhere"])
    whole = found["moving"] + found["runtime"] + sum(staying.values()) + elsewhere
    assert found["count"] == whole
    assert found["moving"] + staying["spin"] > whole / 2


def test_a_run_with_all_samples_in_copies_is_no_other_programs(user: User, program: str) -> None:
    only_moving = SOURCE.replace("long spin(long n);", "").replace(" + spin(300000)", "")
    (user.home / "moving.c").write_text(only_moving)
    assert user.types("cc", "-O2", "moving.c", "-o", "moving").status == 0
    found = samples(user, str(user.home / "moving"), "code")
    assert found["moving"] > found["count"] / 2


def test_a_profile_of_another_program_is_refused(user: User, program: str) -> None:
    samples(user, program, "none")
    (user.home / "other.c").write_text("int main(void) { return 0; }\n")
    assert user.types("cc", "other.c", "-o", "other").status == 0
    told = user.types("layout", "audit", "other", "--profile", "p")
    assert (told.status, "has no sample in" in told.err) == (2, True)
