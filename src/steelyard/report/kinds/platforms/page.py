"""The pages of predictions across hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.core.experiment_results import Caution
from steelyard.predict.platforms.model_evaluation import PlatformEvaluation
from steelyard.predict.platforms.platform_answers import PlatformAnswer
from steelyard.predict.platforms.suite_study import SuiteStudy
from steelyard.report.kinds.platforms.platform_figures import (
    answer_figure,
    boxes_figure,
    curves_figure,
    tree_figure,
)
from steelyard.report.kinds.platforms.tables import (
    blame_sentence,
    blame_tables,
    hosts_table,
    largest_scores,
    parts_table,
    strategies_table,
)
from steelyard.report.kinds.platforms.text import (
    answer_sentences,
    evaluation_sentence,
    headline,
    suite_headline,
    suite_sentences,
)
from steelyard.report.pages.rendered import plotted_page
from steelyard.report.texts.readable import caution_text
from steelyard.report.texts.table import Table


@dataclass(frozen=True)
class Section:
    """A part of a page: a title, what it shows, a figure and tables."""

    title: str
    how: str
    figure: str | None
    tables: tuple[tuple[Table, str], ...] = ()


def answer_page(answer: PlatformAnswer, unit: str) -> str:
    """The page of ``ask``; loads nothing from anywhere."""
    section = Section(
        "Hosts",
        "Dots are predictions with their intervals; grey ones are refused. Ticks are measured.",
        "hosts",
        ((hosts_table(answer), "Every host"),),
    )
    figures = {"hosts": answer_figure(answer, unit)}
    lines = answer_sentences(answer)
    return _page("prediction", headline(answer), lines, answer.cautions, [section], figures)


def evaluation_page(found: PlatformEvaluation) -> str:
    """The page of ``evaluate``; as `answer_page`."""
    scores = largest_scores(found)
    sections = [
        Section(
            "Errors of each strategy",
            "Boxes hold the middle half of all errors, whiskers 5 to 95 %, crosses the worst. A "
            "strategy is better the further left it lies.",
            "boxes",
            ((strategies_table(found), "Errors of answered and of all cases"),),
        ),
        Section(
            "Error against share answered",
            "What is left of the error when only the least doubtful share is answered: by the "
            "width of the interval, or by adjusted R². Lower is better.",
            "curves",
        ),
    ]
    figures = {"boxes": boxes_figure(found), "curves": curves_figure(scores)}
    blame = scores[0].blame if scores else None
    if blame is not None:
        hosts, names = blame_tables(found.table, blame)
        sections.append(
            Section(
                "Who is to blame",
                f"{scores[0].evaluated.model.name}: {blame_sentence(found.table, blame)}",
                None,
                ((hosts, "Worst tenth by host"), (names, "Worst tenth by application")),
            )
        )
    if found.merges is not None and len(found.merges) + 1 == len(found.table.benchmarks):
        figures["tree"] = tree_figure(found.merges, found.table.benchmarks)
        sections.append(Section("Benchmarks by correlation", "Complete linkage.", "tree"))
    lines = [evaluation_sentence(found)]
    title = f"{len(scores)} strategies compared"
    return _page("evaluation", title, lines, found.cautions, sections, figures)


def suite_page(found: SuiteStudy) -> str:
    """The page of ``suite``; as `answer_page`."""
    tables: list[tuple[Table, str]] = []
    if found.blame is not None:
        hosts, names = blame_tables(found.table, found.blame)
        tables = [(hosts, "Worst tenth by host"), (names, "Worst tenth by application")]
    sections = [
        Section(
            "Benchmarks by correlation",
            "Benchmarks that join far left say nearly the same about hosts (complete linkage).",
            "tree",
            ((parts_table(found), "What each benchmark adds"),),
        ),
        Section("Who is to blame", "The worst tenth of all predictions.", None, tuple(tables)),
    ]
    figures = {"tree": tree_figure(found.clustering.merges, found.table.benchmarks)}
    title, lines = suite_headline(found), suite_sentences(found)
    return _page("suite", title, lines, found.cautions, sections, figures)


def _page(
    what: str,
    title: str,
    lines: Sequence[str],
    cautions: Iterable[Caution],
    sections: Sequence[Section],
    figures: Mapping[str, Mapping[str, Any]],
) -> str:
    view = {
        "what": what,
        "title": title,
        "lines": lines,
        "cautions": [caution_text(caution.message) for caution in cautions],
        "sections": sections,
    }
    return plotted_page("platforms/page.html.jinja", view, figures)
