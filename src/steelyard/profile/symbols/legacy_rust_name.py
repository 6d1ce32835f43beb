"""Names of functions in Rust, as compilers before 2025 wrote them (the legacy mangling)."""

from __future__ import annotations

import re

_LEGACY = re.compile(r"_?_ZN(.*)E(?:\.llvm\.[0-9A-F]+)?$", re.DOTALL)
_HASH = re.compile(r"h[0-9a-f]{16}$")
_ESCAPES = {
    "SP": "@",
    "BP": "*",
    "RF": "&",
    "LT": "<",
    "GT": ">",
    "LP": "(",
    "RP": ")",
    "C": ",",
}


def legacy_rust_name(symbol: str) -> str | None:
    """The path that an older mangled name stands for, without its hash; None: it is none."""
    found = _LEGACY.match(symbol)
    if found is None:
        return None
    parts: list[str] = []
    rest = found[1]
    while rest:
        digits = re.match(r"\d+", rest)
        if digits is None:
            return None
        length = int(digits[0])
        part = rest[digits.end() : digits.end() + length]
        if len(part) != length:
            return None
        parts.append(part)
        rest = rest[digits.end() + length :]
    if len(parts) < 2 or not _HASH.match(parts[-1]):
        return None
    return "::".join(_unescaped(part) for part in parts[:-1])


def _unescaped(part: str) -> str:
    if part.startswith("_$"):
        part = part[1:]
    text = re.sub(r"\$([^$]+)\$", _escape, part)
    return re.sub(r"(?<!\.)\.\.(?!\.)", "::", text)


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    if code in _ESCAPES:
        return _ESCAPES[code]
    if re.fullmatch(r"u[0-9a-f]{1,6}", code) and int(code[1:], 16) < 0x110000:
        return chr(int(code[1:], 16))
    return found[0]
