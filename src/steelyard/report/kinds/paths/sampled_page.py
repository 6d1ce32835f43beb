"""The page of a profile's call paths: a flame graph that shows what is ambiguous, and tables."""

from __future__ import annotations

import os

from steelyard.analysis.paths.sampled_paths import SampledPaths
from steelyard.report.kinds.paths.candidate_counts import candidate_figure
from steelyard.report.kinds.paths.sampled_text import (
    code_line,
    counts_line,
    map_line,
    missing_table,
    paths_table,
    truth_line,
    walks_line,
)
from steelyard.report.kinds.paths.static_text import allowed_table
from steelyard.report.kinds.profile.page import health_figures, recorded_program
from steelyard.report.kinds.profile.text import facts_line, health_line, weighed
from steelyard.report.pages.flame_graph import Stack, flame_graph
from steelyard.report.pages.provenance_tables import command_line
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.texts.readable import caution_text

_SHOWN_PATHS, _SHOWN_MISSING, _SHOWN_ALLOWED = 200, 100, 50


def sampled_page(paths: SampledPaths) -> str:
    """One page that shows everything about the paths of a profile and loads nothing."""
    answer = paths.answer
    argv = tuple(answer.recorded.header.get("argv", ()))
    figures = {"where": _where(paths), **candidate_figure(paths), **health_figures(answer)}
    hidden = len(paths.allowed or ()) - _SHOWN_ALLOWED
    view = {
        "title": f"Call paths of {recorded_program(answer)}",
        "command": command_line(argv) if len(argv) > 1 else "",
        "file": os.path.basename(answer.recorded.path),
        "map": os.path.basename(paths.map_path),
        "facts": facts_line(answer),
        "counts": counts_line(paths),
        "code": "" if paths.allowed is None else code_line(paths),
        "by": map_line(paths),
        "truth": "" if paths.truth is None else truth_line(paths.truth),
        "walks": "" if paths.walks is None else walks_line(paths.walks),
        "cautions": [caution_text(caution.message) for caution in answer.cautions],
        "undetermined": any(one.candidate_count > len(one.candidates) for one in paths.paths),
        "paths": paths_table(paths, _SHOWN_PATHS),
        "missing": missing_table(paths, _SHOWN_MISSING),
        "health": [health_line(item) for item in answer.health],
        "watched": len(answer.health),
        "figures_shown": figures.keys(),
        "allowed": allowed_table(paths.allowed[:_SHOWN_ALLOWED]) if paths.allowed else None,
        "allowed_hidden": f"and {hidden:,} more keys (--json)" if hidden > 0 else "",
        "weighed": weighed(answer),
    }
    return plotted_page("paths/sampled.html.jinja", view, figures)


def _where(paths: SampledPaths) -> dict[str, object]:
    counts: dict[Stack, int] = {}
    unsure: dict[Stack, int] = {}
    without: set[Stack] = set()
    stacks, begin = paths.stacks.stacks.tolist(), 0
    ends = paths.stacks.stack_lengths.cumsum().tolist()
    flags = zip(ends, paths.are_ambiguous.tolist(), paths.are_missing.tolist(), strict=True)
    for end, is_ambiguous, is_missing in flags:
        stack: Stack = tuple(reversed(stacks[begin:end]))
        begin = end
        counts[stack] = counts.get(stack, 0) + 1
        if is_ambiguous:
            unsure[stack] = unsure.get(stack, 0) + 1
        if is_missing:
            without.add(stack)
    return flame_graph(paths.stacks.frames, sorted(counts.items()), unsure, without)
