"""Programs with debugging information, and what is read of it, for tests of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from steelyard.profile.symbols.code_places import code_places
from steelyard.profile.symbols.demangling import base_name
from steelyard.profile.symbols.elf_symbols import read_symbols
from tests.needs import need

SOURCE = """
volatile unsigned long sink;
static inline void inner(int n) { for (int i = 0; i < n; ++i) sink += i; }
static inline void middle(int n) { inner(n); }
__attribute__((noinline)) void outer(int n) { middle(n); }
int main(void) { outer(1000); }
"""

CPLUSPLUS = """
volatile unsigned long sink;
namespace room {
template <class T> inline void spin(T n) { for (T i = 0; i < n; ++i) sink += i; }
struct Turner { void turn(int n) const { spin<long>(n); } };
}
namespace {
inline void hidden(const char* text, unsigned long n) { for (; n; --n) sink += *text; }
}
__attribute__((noinline)) void outer(int n) {
    room::Turner().turn(n);
    hidden("a", n);
    auto first = [&](int m) { for (; m; --m) sink ^= n; };
    auto second = [&](int m) { for (; m; --m) sink -= n; };
    first(n);
    second(n);
}
int main() { outer(1000); }
"""

# All that stands in `outer` beside the code of its own.
INLINED = {
    "void room::spin<long>(long)",
    "room::Turner::turn(int) const",
    "(anonymous namespace)::hidden(char const*, unsigned long)",
    "outer(int)::{lambda(int)#1}::operator()(int) const",
    "outer(int)::{lambda(int)#2}::operator()(int) const",
}
HIDDEN = """
volatile unsigned long sink;
static inline void hidden(const char* text, unsigned long n) { for (; n; --n) sink += *text; }
__attribute__((noinline)) void outer(int n) { hidden("a", n); }
int main() { outer(1000); }
"""


def built(folder: Path, *flags: str, source: str = SOURCE, name: str = "a.c") -> str:
    compiler = "g++" if name.endswith("cpp") else "gcc"
    need(compiler)
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(source)
    subprocess.run([compiler, "-O2", *flags, name, "-o", "program"], cwd=folder, check=True)
    return str(folder / "program")


def need_compiler(name: str, asking: str, least: tuple[int, int]) -> None:
    """Go on where the compiler is as new as that: Debian 12 has Go 1.19 and Rust 1.63."""
    need(name)
    told = subprocess.run((name, asking), check=True, capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", told)
    if found is None or (int(found[1]), int(found[2])) < least:
        pytest.skip(f"this compiler does not do what {name} {least[0]}.{least[1]} does: {told}")


def run(*words: str, folder: Path | None = None) -> None:
    subprocess.run(words, cwd=folder, check=True)


def places_in(path: str, function: str) -> list[tuple[str, ...]]:
    """The functions at every address of one function, the inmost first."""
    symbols = read_symbols(path)
    at = [base_name(name.decode()) for name in symbols.names].index(function)
    addresses = list(range(int(symbols.addresses[at]), int(symbols.ends[at])))
    return [place.names for place in code_places(path, symbols, addresses)]
