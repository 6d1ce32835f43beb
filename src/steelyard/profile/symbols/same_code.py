"""Functions whose code is one: compilers and linkers keep one of several that are alike."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.profile.symbols.demangling import function_name


def twins(symbol: bytes, aliases: Iterable[bytes]) -> tuple[str, ...]:
    """The functions beside `symbol` that have its code, by their names; in order.

    Parameters
    ----------
    symbol : bytes
        The one whose name is shown.
    aliases : iterable of bytes
        All symbols of that address. Other names of one function are not told: copies and parts,
        constructors, and what a library calls its functions itself (``_IO_puts``, ``__write``).
    """
    shown = function_name(symbol)
    names = {function_name(alias) for alias in aliases if alias != symbol}
    return tuple(sorted(name for name in names if not _is_one(shown, name)))


def _is_one(one: str, other: str) -> bool:
    """Whether two names are of one function: the same, or names that a library uses within.

    Identifiers that begin with an underscore are kept for that (ISO C, 7.1.3).
    """
    if one == other:
        return True
    kept = one.startswith("_") + other.startswith("_")
    if kept != 1:
        return kept == 2  # __memcpy_avx_unaligned and __memmove_avx_unaligned of the GNU C library
    plain, longer = sorted((one.lstrip("_"), other.lstrip("_")), key=len)
    return plain in longer
