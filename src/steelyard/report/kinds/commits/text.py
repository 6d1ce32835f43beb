"""What a terminal shows of predictions about commits."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.core.experiment_results import Caution
from steelyard.predict.commits.commit_answers import CommitAnswer
from steelyard.predict.commits.pair_rows import ChangedSources, ComparedPair
from steelyard.predict.commits.predictor import Predictor
from steelyard.predict.commits.predictor_evaluation import CommitEvaluation, Score
from steelyard.report.kinds.commits.tables import (
    answers_table,
    bounds,
    indicators_table,
    models_table,
    percent,
    scores_table,
    thresholds_table,
)
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import caution_text, one_line

_MOST_SOURCES = 5


def answer_headline(answer: CommitAnswer) -> str:
    """How many benchmarks need to run; of several revisions, how often one does."""
    runs, asked = len(answer.to_run), answer.benchmarks
    revisions = len({one.unknown for one in asked})
    if revisions < 2:
        return f"{runs} of {len(asked)} benchmarks need to run"
    names = len({one.benchmark for one in asked})
    return f"{runs} of {len(asked)} runs are needed: {names} benchmarks, {revisions} revisions"


def answer_sentences(answer: CommitAnswer) -> list[str]:
    """How the answer was made."""
    predictor = answer.predictor
    table = predictor.table
    hits, pairs = int(table.hits.sum()), len(table)
    return [
        f"By {predictor.model.name}, learnt from {pairs} pairs with {hits} changes; wanted hit "
        f"rate {percent(predictor.wanted_hit_rate)}, so run from {percent(predictor.cutoff, 1)} on."
    ]


def answer_text(answer: CommitAnswer, width: int | None) -> str:
    """The text of ``ask``."""
    table = plain_table(answers_table(answer), width)
    return _joined([answer_headline(answer)], answer_sentences(answer), [table], answer.cautions)


def indicators_text(found: ComparedPair, width: int | None) -> str:
    """The text of ``indicators``."""
    change = found.change
    head = [
        f"{len(change.changed)} of {len(change.old)} functions changed, {len(change.added)} are "
        f"new, {len(change.deleted)} are gone; data of {len(change.data)} more changed"
    ]
    if found.sources is not None:
        head.append(_sources_sentence(found.sources))
    lines: list[str] = []
    for name, reasons in zip(found.table.benchmarks, found.reasons, strict=True):
        lines += [f"{name}: {reasons[0]}", *(f"  {reason}" for reason in reasons[1:])]
    table = plain_table(indicators_table(found), width)
    return _joined(head, lines, [table], found.cautions)


def _sources_sentence(sources: ChangedSources) -> str:
    """Which files differ, those with most lines first."""
    if not sources.lines:
        return "no file of the repository differs"
    named = [f"{one_line(name)} ({lines})" for name, lines in sources.lines[:_MOST_SOURCES]]
    more = len(sources.lines) - len(named)
    others = f" and {more} more" if more > 0 else ""
    return f"files that differ, with how many lines: {', '.join(named)}{others}"


def predictor_headline(predictor: Predictor) -> str:
    """What was learnt."""
    hits, neutral = int(predictor.table.hits.sum()), int(predictor.table.neutral.sum())
    return f"Learnt from {hits} changes and {neutral} pairs without one: {predictor.model.name}"


def predictor_text(predictor: Predictor, width: int | None) -> str:
    """The text of ``learn``."""
    how = [
        f"{one_line(predictor.model.description)} Models are compared on revisions newer than "
        "those that they learnt from."
    ]
    tables = [
        plain_table(models_table(predictor), width),
        plain_table(thresholds_table(predictor), width),
    ]
    return _joined([predictor_headline(predictor)], how, tables, predictor.cautions)


def main_score(found: CommitEvaluation) -> Score:
    """The score that counts: chronological by the chosen model, or the last of those asked for."""
    ranked = [score for score in found.scores if score.design == "chronological"]
    return (ranked or list(found.scores))[-1]


def evaluation_headline(found: CommitEvaluation) -> str:
    """The rates of the score that counts."""
    if not found.scores:
        return "No design asked for can be evaluated on this table"
    score = main_score(found)
    rates = score.rates.all
    return (
        f"{score.design}, {score.model}: hit rate {bounds(rates.hit_rate)}, dismiss rate "
        f"{bounds(rates.dismiss_rate)}"
    )


def evaluation_sentences(found: CommitEvaluation) -> list[str]:
    """What was predicted, and what was saved."""
    table = found.table
    names = len(set(zip(table.projects, table.benchmarks, strict=True)))
    lines = [
        f"{len(table)} pairs of {names} benchmarks, {int(table.hits.sum())} of them changes. "
        "Rates with Wilson's bounds at 95 % are over all pairs (micro); macro averages are means "
        "over benchmarks."
    ]
    if found.scores and main_score(found).rates.total_s > 0:
        rates = main_score(found).rates
        lines.append(f"Saved {rates.saved_s:.4g} of {rates.total_s:.4g} s of benchmarks.")
    return lines


def evaluation_text(found: CommitEvaluation, width: int | None) -> str:
    """The text of ``evaluate``."""
    table = plain_table(scores_table(found), width)
    head = [evaluation_headline(found)]
    return _joined(head, evaluation_sentences(found), [table], found.cautions)


def _joined(
    head: list[str], sentences: list[str], tables: list[list[str]], cautions: Iterable[Caution]
) -> str:
    warnings = [f"warning: {caution_text(caution.message)}" for caution in cautions]
    parts = [head, [one_line(line) for line in sentences], *tables, warnings]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"
