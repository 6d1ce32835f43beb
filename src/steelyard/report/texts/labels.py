"""Short names for long ones: by what tells them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from steelyard.report.texts.readable import elided, one_line

LABEL_LIMIT = 48
_NAME_LIMIT = 4096
_COMMON_LIMIT = 9
_FACTORS = re.compile(r"\(([^()]*=[^()]*)\)$")


def labels(names: Iterable[str], limit: int = LABEL_LIMIT) -> dict[str, str]:
    """A printable label of at most about `limit` characters for each name, all different.

    Where the factors in the brackets at their ends tell all of them apart, those are the labels.
    Other names that are short enough stay; of longer ones the words in which they differ are left.
    """
    # A name may be a command line of 100 kB: only its ends can appear in a label.
    texts = {
        name: one_line(name if len(name) <= _NAME_LIMIT else elided(name, _NAME_LIMIT))
        for name in names
    }
    levels = _factors(list(texts.values())) if len(texts) > 1 else None
    if levels is not None and len(set(levels)) == len(texts):
        texts = dict(zip(texts, levels, strict=True))
    if len(texts) > 1 and max(map(len, texts.values())) > limit:
        texts = _by_difference(texts, limit)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name, text in texts.items():
        label = elided(text, limit) or "(empty name)"
        if label in taken:
            label = f"{label} #{len(taken) + 1}"
        taken.add(label)
        found[name] = label
    return found


def full_names(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each label with the name that it stands for, where that says more; of labels that are the
    factors in the brackets of their names, the first alone."""
    whole = [(label, one_line(name)) for name, label in names.items()]
    told = [(label, name) for label, name in whole if label != name and name]
    by_factors = all(_FACTORS.search(name) for _, name in told)
    return told[:1] if by_factors else told


def _by_difference(texts: dict[str, str], limit: int) -> dict[str, str]:
    """What tells the texts apart; where words do not, characters."""
    if len(set(texts.values())) < len(texts):
        return texts
    for way in (_words, _directories):
        found = way(list(texts.values()))
        if found is not None and len(set(found)) == len(texts):
            texts = dict(zip(texts, found, strict=True))
            if max(map(len, found)) <= limit:
                return texts
    return _without_common_ends(texts)


def _factors(texts: Sequence[str]) -> list[str] | None:
    """The factors in brackets at the ends of the texts, those alone that differ."""
    found = [_FACTORS.search(text) for text in texts]
    parts = [match[1].split(", ") for match in found if match is not None]
    if len(parts) < len(texts):
        return None
    if len({len(part) for part in parts}) == 1:
        kept = [place for place, column in enumerate(zip(*parts, strict=True)) if _differ(column)]
        parts = [[part[place] for place in kept] for part in parts]
    return [", ".join(part) for part in parts]


def _words(texts: Sequence[str]) -> list[str] | None:
    """The words in which the texts differ, each with the option that it is the value of."""
    words = [text.split(" ") for text in texts]
    if len({len(each) for each in words}) == 1:
        columns = list(zip(*words, strict=True))
        kept = [place for place, column in enumerate(columns) if _differ(column)]
        kept = sorted({*kept, *(p - 1 for p in kept if p and _is_option(columns[p - 1]))})
        return [" ".join(each[place] for place in kept) for each in words]
    head = _shared_count(words)
    tail = _shared_count([each[head:][::-1] for each in words])
    if any(len(each) == head + tail for each in words):
        head = max(0, head - 1)
    return [" ".join(each[head : len(each) - tail]) for each in words]


def _is_option(column: Sequence[str]) -> bool:
    """Whether a word that all texts share is an option whose value follows."""
    word = column[0]
    return word.startswith("-") and "=" not in word and not _differ(column)


def _differ(column: Sequence[str]) -> bool:
    return len(set(column)) > 1


def _directories(texts: Sequence[str]) -> list[str] | None:
    """The texts without the folders at their beginning that all of them share."""
    shared = texts[0][: _shared_count(texts)].rpartition("/")[0]
    return [text[len(shared) + 1 :] for text in texts] if shared else None


def _shared_count(sequences: Sequence[Sequence[str]]) -> int:
    """How many items all sequences begin with alike."""
    alike = takewhile(lambda items: not _differ(items), zip(*sequences, strict=False))
    return sum(1 for _ in alike)


def _without_common_ends(texts: dict[str, str]) -> dict[str, str]:
    head = _shared_count(list(texts.values()))
    tail = _shared_count([text[head:][::-1] for text in texts.values()])
    first = next(iter(texts.values()))
    before = elided(first[:head], _COMMON_LIMIT)
    after = elided(first[len(first) - tail :], _COMMON_LIMIT)
    return {n: before + text[head : len(text) - tail] + after for n, text in texts.items()}
