"""Made-up words, and how often each comes: what several makers of inputs share."""

from __future__ import annotations

from steelyard.suite.generator import Stream

_ONSETS = (
    *"bcdfghjklmnprstvwz",
    *("br", "ch", "cl", "cr", "dr", "fl", "gr", "pl", "pr"),
    *("sh", "sl", "st", "str", "th", "tr"),
)
_NUCLEI = (*"aeiouaeio", "ai", "ea", "ee", "io", "ou")
_CODAS = ["", "", "", "", "n", "r", "s", "t", "l", "m", "nd", "st", "ng", "ck"]
TABLE_SIZE = 1 << 16


def vocabulary(seed: int, count: int) -> list[str]:
    """`count` different words, the short ones mostly first, as in real languages."""
    stream = Stream(seed, "vocabulary")
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = (
            1 + (stream.below(40 + len(found)) > 30) + (stream.below(400 + len(found)) > 500)
        )
        word = "".join(
            stream.pick(_ONSETS) + stream.pick(_NUCLEI) + stream.pick(_CODAS)
            for _ in range(syllables)
        )
        found[word] = None
    return list(found)


def zipf_table(count: int) -> list[int]:
    """Ranks below `count`, each as often in `TABLE_SIZE` places as Zipf's law has it, at least
    once as far as there are places."""
    total = sum(1 / rank for rank in range(1, count + 1))
    table: list[int] = []
    cumulated = 0.0
    for rank in range(1, count + 1):
        cumulated += 1 / rank / total
        table += [rank - 1] * (round(cumulated * TABLE_SIZE) - len(table))
    return table
