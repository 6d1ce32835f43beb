"""A study of noise as sentences and tables for people."""

from __future__ import annotations

from steelyard.analysis.noise.noise_results import Effect, NoiseStudy, SetupNoise
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.units import format_value
from steelyard.report.documents.rendering import Origin
from steelyard.report.kinds.analysis.tables import p_text
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import caution_text, confidence_text, one_line, ratio_text
from steelyard.report.texts.table import Table

_NOTHING = ""
_SAID: dict[Effect, str] = {
    "steadier": "Steadier than {baseline}",
    "noisier": "Noisier than {baseline}",
    "no effect shown": "No effect on the spread shown",
}


def headline(found: NoiseStudy) -> str:
    """What was studied."""
    counts = sorted({setup.count for setup in found.setups})
    runs = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{one_line(found.response)}: noise at {len(found.setups)} setups, {runs} runs each"


def sentences(found: NoiseStudy) -> list[str]:
    """What may be said of each setup, the strongest first."""
    first = found.setup(found.baseline)
    lines = [
        f"At {found.baseline} the CoV is {_percent(first.variation)} and the runs differ by up to "
        f"{_percent(first.max_difference_ratio)} of the mean."
    ]
    ordered = [found.setup(name) for name in found.ranking]
    if found.cumulative is not None:
        ordered.append(found.setup(found.cumulative))
    for effect, text in _SAID.items():
        named = [_worth(setup) for setup in ordered if setup.effect == effect]
        if named:
            lines.append(f"{text.format(baseline=found.baseline)}: {', '.join(named)}.")
    return lines


def _worth(setup: SetupNoise) -> str:
    name = one_line(setup.name)
    if setup.effect == "no effect shown" or not isinstance(setup.spread_ratio, Estimate):
        return name
    return f"{name} (spread x {setup.spread_ratio.estimate:.2f})"


def setups_table(found: NoiseStudy) -> Table:
    """Larres's Tables 2.2 and 3.1 to 3.3 in one."""
    columns = ("setup", "runs", "mean", "std dev", "CoV", "max diff", "to mean", "normal p")
    together = (f"Levene p ~ {found.cumulative}",) if found.cumulative else ()
    rows = tuple(
        (
            one_line(setup.name),
            str(setup.count),
            _mean(setup.mean, found.unit),
            format_value(setup.standard_deviation, found.unit, 3),
            _percent(setup.variation),
            _percent(setup.max_difference_ratio),
            _percent(setup.max_from_mean_ratio),
            p_text(setup.normality_p),
            p_text(setup.baseline_p),
            *((p_text(setup.cumulative_p),) if together else ()),
        )
        for setup in found.setups
    )
    return Table((*columns, f"Levene p ~ {found.baseline}", *together), rows, spare=(1, 7))


def ranking_table(found: NoiseStudy) -> Table:
    """What each setup is worth, the one that takes most spread away first."""
    share = confidence_text(found.confidence)
    headers = (
        "setup",
        f"spread ratio [{share}]",
        "p corrected",
        f"mean ratio [{share}]",
        "effect on spread",
    )
    names = [*found.ranking, *([found.cumulative] if found.cumulative else [])]
    rows = tuple(
        (
            one_line(setup.name),
            _ratio(setup.spread_ratio),
            p_text(setup.adjusted_p),
            _ratio(setup.mean_ratio),
            setup.effect,
        )
        for setup in map(found.setup, names)
    )
    return Table(headers, rows, frozenset({0, 4}))


def cpu_table(found: NoiseStudy) -> Table | None:
    """Larres's Table 4.1: whether CPU time is steadier than wall-clock time."""
    known = [setup for setup in found.setups if setup.cpu_variation is not None]
    if not known:
        return None
    rows = tuple(
        (
            one_line(setup.name),
            _percent(setup.variation),
            _percent(setup.cpu_variation or 0.0),
            p_text(setup.cpu_p),
        )
        for setup in known
    )
    return Table(("setup", f"CoV of {found.response}", "CoV of CPU time", "Levene p"), rows)


def noise_text(found: NoiseStudy, _origin: Origin, width: int | None = None) -> str:
    """Sentences, tables and warnings; ends with a newline.

    Parameters
    ----------
    found : NoiseStudy
    width : int, optional
        Columns to fit the tables into.
    """
    lines = wrapped(headline(found), width)
    for sentence in sentences(found):
        lines += wrapped(sentence, width)
    for table in (ranking_table(found), setups_table(found), cpu_table(found)):
        if table is not None:
            lines += ["", *plain_table(table, width)]
    if found.skipped:
        lines.append("")
        for name, reason in found.skipped:
            lines += wrapped(f"not studied: {name}: {one_line(reason)}", width)
    if found.cautions:
        lines.append("")
        for caution in found.cautions:
            lines += wrapped(f"warning: {caution_text(caution.message)}", width)
    return "\n".join(lines) + "\n"


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.2f} %"


def _ratio(ratio: Interval | None) -> str:
    if ratio is None:
        return _NOTHING
    return ratio_text(ratio) if isinstance(ratio, Estimate) else "unbounded"


def _mean(mean: Interval, unit: str) -> str:
    return _NOTHING if mean.estimate is None else format_value(mean.estimate, unit)
