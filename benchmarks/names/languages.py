"""Programs whose functions take known shares of the time, generated in six languages.

Each function is a chain of multiplications, every one waiting for the one before, so the numbers of
turns are the shares. A kind says how the language writes the function, and so what the compiler
makes of it; it may bring a caller that has a chain of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

UNIT = 4_000


@dataclass(frozen=True)
class Piece:
    """The source of one function of a kind.

    Parameters
    ----------
    source : str
        What stands outside of all functions.
    call : str
        The statement that runs it once.
    turns : mapping of str to int
        The turns of each function that it brings, by its name in a profile.
    """

    source: str
    call: str
    turns: Mapping[str, int]


@dataclass(frozen=True)
class Language:
    """How programs are written in a language: its kinds of functions, and the frame around them."""

    suffix: str
    kinds: Mapping[str, Callable[[int, int, int], Piece]]
    program: str


def _c_chain(turns: int) -> str:
    return (
        f"unsigned long x = sink; for (unsigned long i = 0; i < {turns}ul; ++i) "
        "x = x * 6364136223846793005ul + 1442695040888963407ul; sink = x;"
    )


def _c_plain(n: int, a: int, _: int) -> Piece:
    source = f"__attribute__((noinline)) static void plain{n}(void) {{ {_c_chain(a)} }}\n"
    return Piece(source, f"plain{n}();", {f"plain{n}": a})


def _c_inlined(n: int, a: int, b: int) -> Piece:
    source = (
        f"static inline __attribute__((always_inline)) void inner{n}(void) {{ {_c_chain(a)} }}\n"
        f"__attribute__((noinline)) static void outer{n}(void) {{ inner{n}(); {_c_chain(b)} }}\n"
    )
    return Piece(source, f"outer{n}();", {f"inner{n}": a, f"outer{n}": b})


def _c_twice(n: int, a: int, b: int) -> Piece:
    """Inlined in one place, and called in another."""
    source = (
        f"static inline void both{n}(void) {{ {_c_chain(a)} }}\n"
        f"static void (*volatile pointer{n})(void) = both{n};\n"
        f"__attribute__((noinline)) static void user{n}(void) {{ both{n}(); {_c_chain(b)} }}\n"
    )
    return Piece(source, f"user{n}(); pointer{n}();", {f"both{n}": 2 * a, f"user{n}": b})


def _cpp_template(n: int, a: int, b: int) -> Piece:
    source = (
        f"template <class T, int N> static inline void spin{n}(T) {{ {_c_chain(a)} }}\n"
        f"__attribute__((noinline)) void user{n}(int) {{ spin{n}<long, 3>(1); {_c_chain(b)} }}\n"
    )
    return Piece(source, f"user{n}(1);", {f"spin{n}<": a, f"user{n}(int)": b})


def _cpp_lambda(n: int, a: int, b: int) -> Piece:
    source = (
        f"__attribute__((noinline)) void owner{n}(long k) {{\n"
        f"  auto turn = [&](int) {{ sink = sink + k; {_c_chain(a)} }}; turn(1); {_c_chain(b)} }}\n"
    )
    lambda_name = f"owner{n}(long)::{{lambda(int)#1}}::operator()(int) const"
    return Piece(source, f"owner{n}(2);", {lambda_name: a, f"owner{n}(long)": b})


def _cpp_method(n: int, a: int, b: int) -> Piece:
    source = (
        f"namespace room{n} {{ struct Wheel {{ void turn(const char*) const {{ {_c_chain(a)} }} "
        f"virtual ~Wheel() = default; __attribute__((noinline)) virtual void roll() "
        f"{{ turn(nullptr); {_c_chain(b)} }} }}; }}\n"
    )
    names = {f"room{n}::Wheel::turn(char const*) const": a, f"room{n}::Wheel::roll()": b}
    return Piece(source, f"{{ room{n}::Wheel wheel; wheel.roll(); }}", names)


def _rust_chain(turns: int) -> str:
    # By operators: methods of numbers are functions that are inlined too, and have their own names.
    return (
        "let mut x = unsafe { std::ptr::read_volatile(&raw const SINK) }; let mut i = 0u64; "
        f"while i < {turns} {{ x = x * 6364136223846793005 + 1442695040888963407; i += 1; }} "
        "unsafe { std::ptr::write_volatile(&raw mut SINK, x) };"
    )


def _rust_plain(n: int, a: int, _: int) -> Piece:
    source = f"#[inline(never)] fn plain{n}() {{ {_rust_chain(a)} }}\n"
    return Piece(source, f"plain{n}();", {f"program::plain{n}": a})


def _rust_closure(n: int, a: int, b: int) -> Piece:
    source = (
        f"#[inline(never)] fn owner{n}(k: u64) {{ let turn = |_m: u64| {{ {_rust_chain(a)} }}; "
        f"turn(k); {_rust_chain(b)} }}\n"
    )
    names = {f"program::owner{n}::{{": a, f"program::owner{n}": b}
    return Piece(source, f"owner{n}(3);", names)


def _rust_generic(n: int, a: int, b: int) -> Piece:
    source = (
        f"#[inline(always)] fn spin{n}<T: Copy>(_t: T) {{ {_rust_chain(a)} }}\n"
        f"#[inline(never)] fn user{n}() {{ spin{n}(1u8); spin{n}(1i64); {_rust_chain(b)} }}\n"
    )
    names = {f"program::spin{n}": 2 * a, f"program::user{n}": b}
    return Piece(source, f"user{n}();", names)


def _go_chain(turns: int) -> str:
    return (
        f"x := sink; for i := 0; i < {turns}; i++ "
        "{ x = x*6364136223846793005 + 1442695040888963407 }; sink = x"
    )


def _go_plain(n: int, a: int, _: int) -> Piece:
    source = f"//go:noinline\nfunc plain{n}() {{ {_go_chain(a)} }}\n"
    return Piece(source, f"plain{n}()", {f"main.plain{n}": a})


def _go_inlined(n: int, a: int, b: int) -> Piece:
    source = (
        f"func inner{n}() {{ {_go_chain(a)} }}\n"
        f"//go:noinline\nfunc outer{n}() {{ inner{n}(); {_go_chain(b)} }}\n"
    )
    return Piece(source, f"outer{n}()", {f"main.inner{n}": a, f"main.outer{n}": b})


def _go_generic(n: int, a: int, b: int) -> Piece:
    source = (
        f"func spin{n}[T uint32 | uint64](_ T) {{ {_go_chain(a)} }}\n"
        f"//go:noinline\nfunc user{n}() {{ spin{n}(uint64(1)); {_go_chain(b)} }}\n"
    )
    return Piece(source, f"user{n}()", {f"main.spin{n}[": a, f"main.user{n}": b})


def _go_closure(n: int, a: int, b: int) -> Piece:
    source = (
        f"//go:noinline\nfunc owner{n}(k uint64) {{ "
        f"turn := func() {{ sink += k; {_go_chain(a)} }}; turn(); {_go_chain(b)} }}\n"
    )
    return Piece(source, f"owner{n}(3)", {f"main.owner{n}.func1": a, f"main.owner{n}": b})


def _java_chain(turns: int) -> str:
    return (
        f"long x = sink; for (int i = 0; i < {turns}; ++i) "
        "x = x * 6364136223846793005L + 1442695040888963407L; sink = x;"
    )


def _java_plain(n: int, a: int, _: int) -> Piece:
    source = f"static void plain{n}() {{ {_java_chain(a)} }}\n"
    return Piece(source, f"plain{n}();", {f"Program.plain{n}": a})


def _java_generic(n: int, a: int, b: int) -> Piece:
    source = (
        f"static <T> T spin{n}(T t) {{ {_java_chain(a)} return t; }}\n"
        f'static void user{n}() {{ spin{n}("a"); {_java_chain(b)} }}\n'
    )
    return Piece(source, f"user{n}();", {f"Program.spin{n}": a, f"Program.user{n}": b})


def _java_method(n: int, a: int, b: int) -> Piece:
    source = (
        f"static class Wheel{n} {{ void turn() {{ {_java_chain(a)} }} "
        f"void roll() {{ turn(); {_java_chain(b)} }} }}\n"
    )
    names = {f"Program$Wheel{n}.turn": a, f"Program$Wheel{n}.roll": b}
    return Piece(source, f"new Wheel{n}().roll();", names)


def _script_chain(turns: int) -> str:
    return (
        f"let x = sink; for (let i = 0; i < {turns}; ++i) "
        "x = (Math.imul(x, 1664525) + 1013904223) | 0; sink = x;"
    )


def _script_plain(n: int, a: int, _: int) -> Piece:
    return Piece(
        f"function plain{n}() {{ {_script_chain(a)} }}\n", f"plain{n}();", {f"plain{n}": a}
    )


def _script_closure(n: int, a: int, b: int) -> Piece:
    source = (
        f"function owner{n}(k) {{ const turn{n} = () => {{ sink += k; {_script_chain(a)} }}; "
        f"turn{n}(); {_script_chain(b)} }}\n"
    )
    return Piece(source, f"owner{n}(3);", {f"turn{n}": a, f"owner{n}": b})


def _script_method(n: int, a: int, _: int) -> Piece:
    source = f"class Wheel{n} {{ roll{n}() {{ {_script_chain(a)} }} }}\n"
    return Piece(source, f"new Wheel{n}().roll{n}();", {f"roll{n}": a})


_C_FRAME = """#include <time.h>
static volatile unsigned long sink = 1;
@SOURCE@
int main() { while (clock() < @MS@ * (CLOCKS_PER_SEC / 1000)) { @CALLS@ } return 0; }
"""
_RUST_FRAME = """static mut SINK: u64 = 1;
@SOURCE@
fn main() { let t = std::time::Instant::now(); while t.elapsed().as_millis() < @MS@ { @CALLS@ } }
"""
_GO_FRAME = """package main
import "time"
var sink uint64 = 1
@SOURCE@
func main() { t := time.Now(); for time.Since(t) < @MS@*time.Millisecond { @CALLS@ } }
"""
_JAVA_FRAME = """public class Program {
static long sink = 1;
@SOURCE@
public static void main(String[] words) { long t = System.nanoTime();
while (System.nanoTime() - t < @MS@ * 1000000L) { @CALLS@ } System.exit((int) (sink & 0)); } }
"""
_SCRIPT_FRAME = """let sink = 1;
@SOURCE@
const t = Date.now(); while (Date.now() - t < @MS@) { @CALLS@ }
"""

LANGUAGES = {
    "C": Language("c", {"plain": _c_plain, "inlined": _c_inlined, "both": _c_twice}, _C_FRAME),
    "C++": Language(
        "cpp",
        {"template": _cpp_template, "lambda": _cpp_lambda, "method": _cpp_method},
        _C_FRAME,
    ),
    "Rust": Language(
        "rs",
        {"plain": _rust_plain, "closure": _rust_closure, "generic": _rust_generic},
        _RUST_FRAME,
    ),
    "Go": Language(
        "go",
        {
            "plain": _go_plain,
            "inlined": _go_inlined,
            "generic": _go_generic,
            "closure": _go_closure,
        },
        _GO_FRAME,
    ),
    "Java": Language(
        "java",
        {"plain": _java_plain, "generic": _java_generic, "method": _java_method},
        _JAVA_FRAME,
    ),
    "JavaScript": Language(
        "js",
        {"plain": _script_plain, "closure": _script_closure, "method": _script_method},
        _SCRIPT_FRAME,
    ),
}
