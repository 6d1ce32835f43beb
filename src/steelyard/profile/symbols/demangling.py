"""Names of functions as programmers write them, from those that linkers know."""

from __future__ import annotations

import ctypes
import ctypes.util
import re
from functools import cache

from steelyard.profile.symbols.legacy_rust_name import legacy_rust_name
from steelyard.profile.symbols.rust_names import rust_name

# What gcc and clang put behind the name of a function that they made a copy, or a part, of.
_CLONE = re.compile(
    r"\.(?:(?:part|isra|constprop|lto_priv|localalias|cold|clone)\.\d+|cold|localalias"
    # What clang makes of a coroutine.
    r"|resume|destroy|cleanup)$"
)
# gcc's names for the body of a coroutine and its end: functions that take its frame, whose type is
# called as the coroutine is.
_COROUTINE = re.compile(r"_Z.*\d(_Z[\w$.]+)\.Frame(\.(?:actor|destroy))$")
# What LLVM puts behind the name of a local function that other units call, and Go's linker behind
# that of one in assembly: no copy, the only one. Go's own table of functions has it without.
_PROMOTED = re.compile(r"\.llvm\.\d+(?=$|\.)|\.abi0$")
_PART = re.compile(r"\.part\.\d+(?:\.|$)")
# As gfortran calls procedures of modules, whose names have no capitals; gdb writes them so.
_FORTRAN_MODULE = re.compile(r"__([a-z]\w*)_MOD_([a-z]\w*)")
_VERSION = re.compile(r"@@?[A-Za-z_][\w.]*$")


@cache
def readable_name(symbol: bytes) -> str:
    """A symbol's name as its language's own tools write it: C++ and Rust without mangling.

    Rust names come as `rustfilt` prints them, without the hash. A version (``read@@GLIBC_2.2.5``)
    is left out. Where the machine has no C++ library, names of C++ stay as they are.
    """
    plain = _PROMOTED.sub("", _VERSION.sub("", symbol.decode("utf-8", "replace")))
    base = base_name(plain)
    read = _demangled(base)
    return read + "".join(f" [clone {part}]" for part in _clone_parts(plain, base))


@cache
def function_name(symbol: bytes, clones_apart: bool = False) -> str:
    """The name of the function that a symbol is, or is a compiler's copy or part of.

    Parameters
    ----------
    symbol : bytes
    clones_apart : bool
        Keep gcc's ``.part``, ``.isra``, ``.constprop``, ``.cold`` and the like, as
        ``name [clone .part.0]``.
    """
    if clones_apart:
        return readable_name(symbol)
    return readable_name(base_name(symbol.decode("utf-8", "replace")).encode())


def base_name(symbol: str) -> str:
    """A symbol without what compilers add to copies and parts of a function."""
    base = symbol
    while True:
        if (found := _COROUTINE.fullmatch(base)) is not None:
            base = found[1]
        elif (found := _CLONE.search(base)) is not None and found.start() > 0:
            base = base[: found.start()]
        else:
            return base


def is_rust(symbol: bytes) -> bool:
    """Whether a symbol is one of Rust's mangled names."""
    name = base_name(symbol.decode("utf-8", "replace"))
    return name.startswith(("_R", "__R")) or legacy_rust_name(_PROMOTED.sub("", name)) is not None


def is_part(symbol: bytes) -> bool:
    """Whether a symbol is the rest of a function whose beginning was inlined into callers."""
    return _PART.search(symbol.decode("utf-8", "replace")) is not None


def _clone_parts(symbol: str, base: str) -> list[str]:
    suffix = symbol[len(base) :] if symbol.startswith(base) else symbol.rpartition(".Frame")[2]
    return [f".{part}" for part in re.findall(r"[a-z_]+(?:\.\d+)?", suffix)]


def _demangled(name: str) -> str:
    if name.startswith(("_R", "__R")):
        return rust_name(name) or name
    if name.startswith(("_ZN", "__ZN")) and (rust := legacy_rust_name(name)) is not None:
        return rust
    if (found := _FORTRAN_MODULE.fullmatch(name)) is not None:
        return f"{found[1]}::{found[2]}"
    return _cplusplus_name(name) if name.startswith("_Z") else name


@cache
def _cplusplus_library() -> ctypes.CDLL | None:
    name = ctypes.util.find_library("stdc++")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.__cxa_demangle.restype = ctypes.c_void_p
    return library


def _cplusplus_name(name: str) -> str:
    library = _cplusplus_library()
    if library is None:
        return name
    status = ctypes.c_int()
    memory = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not memory or status.value:
        return name
    text = ctypes.string_at(memory).decode("utf-8", "replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(memory))
    return text
