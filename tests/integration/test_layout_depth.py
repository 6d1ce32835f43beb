"""Frames with pads of which few look how deep the stack is: recursion of any kind still fits."""

from __future__ import annotations

import pytest

from steelyard.layout.audit import audit_program
from tests.integration.conftest import User
from tests.layout_programs import SOURCES, require_layout
from tests.layout_programs import run as run_program

DEPTH = 40_000
PADDED = ("code,stack,heap", "blocks,stack")

require_layout()


@pytest.fixture
def program(user: User) -> str:
    path = str(user.home / "depths")
    assert user.types("cc", "-O2", str(SOURCES / "depths.c"), "-o", path).status == 0
    return path


def run(program: str, parts: str, seed: int, interval: str) -> tuple[list[int], list[int]]:
    """How far the frames of a chain lie apart, and what its recursions came to."""
    done = run_program(program, _SEED=str(seed), _INTERVAL=interval, **{"": parts})
    numbers = [int(word) for word in done.stdout.split()]
    return numbers[:2], numbers[2:]


@pytest.mark.parametrize("interval", ["2ms", "off"])
def test_deep_recursion_of_any_kind_fits_a_stack_with_pads(program: str, interval: str) -> None:
    _, sums = run(program, "none", 1, interval)
    assert sums == [3 * DEPTH, DEPTH, -1, DEPTH]
    for seed, parts in enumerate(PADDED * 4):
        assert run(program, parts, seed, interval)[1] == sums


def test_pads_are_drawn_from_a_page_by_the_seed(program: str) -> None:
    plain, _ = run(program, "none", 1, "off")
    pads: list[int] = []
    for seed, parts in enumerate(PADDED * 8):
        padded, _ = run(program, parts, seed, "off")
        assert run(program, parts, seed, "off")[0] == padded
        pads += [one - other for one, other in zip(padded, plain, strict=True)]
    assert all(0 <= pad < 4096 and pad % 16 == 0 for pad in pads)
    # 32 draws of 256 values: fewer that differ come once in 70 000 times, an empty third as rarely.
    # The seeds are always the same ones, and so are the draws.
    assert len(set(pads)) >= 24
    assert {pad * 3 // 4096 for pad in pads} == {0, 1, 2}


def test_the_audit_says_why_a_function_with_labels_has_no_pad(user: User) -> None:
    source = user.home / "labels.c"
    source.write_text(
        "#include <stdio.h>\n"
        "int main(int count, char **words) {"
        " static const void *const labels[] = {&&none, &&some, &&many};"
        " goto *labels[count > 2 ? 2 : count - 1];"
        ' none: return puts("none") < 0; some: return puts(words[1]) < 0;'
        ' many: return printf("%d\\n", count) < 0; }\n'
    )
    program = str(user.home / "labels")
    assert user.types("cc", "-O2", str(source), "-o", program).status == 0
    reasons = dict(audit_program(program).unpadded)
    assert reasons["main"] == "it is entered through addresses of places in it"
