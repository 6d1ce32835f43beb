"""Where are the states of iterations judged otherwise than published, and why?

    python -m benchmarks.states.disagreements CLONE [--half 2] [--count 40] [--seed 40]

CLONE is a clone of the replication package of Traini et al.
(github.com/SEALABQualityGroup/steady-state). Draws so many at random of the executions that have an
answer and are steady by one opinion and not by the other, describes the segments between the
published change points, and writes docs/states-disagreements.md with their pictures.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.states.judged import percent
from benchmarks.states.published_states import benchmark_names, labelled
from steelyard.analysis.states.execution import ExecutionState, Rules, execution_state
from steelyard.analysis.states.steady_part import latest_start
from steelyard.analysis.tables.data_columns import Floats

ROOT = Path(__file__).resolve().parents[2]
CALIBRATED = ROOT.parent / "shared" / "data" / "steady-state"
PAGE = ROOT / "docs" / "states-disagreements.md"
PICTURE = ROOT / "docs" / "images" / "states-disagreements.png"
MARK = "<!-- drawn: {} -->"
_TOLERANCE = 0.05
_STEADY = ("flat", "warm-up", "slow-down", "cyclic")
# A segment shorter than a tenth of the part that has to be steady is a disturbance here.
_SHORT = 0.1
# A difference below this is hardly beyond the tolerance.
_NEAR = 0.07
_COLUMNS = 5


@dataclass(frozen=True)
class Segment:
    """The last segment between published change points that differs from the final one by more than
    the tolerance: its place, its mean and its median beside those of the final one, whether the
    median before it is that of the final one, and how many iterations that one has."""

    start: int
    stop: int
    mean_ratio: float
    median_ratio: float
    comes_back: bool
    final_count: int


@dataclass(frozen=True)
class Disagreement:
    """An execution, what was published, and what was found."""

    benchmark: str
    execution: int
    values: Floats
    start: int | None
    found: ExecutionState
    segment: Segment | None

    @property
    def why(self) -> str:
        """The first reason that applies."""
        if self.start is not None:
            return self._why_not_steady()
        one = self.segment
        count = len(self.values)
        if one is None:
            return "no segment differs by more than 5 % in its mean"
        if abs(one.median_ratio - 1) < _TOLERANCE / 2:
            return "rare slow values: means differ, medians do not"
        short = _SHORT * (count - latest_start(count))
        if one.final_count <= short < one.stop - one.start:
            return f"a last segment of at most {short:.0f} iterations decides"
        if one.stop - one.start <= short and one.comes_back:
            return f"a disturbance of at most {short:.0f} iterations that comes back"
        if abs(one.mean_ratio - 1) < _NEAR:
            return "a difference near the tolerance"
        return "a level change late in the execution"

    def _why_not_steady(self) -> str:
        if self.found.state == "drift":
            return "a trend through all of it"
        late = [level for level in self.found.levels if level.stop > latest_start(len(self.values))]
        means = [level.mean for level in late]
        if max(means) / min(means) - 1 > _TOLERANCE:
            return "the last sixth has levels that the published penalty joins"
        return "levels differ before the last sixth only"


def last_difference(values: Floats, changes: Sequence[int]) -> Segment | None:
    """The last segment that differs from the final one; `changes` are the last iterations of
    segments, as the package has them."""
    bounds = [0, *(change + 1 for change in changes[:-1]), len(values)]
    final = values[bounds[-2] :]
    for index in range(len(bounds) - 3, -1, -1):
        start, stop = bounds[index], bounds[index + 1]
        part = values[start:stop]
        ratio = float(part.mean() / final.mean())
        if abs(ratio - 1) > _TOLERANCE:
            earlier = values[max(0, start - len(final)) : start]
            middle = float(np.median(final))
            back = bool(len(earlier)) and abs(np.median(earlier) / middle - 1) < _TOLERANCE
            median = float(np.median(part)) / middle
            return Segment(start, stop, ratio, median, bool(back), len(final))
    return None


def disagreements(folder: Path, half: int | None) -> list[Disagreement]:
    """All executions with an answer that are steady by one opinion alone."""
    without = benchmark_names(CALIBRATED) if CALIBRATED.is_dir() else set[str]()
    found: list[Disagreement] = []
    for one in labelled(folder, without=without, half=half):
        path = folder / "data" / "changepoints" / f"{one.name}.json"
        changes = json.loads(path.read_text("utf-8"))
        for place, (values, start) in enumerate(zip(one.executions, one.starts, strict=True)):
            told = execution_state("", values, Rules())
            if told.state is None or (told.state in _STEADY) == (start is not None):
                continue
            segment = last_difference(values, changes[place]) if start is None else None
            found.append(Disagreement(one.name, place, values, start, told, segment))
    return found


def draw(drawn: Sequence[Disagreement], path: Path) -> None:
    """A panel for each: the iterations, where the last sixth begins, and where each opinion sees
    the steady state begin."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    rows = -(-len(drawn) // _COLUMNS)
    figure, axes = plt.subplots(rows, _COLUMNS, figsize=(3.1 * _COLUMNS, 1.75 * rows), sharex=True)
    for number, (panel, one) in enumerate(zip(axes.flat, drawn, strict=False), 1):
        relative = one.values / np.median(one.values)
        low, high = np.quantile(relative, (0.002, 0.99))
        reach = max(high - low, 0.1)
        panel.set_ylim(low - 0.1 * reach, high + 0.15 * reach)
        panel.plot(relative, ",", color="0.35", alpha=0.6)
        panel.plot(_smoothed(relative), color="tab:blue", linewidth=0.8)
        panel.axvline(latest_start(len(one.values)), color="0.6", linewidth=0.8, linestyle=":")
        if one.segment is not None:
            panel.axvspan(one.segment.start, one.segment.stop, color="tab:orange", alpha=0.35)
        for begin, colour in ((one.start, "tab:green"), (one.found.initialised, "tab:red")):
            if begin is not None:
                panel.axvline(begin, color=colour, linewidth=1.0)
        panel.set_title(f"{number}: {one.found.state}", fontsize=7, pad=2)
        panel.tick_params(labelsize=6)
    figure.tight_layout(pad=0.4)
    figure.savefig(path, dpi=75)
    plt.close(figure)


