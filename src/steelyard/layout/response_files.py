"""Response files: arguments of a compiler that stand in files, named by ``@FILE``."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A file that names itself has no end; clang refuses it then.
_MOST_NESTED = 20


def expanded_words(words: Sequence[str], depth: int = 0) -> Iterator[str]:
    """The arguments with those of response files in their places."""
    for word in words:
        path = word[1:]
        if word.startswith("@") and depth < _MOST_NESTED and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                yield from expanded_words(tuple(_words_of(file.read())), depth + 1)
        else:
            yield word


def _words_of(text: str) -> Iterator[str]:
    """The words of a response file, quoted as GNU's tools read them: a backslash takes the next
    letter as it is, within quotation marks too, and what is not closed ends with the file."""
    word: list[str] = []
    quote, is_word = "", False
    letters = iter(text)
    for letter in letters:
        if letter == "\\":
            word.append(next(letters, ""))
            is_word = True
        elif quote:
            if letter == quote:
                quote = ""
            else:
                word.append(letter)
        elif letter in "'\"":
            quote, is_word = letter, True
        elif letter.isspace():
            if is_word:
                yield "".join(word)
            word, is_word = [], False
        else:
            word.append(letter)
            is_word = True
    if is_word:
        yield "".join(word)
