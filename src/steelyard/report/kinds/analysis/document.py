"""The `analysis` document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from steelyard.analysis.facets.facet_figure import FacetFigure
from steelyard.analysis.tables.figure_values import (
    Figure,
    HistogramFigure,
    InteractionFigure,
    MainEffectsFigure,
    MapFigure,
    QuantileFigure,
    ResidualFigure,
    ViolinFigure,
)
from steelyard.analysis.tables.table_analysis import Analysis, Effect, FactorCoding, LevelMean
from steelyard.report.documents.rendering import Origin
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value

FIGURE_KINDS: dict[type, str] = {
    ResidualFigure: "residuals",
    QuantileFigure: "quantiles",
    ViolinFigure: "violins",
    HistogramFigure: "histogram",
    MapFigure: "map",
    MainEffectsFigure: "main-effects",
    InteractionFigure: "interactions",
    FacetFigure: "facets",
}


def _effect_object(effect: Effect) -> dict[str, Any]:
    return {
        "term": effect.term,
        "measure": effect.measure,
        "unit": effect.unit,
        "quantile": effect.quantile,
        "effect": effect.effect.as_json(),
        "sum_squares": effect.sum_squares,
        "degrees": effect.degrees,
        "p": effect.p,
        "adjusted_p": effect.adjusted_p,
        "aliases": list(effect.aliases),
        "power": effect.power,
        "detectable": effect.detectable,
        "change": None if effect.change is None else effect.change.as_json(),
    }


def _coding_object(coding: FactorCoding) -> dict[str, Any]:
    levels = [{"level": one.level, "codes": dict(one.codes)} for one in coding.levels]
    return {"factor": coding.factor, "levels": levels}


def _level_mean_object(mean: LevelMean) -> dict[str, Any]:
    return {
        "term": mean.term,
        "levels": list(mean.levels),
        "mean": mean.mean.as_json(),
        "row_mean": mean.row_mean,
        "count": mean.count,
    }


def _figure_object(figure: Figure) -> dict[str, Any]:
    return {"figure": FIGURE_KINDS[type(figure)], **asdict(figure)}


def analysis_document(found: Analysis, origin: Origin) -> dict[str, Any]:
    """The document of kind ``analysis``, as its schema says.

    Parameters
    ----------
    found : Analysis
    origin : Origin
        The file or the experiment that it is of.
    """
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "analysis",
            "method": found.method,
            "file": origin.file,
            "experiment": origin.experiment,
            "variant": origin.variant,
            "response": found.response,
            "unit": found.unit,
            "count": found.count,
            "effects": [_effect_object(effect) for effect in found.effects],
            "codings": [_coding_object(coding) for coding in found.codings],
            "level_means": [_level_mean_object(mean) for mean in found.level_means],
            "sources": [asdict(source) for source in found.sources],
            "r_squared": found.r_squared,
            "tests": [asdict(test) for test in found.tests],
            "assumptions": [asdict(assumption) for assumption in found.assumptions],
            "conclusion": list(found.conclusion),
            "facts": dict(found.facts),
            "figures": [_figure_object(figure) for figure in found.figures],
            "warnings": [caution.as_json() for caution in found.cautions],
        }
    )
