"""A causal analysis as sentences and tables for people."""

from __future__ import annotations

from steelyard.analysis.cause.causal_analysis import FEWEST_BLOCKS, Arm, Cause
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.units import scale_for
from steelyard.report.documents.rendering import Origin
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import caution_text, decimals_for, one_line
from steelyard.report.texts.table import Table

_WORDS = {
    "supported": "supported",
    "not-supported": "not supported",
    "nothing-to-explain": "nothing to explain",
    "changes-too-much": "changes too much to say",
    "cannot-tell": "cannot tell",
}
_SMALLEST_P = 0.001


def headline(found: Cause) -> str:
    """What was asked, and the verdict."""
    claim = f"{one_line(found.factor)} acts on {one_line(found.response)} through what is held"
    return f"{claim}: {_WORDS[found.verdict]}"


def conclusion(found: Cause) -> list[str]:
    """What may be said, in sentences."""
    factor, response = one_line(found.factor), one_line(found.response)
    without, held, left = found.without, found.held, found.left
    if without is None or held is None:
        if found.reason == "one-level":
            return [f"Fewer than two levels of {factor} were measured in both arms."]
        return [
            f"{found.block_count} complete blocks are too few: it takes {FEWEST_BLOCKS} or more."
        ]
    effect = f"the levels of {factor} spread {response} by {_spread_said(without, found)}"
    if found.verdict == "nothing-to-explain":
        return [
            f"Without the intervention {effect}: less than the margin of "
            f"{_amount(found.terms.margin, found)}. There is no effect to explain."
        ]
    if found.reason == "effect-hidden":
        return [
            f"Without the intervention {effect}. Noise ({_amount(without.noise, found)} from value "
            "to value) hides whether there is any effect: more blocks, or a quieter machine, would "
            "tell."
        ]
    sentences = [
        f"Without the intervention {effect}, with it by {_spread_said(held, found)}.",
        *_shares(found, factor, left),
    ]
    allowed = f"{100 * found.terms.tolerance:g} %"
    those = "Both are" if found.relative else "That is"
    sentences.append(
        {
            "effect-goes": f"{those} at most {allowed}: the effect goes with what is held, so the "
            "explanation stands.",
            "effect-smaller": f"{those} more than {allowed}: what is held carries a part of the "
            "effect at most; something else carries the rest.",
            "effect-stays": f"{those} more than {allowed}: the effect stays although what should "
            "carry it is held, so it comes another way.",
            "scales-disagree": f"One is at most {allowed}, the other is more: whether the effect "
            "goes depends on the scale, because the intervention changes the mean. Hold it by "
            "something that changes the rest of the program less.",
            "rest-hidden": f"Noise hides whether this is at most {allowed}: more blocks would "
            "tell.",
        }[found.reason]
    )
    if found.interaction is not None:
        cross = found.interaction
        sentences.append(
            f"Between the arms the effects of the levels differ by "
            f"{_interval(cross.spread, found)}; F({cross.degrees[0]:g}, {cross.degrees[1]:g}) = "
            f"{cross.statistic:.3g}, p {p_text(cross.p)}."
        )
    carried = found.intermediate
    if carried is not None:
        sentences.append(
            f"{one_line(carried.name)} {'moves' if carried.moves else 'does not move'} with "
            f"{factor} ({carried.without.estimate:.4g} between levels), and with the intervention "
            f"{'rests' if carried.rests else 'still moves'} ({carried.held.estimate:.4g})."
        )
    return sentences


def _shares(found: Cause, factor: str, left: Interval | None) -> list[str]:
    """The share of the effect that is left, on both scales where they differ."""
    if not found.relative:
        return [f"The intervention leaves {_share(left)} of the variance that {factor} makes."]
    unit = f"in {found.unit}" if found.unit else "in the unit of the response"
    return [
        f"As shares of the mean of each arm, the intervention leaves {_share(left)} of the "
        f"variance that {factor} makes; {unit}, {_share(found.left_in_unit)}."
    ]


def p_text(p: float) -> str:
    """A p value with its sign of comparison."""
    return f"< {_SMALLEST_P:g}" if p < _SMALLEST_P else f"= {p:.3f}"


def _amount(value: float, found: Cause) -> str:
    """A spread on the scale of the answer."""
    if found.relative:
        return f"{100 * value:.{decimals_for(100 * value)}f} %"
    factor, unit = scale_for(value, found.unit)
    return f"{value / factor:.{decimals_for(value / factor)}f} {unit}".strip()


def _interval(value: Interval, found: Cause) -> str:
    if not isinstance(value, Estimate):
        return "an amount that noise hides"
    parts = [_amount(part, found) for part in (value.estimate, value.low, value.high)]
    return f"{parts[0]} [{parts[1]}, {parts[2]}]"


def _spread(arm: Arm, found: Cause) -> str:
    return _interval(arm.spread, found)


def _spread_said(arm: Arm, found: Cause) -> str:
    """The spread of an arm, in the unit of the response too where it is a share of the mean."""
    if not found.relative:
        return _spread(arm, found)
    amount = arm.spread.estimate * arm.mean
    factor, unit = scale_for(amount, found.unit)
    said = f"{amount / factor:.3g} {unit}".strip()
    return f"{_spread(arm, found)} or {said}"


def _share(left: Interval | None) -> str:
    if not isinstance(left, Estimate):
        return "an unknown share"
    decimals = min(2, decimals_for(100 * max(left.half_width, 1e-4)))
    parts = [f"{100 * part:.{decimals}f} %" for part in (left.estimate, left.low, left.high)]
    return f"{parts[0]} [{parts[1]}, {parts[2]}]"


def arms_table(found: Cause) -> Table | None:
    """A row an arm; None where too little was measured."""
    rows: list[tuple[str, ...]] = []
    for arm in (found.without, found.held):
        if arm is None:
            return None
        factor, unit = scale_for(arm.mean, found.unit)
        rows.append(
            (
                one_line(arm.name),
                f"{arm.mean / factor:.4g} {unit}".strip(),
                _spread(arm, found),
                _amount(arm.range, found),
                _amount(arm.noise, found),
                f"{arm.statistic:.3g}",
                p_text(arm.p).removeprefix("= "),
            )
        )
    headers = (found.intervention, "mean", "spread of levels", "range", "noise", "F", "p")
    return Table(headers, tuple(rows), frozenset({0}), spare=(5, 4, 3))


def levels_table(found: Cause) -> Table | None:
    """A row a level, with its mean in both arms."""
    if found.without is None or found.held is None:
        return None
    factor, unit = scale_for(found.without.mean, found.unit)
    pairs = zip(found.without.means, found.held.means, strict=True)
    rows = tuple(
        (one_line(level), *(f"{mean / factor:.4g}" for mean in means))
        for level, means in zip(found.levels, pairs, strict=True)
    )
    name = f" [{unit}]" if unit else ""
    headers = (found.factor, f"{found.without.name}{name}", f"{found.held.name}{name}")
    return Table(headers, rows, frozenset())


def cause_text(found: Cause, _origin: Origin, width: int | None = None) -> str:
    """What may be said, then the arms; ends with a newline."""
    lines = wrapped(headline(found), width)
    for sentence in conclusion(found):
        lines += wrapped(sentence, width)
    for table in (arms_table(found), levels_table(found)):
        if table is not None:
            lines += ["", *plain_table(table, width)]
    if found.cautions:
        lines.append("")
        for caution in found.cautions:
            lines += wrapped(f"warning: {caution_text(caution.message)}", width)
    return "\n".join(lines) + "\n"
