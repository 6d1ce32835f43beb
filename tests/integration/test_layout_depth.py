"""Frames with pads of which few look how deep the stack is: recursion of any kind still fits."""

from __future__ import annotations

from steelyard.layout.audit import audit_program
from tests.integration.conftest import User
from tests.layout_programs import SOURCES, require_layout
from tests.layout_programs import run as run_program

DEPTH = 40_000

require_layout()


def run(program: str, parts: str, seed: int) -> tuple[list[int], list[int]]:
    """How far the frames of a chain lie apart, and what its recursions came to."""
    done = run_program(program, _SEED=str(seed), _INTERVAL="2ms", **{"": parts})
    numbers = [int(word) for word in done.stdout.split()]
    return numbers[:2], numbers[2:]


def test_deep_recursion_of_any_kind_fits_a_stack_with_pads(user: User) -> None:
    program = str(user.home / "depths")
    assert user.types("cc", "-O2", str(SOURCES / "depths.c"), "-o", program).status == 0
    plain, sums = run(program, "none", 1)
    assert sums == [3 * DEPTH, DEPTH, -1, DEPTH]
    distances = set()
    for seed in range(1, 9):
        parts = "code,stack,heap" if seed % 2 else "blocks,stack"
        padded, padded_sums = run(program, parts, seed)
        assert padded_sums == sums
        pads = [one - other for one, other in zip(padded, plain, strict=True)]
        assert all(0 <= pad < 4096 and pad % 16 == 0 for pad in pads)
        distances.update(padded)
    # 16 draws of 256 values, of which some may be the same by chance.
    assert len(distances) >= 8


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
