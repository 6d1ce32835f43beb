"""Tests of randomness, after NIST Special Publication 800-22, revision 1a (2010).

Each takes a sequence of bits (an array of 0 and 1) and gives p-values: the probability that a
perfect generator gives a sequence that looks less random. Sections are those of the publication.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

Bits = NDArray[np.uint8]
PValues = tuple[float, ...]

# 2.4.2 and 2.4.4: for blocks of M bits, from n bits on: the longest run of the first class, and
# the probabilities of all classes (3.4).
_LONGEST_RUNS = (
    (750_000, 10_000, 10, (0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727)),
    (6_272, 128, 4, (0.1174035788, 0.242955959, 0.249363483, 0.17517706, 0.102701071, 0.112398847)),
    (128, 8, 1, (0.21484375, 0.3671875, 0.23046875, 0.1875)),
)
_RANK_SIDE = 32  # 2.5.2


def frequency(bits: Bits) -> PValues:
    """Are there as many ones as zeros? Section 2.1."""
    total = 2 * int(bits.sum()) - len(bits)
    return (math.erfc(abs(total) / math.sqrt(2 * len(bits))),)


def block_frequency(bits: Bits, block_bits: int = 128) -> PValues:
    """The same in each block. Section 2.2."""
    blocks = _blocks(bits, block_bits)
    shares = blocks.mean(axis=1)
    statistic = 4 * block_bits * float(((shares - 0.5) ** 2).sum())
    return (float(special.gammaincc(len(blocks) / 2, statistic / 2)),)


def cumulative_sums(bits: Bits) -> PValues:
    """How far do the sums of the first bits stray? Forward and backward. Section 2.13."""
    steps = 2 * bits.astype(np.int64) - 1
    return tuple(_excursion_p(np.cumsum(each)) for each in (steps, steps[::-1]))


def _excursion_p(sums: NDArray[np.int64]) -> float:
    count, largest = len(sums), int(np.abs(sums).max())
    scale = largest / math.sqrt(count)
    first = np.arange(math.ceil((-count / largest + 1) / 4), (count // largest - 1) // 4 + 1)
    second = np.arange(math.ceil((-count / largest - 3) / 4), (count // largest - 1) // 4 + 1)
    inner = special.ndtr((4 * first + 1) * scale) - special.ndtr((4 * first - 1) * scale)
    outer = special.ndtr((4 * second + 3) * scale) - special.ndtr((4 * second + 1) * scale)
    return float(1 - inner.sum() + outer.sum())


def runs(bits: Bits) -> PValues:
    """Do runs of equal bits have the lengths that they should? Section 2.3."""
    count = len(bits)
    share = float(bits.mean())
    if abs(share - 0.5) >= 2 / math.sqrt(count):
        return (0.0,)
    run_count = 1 + int(np.count_nonzero(bits[1:] != bits[:-1]))
    expected = 2 * share * (1 - share)
    return (math.erfc(abs(run_count - count * expected) / (math.sqrt(2 * count) * expected)),)


def longest_run(bits: Bits) -> PValues:
    """The longest run of ones in each block. Section 2.4."""
    fitting = [row[1:] for row in _LONGEST_RUNS if len(bits) >= row[0]]
    if not fitting:
        raise ValueError("The longest run takes at least 128 bits.")
    block_bits, low, probabilities = fitting[0]
    longest = np.clip(_longest_runs(_blocks(bits, block_bits)) - low, 0, len(probabilities) - 1)
    counts = np.bincount(longest, minlength=len(probabilities))
    expected = len(longest) * np.array(probabilities)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return (float(special.gammaincc((len(probabilities) - 1) / 2, statistic / 2)),)


def _longest_runs(blocks: NDArray[np.uint8]) -> NDArray[np.int64]:
    current = np.zeros(len(blocks), dtype=np.int64)
    longest = current.copy()
    for column in blocks.T:
        current = (current + 1) * column
        np.maximum(longest, current, out=longest)
    return longest


def rank(bits: Bits) -> PValues:
    """Are 32 by 32 matrices of bits of full rank as often as they should be? Section 2.5."""
    places = np.uint64(1) << np.arange(_RANK_SIDE - 1, -1, -1, dtype=np.uint64)
    rows: NDArray[np.uint64] = (_blocks(bits, _RANK_SIDE) * places).sum(axis=1, dtype=np.uint64)
    matrices = rows[: len(rows) // _RANK_SIDE * _RANK_SIDE].reshape(-1, _RANK_SIDE)
    ranks = _ranks(matrices)
    full, one_less = (int((ranks == _RANK_SIDE - lack).sum()) for lack in (0, 1))
    counts = np.array([full, one_less, len(matrices) - full - one_less])
    p_full, p_less = _rank_probability(_RANK_SIDE), _rank_probability(_RANK_SIDE - 1)
    expected = len(matrices) * np.array([p_full, p_less, 1 - p_full - p_less])
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return (math.exp(-statistic / 2),)


def _ranks(matrices: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Ranks over the field of two elements, of all matrices at once: a row is a word."""
    left = matrices.copy()
    found = np.zeros(len(left), dtype=np.int64)
    every = np.arange(len(left))
    for column in range(_RANK_SIDE):
        mask = np.uint64(1 << (_RANK_SIDE - 1 - column))
        usable = (left & mask) != 0
        pivot = usable.argmax(axis=1)
        has = usable[every, pivot]
        row = np.where(has, left[every, pivot], np.uint64(0))
        left[every[has], pivot[has]] = 0
        usable[every[has], pivot[has]] = False
        left ^= np.where(usable, row[:, None], np.uint64(0))
        found += has
    return found


