"""Secrets in texts that are shown: passwords in URLs, after options, in headers, and known ones.

What a pattern does not know stays visible: SECURITY.md says which patterns there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from steelyard.core.recorded_names import explains_result, names_secret

if TYPE_CHECKING:
    import re

MASK = "***"
# A shorter value would be found inside words that have nothing to do with it.
SHORTEST_VALUE = 6
_PIN_DIGITS = 4
_KEY_CHARACTERS = 12
# Of 20 letters and digits drawn at random, 96 of 100 words have so many changes.
_TOKEN_CHARACTERS = 20
_TOKEN_CHANGES = 0.4

# Without one of these a text has no secret that a pattern finds.
_MARKS = (
    *("://", "-u ", "--user", "--proxy-user", "pass", "pwd", "pw", "token", "secret", "key"),
    *("cred", "auth", "cookie", "bearer", "basic ", "dsn", "hook", "pat", "jwt", "session"),
    *("otp", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "glpat", "xox", "akia", "asia", "aiza"),
    *("pypi-", "npm_", "sk-", "sk_", "rk-", "rk_", "eyj", "-----begin", "hf_", "_v1_", "sg."),
    *("ya29", "shp", "hvs.", "hvb.", "hvr.", "xapp-", "gl", "rubygems", "sig", "jdbc:"),
    *("mysql", "mariadb", "7z", "rar ", "sshpass", "mongo", "zip ", "sqlcmd", "bcp ", "ldap"),
    *("freerdp", "rdesktop", "mosquitto", "cqlsh", "ipmitool", "snmp", "lftp", "plink", "pscp"),
    *("sqlplus", "htpasswd", "configure set", "literal", "--pin", "sas"),
    *("pserver", "rpcclient", "winexe", "psk", "dig ", "nsupdate", "p4 ", "rabbit", "swift"),
    *("mc alias", "iwconfig", "mnemonic", "steelyard"),
    *("redis-cli", "http", "openssl", "curl", "wget", "smbclient", " login", "telegram"),
)
# Names that are followed by a secret in prose too.
_BEFORE_COLON = ("password", "passwd", "passphrase", "secret", "apikey", "api_key", "api-key")
_ENVIRONMENT_OPTIONS = ("--env", "-e")


def mask_text(text: str, values: Iterable[str] = ()) -> str:
    """`text` with what looks like a secret, and every one of `values`, replaced by ``***``."""
    for value in values:
        if value in text:
            text = text.replace(value, MASK)
    lowered = text.lower()
    if not any(mark in lowered for mark in _MARKS):
        return text
    from steelyard.core import secret_patterns as patterns

    text = patterns.TOKENS.sub(MASK, text)
    text = patterns.URL_PASSWORD.sub(rf"\1:{MASK}@", text)
    text = patterns.URL_TOKEN.sub(rf"\1{MASK}@", text)
    text = patterns.URL_QUERY.sub(rf"\1{MASK}", text)
    text = patterns.ORACLE.sub(rf"\1{MASK}@", text)
    text = patterns.HOOK.sub(rf"\1{MASK}", text)
    text = patterns.COOKIES.sub(rf"\1{MASK}", text)
    text = _mask_given(text)
    text = patterns.HEADER.sub(rf"\1\2{MASK}", text)
    text = patterns.BEARER.sub(rf"\1\2{MASK}", text)
    text = patterns.NETRC.sub(rf"\1{MASK}", text)
    for pattern in (patterns.ESCAPED, patterns.ATTRIBUTES):
        text = _mask_named(pattern, text)
    text = patterns.USER_PASSWORD.sub(rf"\1\2:{MASK}", text)
    return _mask_named(patterns.ASSIGNED, _mask_named(patterns.OPTION, text))


def _mask_given(text: str) -> str:
    """`text` with what single programs take after options of theirs masked."""
    from steelyard.core.secret_patterns import GIVEN

    for pattern in GIVEN:
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def _mask_named(pattern: re.Pattern[str], text: str) -> str:
    """`text` with the values of secret names masked; that of another name may have one in it."""
    parts: list[str] = []
    start = 0
    while match := pattern.search(text, start):
        name, between, value = match.groups()
        is_secret = _is_secret(name, between, value)
        end = match.end() if is_secret else match.end(2)
        if is_secret:
            quote = value[0] if value[0] in "\"'" else ""
            parts.append(f"{text[start : match.start(3)]}{quote}{MASK}{quote}")
        else:
            parts.append(text[start:end])
        start = end
    return "".join((*parts, text[start:]))


def _is_secret(name: str, between: str, value: str) -> bool:
    if name.startswith("-") and _is_by_value(name, value.strip("\"'")):
        return True
    if not names_secret(name.lstrip("-")) or value in ("=", ":"):
        return False
    # Prose has colons too: 'second pass: 3 s'.
    is_prose = between.strip() == ":" and not name.startswith("-")
    return not is_prose or name.lower().endswith(_BEFORE_COLON)


def mask_words(argv: Sequence[str], values: Iterable[str] = ()) -> tuple[str, ...]:
    """The words of a command with secrets masked, also where one word names the next one."""
    values = tuple(values)
    masked: list[str] = []
    before = ""
    for word in _mask_given("\0".join(argv)).split("\0") if argv else ():
        if "=" in word and (before in _ENVIRONMENT_OPTIONS or before == "--set"):
            masked.append(mask_assignment(word))
        elif _takes_secret(before, word):
            masked.append(MASK)
        elif before in ("-u", "--user", "--proxy-user") and ":" in word:
            masked.append(f"{word.partition(':')[0]}:{MASK}")
        elif word.startswith("--env="):
            masked.append("--env=" + mask_assignment(word.removeprefix("--env=")))
        else:
            masked.append(mask_text(word, values))
        before = word
    return tuple(masked)


def _takes_secret(option: str, word: str) -> bool:
    return (
        option.startswith("-")
        and "=" not in option
        and not word.startswith("-")
        and (names_secret(option.lstrip("-")) or _is_by_value(option, word))
    )


def _is_by_value(option: str, value: str) -> bool:
    """Whether an option that has other meanings too is given a secret: a PIN is of digits, and no
    CPU has so many; a key is of letters and digits, and no column's name or file's."""
    name = option.lstrip("-").lower()
    if name == "pin":
        return value.isdigit() and len(value) >= _PIN_DIGITS
    if name != "key" or len(value) < _KEY_CHARACTERS or not value.isascii():
        return False
    plain = value.rstrip("=").replace("-", "").replace("_", "").replace("+", "")
    return plain.isalnum() and not plain.isalpha() and not plain.isdigit()


def looks_random(word: str) -> bool:
    """Whether a word is made like a token: capitals, small letters and digits change all the time.

    The names of functions and benchmarks have such changes in less than four of ten places.
    """
    if len(word) < _TOKEN_CHARACTERS or not word.isascii() or word.startswith(("_Z", "_R")):
        return False
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in word if c.isalnum()]
    if len(kinds) < 0.9 * len(word) or any(kinds.count(kind) < 3 for kind in "dul"):
        return False
    changes = sum(a != b for a, b in pairwise(kinds))
    return changes >= _TOKEN_CHANGES * len(kinds)


def mask_page(page: str, values: Iterable[str] = ()) -> str:
    """A page with its secrets masked, but for its scripts and styles, which no text of others
    is in and whose digests the page states."""
    from steelyard.core.secret_patterns import CODE

    values = tuple(values)
    escaped = (_escaped(value) for value in values)
    hidden = tuple(dict.fromkeys((*values, *escaped)))
    parts = CODE.split(page)
    return "".join(
        part if index % 2 else mask_text(part, hidden) for index, part in enumerate(parts)
    )


def _escaped(value: str) -> str:
    """As HTML has it; the module of that name takes longer to load than a page to mask."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&#34;")):
        value = value.replace(character, entity)
    return value.replace("'", "&#39;")