def _smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Medians of 15 iterations in turn."""
    width = 15
    padded = np.pad(values, width // 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1)


def written(drawn: Sequence[Disagreement], total: int) -> list[str]:
    """The tables of the page."""
    lines = [f"{len(drawn)} of {total} disagreements, drawn at random:", ""]
    lines += ["| published | found | why | of those drawn |", "|---|---|---|---|"]
    kinds = Counter((one.start is not None, one.why) for one in drawn)
    for (steady, why), count in sorted(kinds.items(), key=lambda pair: (pair[0][0], -pair[1])):
        sides = ("steady", "not steady") if steady else ("not steady", "steady")
        lines.append(f"| {sides[0]} | {sides[1]} | {why} | {count} |")
    lines += ["", "| | benchmark, execution | published | found | sure | segment | why |"]
    lines.append("|---|---|---|---|---|---|---|")
    for number, one in enumerate(drawn, 1):
        name = one.benchmark.split("#")[1].rsplit(".", 2)
        published = "not steady" if one.start is None else f"steady from {one.start}"
        begin = one.found.initialised
        told = f"{one.found.state}" + ("" if not begin else f", from {begin}")
        sure = percent(one.found.confidence or 0)
        cells = f"{'.'.join(name[-2:])}, {one.execution} | {published} | {told} | {sure}"
        lines.append(f"| {number} | {cells} | {_segment(one.segment)} | {one.why} |")
    return lines


def _segment(one: Segment | None) -> str:
    if one is None:
        return "–"
    mean, median = (f"{100 * (r - 1):+.1f} %" for r in (one.mean_ratio, one.median_ratio))
    return f"{one.start} to {one.stop}: mean {mean}, median {median}"


def main() -> None:
    """Draw at random, draw pictures, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", type=int, choices=(1, 2), default=2)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=40)
    options = parser.parse_args()
    found = disagreements(options.data, options.half)
    generator = np.random.default_rng(options.seed)
    chosen = sorted(generator.choice(len(found), min(options.count, len(found)), replace=False))
    drawn = [found[place] for place in chosen]
    draw(drawn, PICTURE)
    lines = written(drawn, len(found))
    begin, end = MARK.format("begin"), MARK.format("end")
    before, _, rest = PAGE.read_text("utf-8").partition(begin)
    _, _, after = rest.partition(end)
    text = "\n".join(lines)
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", "utf-8")
    print(text)


if __name__ == "__main__":
    main()
