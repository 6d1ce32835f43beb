"""Two-level fractions of a factorial, what they mix up, and how badly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from steelyard.core.errors import UsageError
from steelyard.design.design import Alias, Design, DesignFactor, check_factors, two_level

_SMALLEST_RESOLUTION = 3
# The search for generators looks at so many fractions at the most; it ends long before for any
# design in use (up to 2^(15-11)).
_MOST_STEPS = 200_000


def fractional_factorial(
    factors: Sequence[DesignFactor],
    generator_count: int,
    generators: Mapping[str, Sequence[str]] | None = None,
) -> Design:
    """A 2^(k-p) fraction, with its resolution and alias table.

    Parameters
    ----------
    factors : sequence of DesignFactor
        k of them, with two levels each. The last p are generated unless `generators` names
        others.
    generator_count : int
        p: the fraction is one in 2^p.
    generators : mapping of str to sequence of str, optional
        For each generated factor those whose product it is; a first ``-`` turns the sign. None:
        those of the highest resolution that there is.

    Raises
    ------
    UsageError
        A factor has not two levels, or generators do not make a fraction.

    Notes
    -----
    Box and Hunter, Technometrics 3 (1961) 311: an effect is a word, a product of factors; the
    products of the generators' words are the defining relation, and the aliases of an effect are
    its products with these.
    """
    check_factors(factors)
    two_level(factors, "fractional factorial")
    names = [factor.name for factor in factors]
    if generators is None:
        words = _best_words(len(factors), generator_count)
    else:
        words = _named_words(names, generators)
        if generator_count not in (0, len(words)):
            raise UsageError(
                f"{len(words)} generators make a fraction of one in {2 ** len(words)}, not of one "
                f"in {2**generator_count}.",
                field="generators",
            )
    generated = [target for target, _, _ in words]
    base = [place for place in range(len(factors)) if place not in generated]
    points = [
        _point(levels, base, words, len(factors)) for levels in product((0, 1), repeat=len(base))
    ]
    relation = _defining_relation(words)
    lengths = [mask.bit_count() for mask, _ in relation]
    return Design(
        "fractional-factorial",
        tuple(factors),
        points,
        resolution=min(lengths, default=None),
        aliases=tuple(_aliases(names, relation)),
        generators=tuple(
            f"{names[t]} = {'-' if s < 0 else ''}{_effect(names, mask)}" for t, mask, s in words
        ),
    )


_Word = tuple[int, int, int]
"""The generated factor, the factors whose product it is as bits, and the sign."""


def _point(
    levels: Sequence[int], base: Sequence[int], words: Sequence[_Word], width: int
) -> tuple[int, ...]:
    point = [0] * width
    for place, level in zip(base, levels, strict=True):
        point[place] = level
    for target, mask, sign in words:
        low_count = sum(not point[place] for place in base if mask >> place & 1)
        value = sign * (-1 if low_count % 2 else 1)
        point[target] = 1 if value > 0 else 0
    return tuple(point)


def _named_words(names: Sequence[str], generators: Mapping[str, Sequence[str]]) -> list[_Word]:
    words: list[_Word] = []
    for target, parts in generators.items():
        sign, mask = 1, 0
        for index, part in enumerate(parts):
            name = part
            if index == 0 and part.startswith("-") and part not in names:
                sign, name = -1, part[1:]
            if name not in names or target not in names:
                raise UsageError(
                    f"The generator {target} = {':'.join(parts)} names no factor "
                    f"{(name if target in names else target)!r}.",
                    field="generators",
                )
            mask ^= 1 << names.index(name)
        words.append((names.index(target), mask, sign))
    targets = sum(1 << target for target, _, _ in words)
    for target, mask, _ in words:
        if mask & targets or mask.bit_count() < 2:
            raise UsageError(
                f"The generator of {names[target]!r} must be a product of two or more factors that "
                "are not generated themselves.",
                field="generators",
            )
    if len({mask for _, mask, _ in words}) < len(words):
        raise UsageError("Two generators are the same product.", field="generators")
    return words


def _best_words(factor_count: int, generator_count: int) -> list[_Word]:
    """Generators of the highest resolution, the last factors being generated."""
    base = factor_count - generator_count
    if generator_count < 1 or base < 1 or 2**base - 1 - base < generator_count:
        raise UsageError(
            f"A fraction of one in 2^{generator_count} of {factor_count} factors does not keep "
            "their main effects apart. Take a larger fraction, or a Plackett-Burman design.",
            field="fraction",
        )
    for resolution in range(base + 1, _SMALLEST_RESOLUTION - 1, -1):
        candidates = [
            mask
            for size in range(base, resolution - 2, -1)
            for mask in (sum(1 << p for p in c) for c in combinations(range(base), size))
            if size >= 2
        ]
        steps = [_MOST_STEPS]
        found = _search(candidates, generator_count, resolution, [], [0], steps)
        if found is not None:
            return [(base + place, mask, 1) for place, mask in enumerate(found)]
    raise UsageError("No fraction of this size was found.", field="fraction")


def _search(
    candidates: Sequence[int],
    wanted: int,
    resolution: int,
    chosen: list[int],
    products: list[int],
    steps: list[int],
) -> list[int] | None:
    """Generators whose words, and all their products, are long enough, by backtracking.

    `products` are those of the chosen generators' words on the base factors, each with the number
    of generated factors in its upper bits.
    """
    if len(chosen) == wanted:
        return chosen
    for place, mask in enumerate(candidates):
        steps[0] -= 1
        if steps[0] < 0:
            return None
        word = mask | 1 << (32 + len(chosen))
        further = [product ^ word for product in products]
        if min(product.bit_count() for product in further) < resolution:
            continue
        found = _search(
            candidates[place + 1 :],
            wanted,
            resolution,
            [*chosen, mask],
            products + further,
            steps,
        )
        if found is not None:
            return found
    return None


def _defining_relation(words: Sequence[_Word]) -> list[tuple[int, int]]:
    """All products of the words, each with its sign."""
    relation = [(0, 1)]
    for target, mask, sign in words:
        whole = mask | 1 << target
        relation += [(other ^ whole, other_sign * sign) for other, other_sign in relation]
    return relation[1:]


def _aliases(names: Sequence[str], relation: Sequence[tuple[int, int]]) -> Iterator[Alias]:
    """Main effects and interactions of two, with what of the same order or below they hide."""
    seen: set[int] = set()
    for size in (1, 2):
        for places in combinations(range(len(names)), size):
            mask = sum(1 << place for place in places)
            if mask in seen:
                continue
            others = sorted(
                ((mask ^ word, sign) for word, sign in relation),
                key=lambda item: (item[0].bit_count(), item[0]),
            )
            near = [(other, sign) for other, sign in others if other.bit_count() <= 2]
            seen.update(other for other, _ in near)
            if near:
                yield Alias(
                    _effect(names, mask),
                    tuple(_effect(names, other) for other, _ in near),
                    tuple(float(sign) for _, sign in near),
                )


def _effect(names: Sequence[str], mask: int) -> str:
    return ":".join(name for place, name in enumerate(names) if mask >> place & 1)
