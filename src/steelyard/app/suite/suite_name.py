"""Programs of the suite as a user names them: ``suite:zstd@cc=clang-19,flags=-O3,size=ref``."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.app.request.command_text import SUITE_PREFIX
from steelyard.core.errors import UsageError
from steelyard.suite.recipe import SIZES
from steelyard.suite.suite_compilers import Toolchain

DEFAULT_SIZE = "train"
_TOOLS = ("cc", "cxx", "fc", "ld", "flags")
_KEYS = (*_TOOLS, "size")
WANTED = (
    "suite:NAME, where NAME is a program or a group, and after an @ any of "
    "cc=, cxx=, fc=, ld=, flags=, size= with commas between, or flags alone such as @-O3"
)


@dataclass(frozen=True)
class SuiteName:
    """A program or group of the suite, how it is built and at which size it is run."""

    name: str
    toolchain: Toolchain = field(default_factory=Toolchain)
    size: str = DEFAULT_SIZE
    text: str = ""

    def label(self) -> str:
        """What tells this one from others of the same program; empty for nothing asked for."""
        size = "" if self.size == DEFAULT_SIZE else f"size={self.size}"
        return " ".join(filter(None, (self.toolchain.label(), size)))


def parse_suite_name(text: str, default: SuiteName | None = None) -> SuiteName:
    """The program or group that `text` names; without ``suite:`` too.

    Parameters
    ----------
    default : SuiteName, optional
        Holds the size and toolchain where `text` does not say otherwise.

    Raises
    ------
    UsageError
        An option is unknown, comes twice or is empty; the message says what is wanted.
    """
    name, separator, rest = text.removeprefix(SUITE_PREFIX).partition("@")
    if not name or (separator and not rest):
        raise UsageError(f"{text!r} names nothing of the suite. Write {WANTED}.", field="suite")
    base = default or SuiteName(name)
    values = _options(text, rest)
    tools = {key: values.get(key, getattr(base.toolchain, key)) for key in _TOOLS}
    size = values.get("size", base.size)
    if size not in SIZES:
        raise UsageError(
            f"{text!r} asks for the size {size!r}. Sizes: {', '.join(SIZES)}.", field="suite"
        )
    return SuiteName(name, Toolchain(**tools), size, text)


def _options(text: str, rest: str) -> dict[str, str]:
    """The options after the @; a comma inside flags stays part of them."""
    values: dict[str, str] = {}
    last = ""
    for piece in rest.split(",") if rest else ():
        key, separator, value = piece.partition("=")
        if key in _KEYS and separator:
            _take(text, values, key, value)
            last = key
        elif last == "flags":
            values["flags"] += f",{piece}"
        elif piece.startswith("-"):
            _take(text, values, "flags", piece)
            last = "flags"
        else:
            raise UsageError(
                f"{text!r} has the unknown option {piece!r}. Write {WANTED}.", field="suite"
            )
    return values


def _take(text: str, values: dict[str, str], key: str, value: str) -> None:
    if key in values or not value:
        why = "twice" if key in values else "without a value"
        raise UsageError(f"{text!r} has {key} {why}. Write {WANTED}.", field="suite")
    values[key] = value
