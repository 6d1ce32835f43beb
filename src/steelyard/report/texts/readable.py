"""Numbers and names as people read them in one line of text."""

from __future__ import annotations

import math
from typing import Any

from steelyard.core.estimate import Estimate
from steelyard.core.experiment_spec import ExperimentSpec

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_ASYMMETRY_RATIO = 0.1
_MOST_DECIMALS = 6
_CAUTION_LIMIT = 800


def without_surrogates(text: str) -> str:
    """`text` that can be encoded: bytes that were not UTF-8 become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(REPLACEMENT if "\ud800" <= c <= "\udfff" else c for c in text)
    return text


def one_line(text: str) -> str:
    """`text` that is safe to print: white space runs become a space, and control characters
    (which a terminal would obey) become U+FFFD."""
    joined = " ".join(text.split())
    if joined.isprintable():
        return joined
    return "".join(c if c.isprintable() else REPLACEMENT for c in joined)


def caution_text(message: str) -> str:
    """A caution in one line, short of the longest command lines that it may name."""
    return elided(one_line(message), _CAUTION_LIMIT)


def elided(text: str, limit: int) -> str:
    """`text` with its middle left out where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    head = (limit - 1) * 2 // 3
    return text[:head] + ELLIPSIS + text[len(text) - (limit - 1 - head) :]


def decimals_for(half_width: float, significant: int = 2) -> int:
    """Decimals that show `half_width` with `significant` digits."""
    if half_width <= 0 or not math.isfinite(half_width):
        return 3
    return min(_MOST_DECIMALS, max(0, significant - 1 - math.floor(math.log10(half_width))))


def confidence_text(confidence: float) -> str:
    """A confidence in percent, such as ``95 %``."""
    return f"{100 * confidence:g} %"


def ratio_text(ratio: Estimate) -> str:
    """A ratio with its bounds, such as ``0.998 [0.993, 1.003]``.

    A bound that is not 1 is never printed as 1, lest the text contradict its verdict.
    """
    decimals = max(3, decimals_for(ratio.half_width, 1))
    while decimals < _MOST_DECIMALS and _rounds_to_one(ratio, decimals):
        decimals += 1
    return f"{ratio.estimate:.{decimals}f} [{ratio.low:.{decimals}f}, {ratio.high:.{decimals}f}]"


def _rounds_to_one(ratio: Estimate, decimals: int) -> bool:
    return any(bound != 1 and round(bound, decimals) == 1 for bound in (ratio.low, ratio.high))


def is_asymmetric(interval: Estimate) -> bool:
    """Whether the bounds lie so unequally far from the estimate that ± would mislead."""
    apart = abs(interval.high + interval.low - 2 * interval.estimate)
    return apart > _ASYMMETRY_RATIO * (interval.high - interval.low)


def difference_text(ratio: Estimate) -> str:
    """How far a ratio is from 1: ``5.5 % ± 2.5 %``, or ``5.5 % [3.1 %, 9.2 %]`` where the
    interval is clearly asymmetric (as Fieller's is when the baseline varies much)."""
    bounds = sorted((abs(ratio.low - 1) * 100, abs(ratio.high - 1) * 100))
    estimate, half_width = abs(ratio.estimate - 1) * 100, ratio.half_width * 100
    decimals = min(4, max(decimals_for(half_width), 1 if half_width < 10 else 0))
    while decimals < 4 and round(bounds[0], decimals) == 0 and bounds[0] > 0:
        decimals += 1
    if is_asymmetric(ratio):
        low, high = (f"{bound:.{decimals}f} %" for bound in bounds)
        return f"{estimate:.{decimals}f} % [{low}, {high}]"
    return f"{estimate:.{decimals}f} % ± {half_width:.{decimals}f} %"


def times_text(ratio: Estimate, *, inverse: bool = False) -> str:
    """A ratio, or its inverse, as how many times: ``6.74 times``, with a digit more near 1."""
    times = ratio.estimate
    if inverse:
        times = 1 / times if times else math.inf
    if not math.isfinite(times):
        return "infinitely many times"
    decimals = 3 if 0.9 < times < 1.1 else 2 if times < 10 else 1 if times < 100 else 0
    while decimals < _MOST_DECIMALS and times != 1 and round(times, decimals) == 1:
        decimals += 1
    return f"{times:.{decimals}f} times"


def document_value(value: Any) -> Any:
    """`value` with every text in it made encodable and every number finite (else null)."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {without_surrogates(str(k)): document_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [document_value(item) for item in value]
    return value


def levels_text(spec: ExperimentSpec) -> str:
    """The repetition levels above the iterations, highest first, and how often each is repeated."""
    parts = [
        one_line(level.name) if level.count is None else f"{level.count} x {one_line(level.name)}"
        for level in spec.levels
    ]
    return ", each of ".join(parts) or "execution"


def build_texts(spec: ExperimentSpec) -> list[str]:
    """The build commands, each once, with what they randomise."""
    found: dict[str, None] = {}
    for variant in spec.variants:
        if variant.build is not None:
            text = one_line(" ".join(variant.build.argv))
            names = ", ".join(variant.build.randomize)
            found[f"{text} (random: {names})" if names else text] = None
    return list(found)
