"""How many paths the keys of samples may mean, as a figure of the page."""

from __future__ import annotations

from collections import Counter
from typing import Any

from steelyard.analysis.paths.sampled_paths import SampledPaths
from steelyard.report.plots.plot_style import axis, layout

# More would be too narrow to be read; the last bar holds all beyond.
_MOST_BARS = 20
_HEIGHT_PIXELS = 260
_COLORS = {"missing": "#9AA3AE", "resolved": "#0072B2", "ambiguous": "#B8860B"}


def candidate_counts(paths: SampledPaths) -> Counter[int]:
    """Samples by the number of paths that their key means; 0 are those without a path."""
    counts = Counter[int]()
    for one in paths.paths:
        counts[one.candidate_count] += one.sample_count
    counts[0] = sum(paths.counts.values()) - counts.total()
    return counts


def candidate_figure(paths: SampledPaths) -> dict[str, Any]:
    """The figure under its name; none where every sample has one path, or there is no sample."""
    counts = candidate_counts(paths)
    total = counts.total()
    if total == 0 or counts[1] == total:
        return {}
    most = max(counts)
    last = min(most, _MOST_BARS)
    places = range(last + 1)
    shares = [100 * counts[place] / total for place in places]
    shares[-1] = 100 * sum(count for place, count in counts.items() if place >= last) / total
    words = [str(place) for place in places]
    if most > last:
        words[-1] = f"{last} or more"
    colors = [_COLORS["missing"], _COLORS["resolved"], *[_COLORS["ambiguous"]] * last][: last + 1]
    bars = {
        "type": "bar",
        "x": list(places),
        "y": shares,
        "marker": {"color": colors},
        "hovertext": [
            f"{word} paths: {share:.2f} %" for word, share in zip(words, shares, strict=True)
        ],
        "hoverinfo": "text",
    }
    x = axis("paths that the key may mean", tickvals=list(places), ticktext=words)
    y = axis("share of the samples [%]", rangemode="tozero")
    return {"candidates": {"data": [bars], "layout": layout(_HEIGHT_PIXELS, x, y, bargap=0.2)}}
