"""The linker script that puts sections of code into a given order, with gaps where wanted.

GNU ld and LLVM's lld both read a script that ends in ``INSERT`` as an addition to their own:
the sections that it names get an output section of their own before ``.text``, and all else
stays as it was. https://sourceware.org/binutils/docs/ld/Miscellaneous-Commands.html
"""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.build.code_layout import Placed

OUTPUT_SECTION = ".text.steelyard"
# Compilers set apart what runs seldom, at the end, at the start, or often. GNU ld puts these
# groups before the rest, in this order; mixing them up would undo the compiler's work.
_GROUPS = (".text.unlikely", ".text.exit", ".text.startup", ".text.hot")
FIRST_CODE_NAMES = (".text", ".text.")


def group_of(section: str) -> int:
    """Which of the compiler's groups a section of code is in."""
    for index, prefix in enumerate(_GROUPS):
        if section == prefix or section.startswith(prefix + "."):
            return index
    return len(_GROUPS)


def grouped(order: Iterable[Placed]) -> list[Placed]:
    """`order` with the compiler's groups one after the other, each in the order given."""
    return sorted(order, key=lambda placed: group_of(placed.section.name))


def section_script(order: Iterable[Placed]) -> str:
    """The script for sections in this order; names are quoted, so that none is a pattern."""
    lines: list[str] = []
    for placed in grouped(order):
        if placed.padding_bytes:
            lines.append(f"    . = . + {placed.padding_bytes};")
        lines.append(f'    "{placed.module.path}"("{placed.section.name}")')
    body = "\n".join(lines)
    return f"SECTIONS\n{{\n  {OUTPUT_SECTION} :\n  {{\n{body}\n  }}\n}}\nINSERT BEFORE .text;\n"