def _rank_probability(wanted: int) -> float:
    """Section 3.5."""
    side = _RANK_SIDE
    product = math.prod(
        (1 - 2.0 ** (i - side)) ** 2 / (1 - 2.0 ** (i - wanted)) for i in range(wanted)
    )
    return 2.0 ** (wanted * (2 * side - wanted) - side * side) * product


def spectral(bits: Bits) -> PValues:
    """Are there peaks in the discrete Fourier transform? Section 2.6."""
    count = len(bits)
    heights = np.abs(np.asarray(fft.rfft(2.0 * bits - 1)))[: count // 2]
    threshold = math.sqrt(math.log(1 / 0.05) * count)
    below = int((heights < threshold).sum())
    distance = (below - 0.95 * count / 2) / math.sqrt(count * 0.95 * 0.05 / 4)
    return (math.erfc(abs(distance) / math.sqrt(2)),)


def approximate_entropy(bits: Bits, pattern_bits: int = 10) -> PValues:
    """How often do patterns of m and of m + 1 bits come? Section 2.12."""

    def phi(length: int) -> float:
        shares = _pattern_counts(bits, length) / len(bits)
        return float(special.xlogy(shares, shares).sum())

    entropy = phi(pattern_bits) - phi(pattern_bits + 1)
    statistic = 2 * len(bits) * (math.log(2) - entropy)
    return (float(special.gammaincc(2 ** (pattern_bits - 1), statistic / 2)),)


def serial(bits: Bits, pattern_bits: int = 16) -> PValues:
    """Does every pattern of m bits come as often? Section 2.11."""

    def psi(length: int) -> float:
        if length == 0:
            return 0.0
        counts = _pattern_counts(bits, length).astype(np.float64)
        return float(2**length / len(bits) * (counts**2).sum() - len(bits))

    whole, less, least = (psi(pattern_bits - lack) for lack in range(3))
    first, second = whole - less, whole - 2 * less + least
    return (
        float(special.gammaincc(2 ** (pattern_bits - 2), first / 2)),
        float(special.gammaincc(2 ** (pattern_bits - 3), second / 2)),
    )


def _pattern_counts(bits: Bits, length: int) -> NDArray[np.int64]:
    """How often each pattern comes, the sequence taken as a ring."""
    ring = np.concatenate([bits, bits[: length - 1]]).astype(np.int64)
    patterns = np.zeros(len(bits), dtype=np.int64)
    for offset in range(length):
        patterns = 2 * patterns + ring[offset : offset + len(bits)]
    return np.bincount(patterns, minlength=2**length)


def _blocks(bits: Bits, block_bits: int) -> NDArray[np.uint8]:
    return bits[: len(bits) // block_bits * block_bits].reshape(-1, block_bits)


Test = Callable[[Bits], PValues]
TESTS: dict[str, Test] = {
    "frequency": frequency,
    "block frequency": block_frequency,
    "cumulative sums": cumulative_sums,
    "runs": runs,
    "longest run": longest_run,
    "rank": rank,
    "spectral": spectral,
    "approximate entropy": approximate_entropy,
    "serial": serial,
}


def uniformity(p_values: Sequence[float]) -> float:
    """Whether p-values are spread evenly over ten classes, as a p-value. Section 4.2.2."""
    classes = np.clip((10 * np.array(p_values)).astype(int), 0, 9)
    counts = np.bincount(classes, minlength=10)
    expected = len(p_values) / 10
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(special.gammaincc(9 / 2, statistic / 2))
