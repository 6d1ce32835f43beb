"""Rust's mangled names, as `rustfilt` reads them.

The newer form is that of RFC 2603 ("v0"); the older one looks like names of C++ that end in a hash.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_BASIC_TYPES = {
    "a": "i8",
    "b": "bool",
    "c": "char",
    "d": "f64",
    "e": "str",
    "f": "f32",
    "h": "u8",
    "i": "isize",
    "j": "usize",
    "l": "i32",
    "m": "u32",
    "n": "i128",
    "o": "u128",
    "p": "_",
    "s": "i16",
    "t": "u16",
    "u": "()",
    "v": "...",
    "x": "i64",
    "y": "u64",
    "z": "!",
}
_DEEPEST = 200


def rust_name(symbol: str) -> str | None:
    """The path that a newer mangled name stands for; None: it is no such name, or damaged."""
    body = symbol.removeprefix("_").removeprefix("_").removeprefix("R")
    body = body.partition(".llvm.")[0]
    if not body or not body[0].isupper():
        return None
    reader = _Reader(body)
    try:
        text = reader.path(in_value=True)
        if reader.at < len(body) and body[reader.at].isupper():
            reader.path(in_value=False)  # of the crate that it was made for
    except (_DamagedError, IndexError, ValueError, RecursionError):
        return None
    rest = body[reader.at :]
    return text + rest if not rest or rest[0] in ".$" else None


class _DamagedError(Exception):
    """This is no mangled name."""


class _Reader:
    """Reads a name from the left to the right, back references included."""

    def __init__(self, body: str) -> None:
        self.body = body
        self.at = 0
        self.bound = 0
        self.depth = 0

    def path(self, in_value: bool) -> str:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _DamagedError
        try:
            return self._path(in_value)
        finally:
            self.depth -= 1

    def _path(self, in_value: bool) -> str:
        kind = self._next()
        if kind == "C":
            self._disambiguator()
            return self._identifier()
        if kind == "M":
            self._impl_path()
            return f"<{self.type()}>"
        if kind in "XY":
            if kind == "X":
                self._impl_path()
            own = self.type()
            return f"<{own} as {self.path(in_value=False)}>"
        if kind == "N":
            return self._nested(in_value)
        if kind == "I":
            return self._generic(in_value)
        if kind == "B":
            return self._back(lambda: self.path(in_value))
        raise _DamagedError

    def _impl_path(self) -> None:
        self._disambiguator()
        self.path(in_value=False)

    def _nested(self, in_value: bool) -> str:
        space = self._next()
        around = self.path(in_value)
        number = self._disambiguator()
        name = self._identifier()
        if space.isupper():
            kind = {"C": "closure", "S": "shim"}.get(space, space)
            return f"{around}::{{{kind}{':' + name if name else ''}#{number}}}"
        if not space.islower():
            raise _DamagedError
        return f"{around}::{name}" if name else around

    def _generic(self, in_value: bool) -> str:
        around = self.path(in_value)
        arguments: list[str] = []
        while not self._eat("E"):
            arguments.append(self._argument())
        return f"{around}{'::' if in_value else ''}<{', '.join(arguments)}>"

    def _argument(self) -> str:
        if self._eat("L"):
            return self._lifetime(self._number())
        return self._constant() if self._eat("K") else self.type()

    def _lifetime(self, index: int) -> str:
        if index == 0:
            return "'_"
        if index > self.bound:
            raise _DamagedError
        depth = self.bound - index
        return f"'{chr(ord('a') + depth)}" if depth < 26 else f"'_{depth}"

    def _binder(self) -> str:
        count = self._number() + 1 if self._eat("G") else 0
        if count > _DEEPEST:
            raise _DamagedError
        self.bound += count
        names = [self._lifetime(index) for index in range(count, 0, -1)]
        return f"for<{', '.join(names)}> " if names else ""

    def type(self) -> str:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _DamagedError
        try:
            return self._type()
        finally:
            self.depth -= 1

    def _type(self) -> str:
        kind = self._next()
        if kind in _BASIC_TYPES:
            return _BASIC_TYPES[kind]
        if kind in "RQ":
            lifetime = self._lifetime(self._number()) if self._eat("L") else "'_"
            shown = "" if lifetime == "'_" else f"{lifetime} "
            return f"&{shown}{'mut ' if kind == 'Q' else ''}{self.type()}"
        if kind in "PO":
            return f"*{'const' if kind == 'P' else 'mut'} {self.type()}"
        if kind in "AS":
            element = self.type()
            return f"[{element}; {self._constant()}]" if kind == "A" else f"[{element}]"
        if kind in _COMPOUND:
            return _COMPOUND[kind](self)
        self.at -= 1
        return self.path(in_value=False)

    def _tuple(self) -> str:
        parts: list[str] = []
        while not self._eat("E"):
            parts.append(self.type())
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"

    def _type_again(self) -> str:
        return self._back(self.type)

    def _function(self) -> str:
        bound = self.bound
        text = self._binder()
        text += "unsafe " if self._eat("U") else ""
        if self._eat("K"):
            abi = "C" if self._eat("C") else self._identifier().replace("_", "-")
            text += f'extern "{abi}" '
        arguments: list[str] = []
        while not self._eat("E"):
            arguments.append(self.type())
        returned = self.type()
        self.bound = bound
        return f"{text}fn({', '.join(arguments)}){'' if returned == '()' else f' -> {returned}'}"

    def _object(self) -> str:
        bound = self.bound
        text = self._binder()
        traits: list[str] = []
        while not self._eat("E"):
            traits.append(self._bounded())
        self.bound = bound
        if not self._eat("L"):
            raise _DamagedError
        lifetime = self._number()
        ending = f" + {self._lifetime(lifetime)}" if lifetime else ""
        return f"dyn {text}{' + '.join(traits)}{ending}"

    def _bounded(self) -> str:
        trait = self.path(in_value=False)
        pairs: list[str] = []
        while self._eat("p"):
            name = self._identifier()
            pairs.append(f"{name} = {self.type()}")
        if not pairs:
            return trait
        if trait.endswith(">"):
            return f"{trait[:-1]}, {', '.join(pairs)}>"
        return f"{trait}<{', '.join(pairs)}>"

    def _constant(self) -> str:
        if self._eat("B"):
            return self._back(self._constant)
        kind = self._next()
        if kind == "p":
            return "_"
        if kind in "hmtyoj":
            return self._integer()
        if kind in "alsxni":
            return f"-{self._integer()}" if self._eat("n") else self._integer()
        if kind == "b":
            return {"0": "false", "1": "true"}[self._hexadecimal()]
        if kind == "c":
            return f"'{chr(int(self._hexadecimal() or '0', 16))}'"
        raise _DamagedError

    def _integer(self) -> str:
        digits = self._hexadecimal()
        value = int(digits or "0", 16)
        return str(value) if value < 2**64 else f"0x{digits}"

    def _hexadecimal(self) -> str:
        end = self.body.index("_", self.at)
        digits, self.at = self.body[self.at : end], end + 1
        if not re.fullmatch("[0-9a-f]*", digits):
            raise _DamagedError
        return digits

    def _back(self, read: Callable[[], str]) -> str:
        begin = self.at - 1
        target = self._number()
        if target >= begin:
            raise _DamagedError
        here, self.at = self.at, target
        text = read()
        self.at = here
        return text

    def _disambiguator(self) -> int:
        return self._number() + 1 if self._eat("s") else 0

    def _number(self) -> int:
        """A number to the base 62: `_` is 0, `0_` is 1."""
        end = self.body.index("_", self.at)
        digits, self.at = self.body[self.at : end], end + 1
        value = 0
        for digit in digits:
            value = 62 * value + _DIGITS.index(digit)
        return value + 1 if digits else 0

    def _identifier(self) -> str:
        is_unicode = self._eat("u")
        digits = re.compile(r"0|[1-9]\d*").match(self.body, self.at)
        if digits is None:
            raise _DamagedError
        self.at = digits.end()
        self._eat("_")
        name = self.body[self.at : self.at + int(digits[0])]
        if len(name) < int(digits[0]):
            raise _DamagedError
        self.at += len(name)
        return _from_punycode(name) if is_unicode else name

    def _eat(self, letter: str) -> bool:
        if self.body[self.at : self.at + 1] != letter:
            return False
        self.at += 1
        return True

    def _next(self) -> str:
        self.at += 1
        return self.body[self.at - 1]


_COMPOUND = {
    "T": _Reader._tuple,
    "F": _Reader._function,
    "D": _Reader._object,
    "B": _Reader._type_again,
}
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _from_punycode(name: str) -> str:
    """Punycode (RFC 3492) with `_` where that has `-`."""
    plain, mark, rest = name.rpartition("_")
    try:
        return (f"{plain}-{rest}" if mark else rest).encode("ascii").decode("punycode")
    except (UnicodeError, IndexError):
        return f"punycode{{{name}}}"