def mask_assignment(text: str) -> str:
    """``NAME=VALUE`` with the value masked, unless it explains a result."""
    name, separator, value = text.partition("=")
    if not separator:
        return text
    return f"{name}={mask_text(value) if explains_result(name) else MASK}"


def mask_environment(
    pairs: Iterable[tuple[str, str | None]],
) -> tuple[tuple[str, str | None], ...]:
    """Variables with their values masked, unless they explain a result."""
    return tuple(
        (name, value if not value else mask_text(value) if explains_result(name) else MASK)
        for name, value in pairs
    )


def worth_hiding(value: str | None) -> bool:
    """Whether a secret is long enough to be looked for in what programs write."""
    return value is not None and len(value) >= SHORTEST_VALUE


def mask_value(value: Any, values: Sequence[str] = ()) -> Any:
    """A JSON value with every text in it masked; a value under a secret's name as a whole."""
    if isinstance(value, str):
        return mask_text(value, values)
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        return {key: _mask_member(key, item, values) for key, item in mapping.items()}
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        if len(items) == 2 and isinstance(items[0], str) and _is_name(items[0]):
            return [mask_text(items[0], values), _mask_member(items[0], items[1], values)]
        return [
            mask_value(item, values) if isinstance(item, str | Mapping | list | tuple) else item
            for item in items
        ]
    return value


def _is_name(text: str) -> bool:
    """Whether a text names what stands beside it, as a variable's name does: no command does."""
    return text.isascii() and text.replace("-", "").replace(".", "").isidentifier()


def _mask_member(name: str, value: Any, values: Sequence[str]) -> Any:
    if isinstance(value, str) and value and names_secret(name):
        return MASK
    if name == "argv" and isinstance(value, list | tuple):
        words = cast("Sequence[Any]", value)
        if all(isinstance(word, str) for word in words):
            return list(mask_words(words, values))
    return mask_value(value, values)
