"""What the audit counts: all code of a program, by what really moves."""

from __future__ import annotations

from typing import Any

from tests.integration.conftest import User, validate
from tests.layout_programs import require_layout

require_layout()

MAIN = "int main(void) { return 0; }\n"


def audit(user: User, assembly: str, *flags: str) -> dict[str, Any]:
    (user.home / "main.c").write_text(MAIN)
    (user.home / "more.s").write_text(f".text\n{assembly}\n.section .note.GNU-stack\n")
    linked = user.types("cc", "-O2", "main.c", "more.s", *flags, "-o", "program")
    assert (linked.status, linked.err) == (0, "")
    document = user.types("layout", "audit", "program", "--json", "-").document()
    validate(document)
    return document


def sizes(document: dict[str, Any]) -> dict[str, int]:
    return {function["name"]: function["size_bytes"] for function in document["functions"]}


def test_assembly_without_sizes_counts_up_to_the_next_symbol(user: User) -> None:
    found = audit(
        user,
        ".type bare,@function\nbare: .rept 1000\n inc %eax\n .endr\n ret\n .p2align 6\n"
        "unmarked: .rept 500\n inc %eax\n .endr\n ret\n .p2align 6",
    )
    assert sizes(found)["bare"] == 2001
    assert sizes(found)["unmarked"] == 1001
    staying = sum(each["size_bytes"] for each in found["functions"] if not each["moves"])
    staying += sum(each["size_bytes"] for each in found["unnamed"])
    assert found["code_bytes"] == found["moving_bytes"] + staying
    assert found["moving_ratio"] < 0.1


def test_code_that_no_symbol_names_is_counted_by_its_section(user: User) -> None:
    plain = audit(user, "nop")
    found = audit(
        user,
        ".type named,@function\nnamed: ret\n.size named,.-named\n"
        ".rept 1000\n inc %eax\n.endr\n.p2align 12\nret",
    )
    before = {each["section"]: each["size_bytes"] for each in plain["unnamed"]}
    after = {each["section"]: each["size_bytes"] for each in found["unnamed"]}
    assert after[".text"] - before.get(".text", 0) >= 2001
    assert "no symbol names this code" in user.types("layout", "audit", "program").out


def test_what_fills_the_room_between_functions_is_nobodys(user: User) -> None:
    few = audit(user, ".p2align 4\nnop\n.size main2,0")
    much = audit(user, ".p2align 12\nnop\n.size main2,0")
    assert abs(few["code_bytes"] - much["code_bytes"]) < 64
    assert 0 < few["moving_ratio"] < 1


def test_the_runtime_is_not_the_programs_code(user: User) -> None:
    for flags in ((), ("--layout=code,heap", "-flto"), ("--layout=none",)):
        assert audit(user, "nop", *flags)["code_bytes"] < 2000
