"""What every analysis by name keeps, and every rendering of a kind of result."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.core.errors import SteelyardError
from steelyard.core.experiment_results import Caution
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.documents.rendering import Origin
from steelyard.report.documents.schemas import schema
from steelyard.report.kinds import RENDERINGS

# What most methods can be asked, and those that take more.
QUESTION = Question(response="time", factors=("compiler",), quantiles=(0.5,))
QUESTIONS = {
    "cause": replace(QUESTION, factors=("program", "compiler")),
    "map": replace(QUESTION, factors=("compiler", "program")),
    "mixed": replace(QUESTION, extra={"levels": "build,execution"}),
}
every_analysis = pytest.mark.parametrize("method", list(ANALYSES), ids=lambda method: method.name)


def levels_table():
    generator = np.random.default_rng(1)
    columns = {
        "execution": np.repeat([0.0, 1.0, 2.0], 60),
        "iteration": np.tile(np.arange(60.0), 3),
        "value": generator.normal(0.01, 0.0002, 180),
    }
    return Table("levels.csv", columns, range(2, 182))


def trials_table():
    generator = np.random.default_rng(2)
    order = np.arange(80)
    columns = {
        "program": ("sort", "sum") * 40,
        "setup": tuple("abcde"[number % 5] for number in order // 4),
        "compiler": ("gcc", "gcc", "clang", "clang") * 20,
        "build": (order // 8).astype(float),
        "execution": (order // 4).astype(float),
        "block": (order // 4).astype(float),
        "time": generator.normal(1.0, 0.02, 80) + 0.1 * (order % 2) + 0.02 * (order // 4 % 5),
    }
    return Table("trials.csv", columns, range(2, 82))


def table_for(method):
    return levels_table() if method.reads == "levels" else trials_table()


def question_for(method):
    return QUESTIONS.get(method.name, QUESTION)


def foreign_table():
    return Table("other.csv", {"Benchmark": ("a", "b"), "Score": np.ones(2)}, (2, 3))


@every_analysis
def test_it_says_what_it_is(method) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9-]*", method.name)
    assert method.description.endswith(".")
    assert method.reads in ("levels", "trials")
    assert set(method.needs) <= {"response", "factors", "quantiles"}
    assert all(text.endswith(".") for text in method.options.values())


@every_analysis
def test_its_result_is_shown_by_the_rendering_of_its_kind(method) -> None:
    result = method.analyze(table_for(method), question_for(method))
    assert all(isinstance(caution, Caution) for caution in result.cautions)
    rendering = RENDERINGS.get(result.kind)
    origin = Origin(method.name, MetricSpec("time", "s"), file="data.csv")
    document = json.loads(json.dumps(rendering.document(result, origin), allow_nan=False))
    shared = Registry().with_resource(
        "definitions.json", Resource.from_contents(schema("definitions"))
    )
    Draft202012Validator(schema(result.kind), registry=shared).validate(document)
    assert rendering.text(result, origin, None).endswith("\n")


@every_analysis
def test_the_same_question_has_the_same_answer(method) -> None:
    rendering = RENDERINGS.get(method.analyze(table_for(method), question_for(method)).kind)
    origin = Origin(method.name, MetricSpec("time", "s"), file="data.csv")
    documents = [
        rendering.document(method.analyze(table_for(method), question_for(method)), origin)
        for _ in range(2)
    ]
    assert documents[0] == documents[1]


@every_analysis
def test_a_table_of_something_else_is_one_clear_error(method) -> None:
    with pytest.raises(SteelyardError) as caught:
        method.analyze(foreign_table(), question_for(method))
    assert "other.csv" in caught.value.message
    assert caught.value.field


def test_every_rendering_has_a_schema_of_its_kind() -> None:
    for rendering in RENDERINGS:
        assert schema(rendering.name)["properties"]["kind"] == {"const": rendering.name}
