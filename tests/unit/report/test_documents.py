import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource

from steelyard.core.errors import MissingCapabilityError, UnknownNameError, UsageError
from steelyard.core.experiment_results import Caution
from steelyard.report.documents.schemas import schema, schema_kinds
from steelyard.report.kinds.comparison.document import comparison_document
from steelyard.report.kinds.comparison.measurement_document import measurement_document
from steelyard.report.kinds.error.document import error_document


def validator(kind):
    shared = Registry().with_resource(
        "definitions.json", Resource.from_contents(schema("definitions"))
    )
    return Draft202012Validator(schema(kind), registry=shared)


def checked(document):
    json.dumps(document, allow_nan=False).encode("utf-8", "strict")
    validator(document["kind"]).validate(document)
    return document


@pytest.mark.parametrize("kind", schema_kinds())
def test_every_schema_is_a_schema(kind):
    Draft202012Validator.check_schema(schema(kind))


def test_an_unknown_schema_lists_those_that_there_are():
    with pytest.raises(UnknownNameError, match="comparison"):
        schema("nonsense")


@pytest.mark.parametrize("verdict", ["faster", "slower", "equivalent", "undecided"])
def test_a_comparison_keeps_its_schema(samples, verdict):
    answer = samples.two(verdict)
    document = checked(comparison_document(answer, samples.experiment(answer)))
    assert document["comparisons"][0]["verdict"] == verdict
    assert document["comparisons"][0]["margin"] == 0.01


def test_comparisons_hold_one_of_each_candidate_on_the_primary_metric(samples):
    answer = samples.five()
    document = checked(comparison_document(answer, samples.experiment(answer)))
    assert [c["candidate"] for c in document["comparisons"]] == ["B", "C", "D", "E"]
    assert {c["metric"] for c in document["comparisons"]} == {"wall_time"}
    assert {c["metric"] for c in document["other_comparisons"]} == {"max_rss"}


def test_an_estimate_has_the_five_fields_of_the_contract(samples):
    answer = samples.two()
    document = comparison_document(answer, samples.experiment(answer))
    assert document["comparisons"][0]["ratio"] == {
        "estimate": 0.945,
        "low": 0.92,
        "high": 0.97,
        "confidence": 0.95,
        "method": "fieller-blocks",
    }
    assert set(document["variants"][0]["mean"]) == {
        "estimate", "low", "high", "confidence", "method",
    }  # fmt: skip


def test_an_unbounded_ratio_has_null_bounds_and_its_reason(samples):
    unbounded = samples.comparison("undecided", samples.unbounded())
    answer = replace(samples.two(), comparisons=(unbounded,))
    document = checked(comparison_document(answer, samples.experiment(answer)))
    ratio = document["comparisons"][0]["ratio"]
    assert (ratio["low"], ratio["high"], ratio["unbounded"]) == (None, None, "baseline-near-zero")


@pytest.mark.parametrize("count", [0, 1, 2, 31])
def test_a_measurement_keeps_its_schema_at_any_count(samples, count):
    answer = samples.one(count)
    document = checked(measurement_document(answer, samples.experiment(answer)))
    metric = document["variants"][0]["metrics"]["max_rss"]
    assert metric["available"] == (count > 0)
    assert (metric["median"] is None) == (count == 0)
    assert "comparisons" not in document


def test_numbers_that_json_lacks_become_null(samples):
    answer = samples.one()
    result = answer.variants[0].metrics["wall_time"]
    broken = replace(result, summary=replace(result.summary, variation=float("nan")))
    variant = replace(answer.variants[0], metrics={"wall_time": broken})
    answer = replace(answer, variants=(variant,))
    document = checked(measurement_document(answer, samples.experiment(answer)))
    assert document["variants"][0]["metrics"]["wall_time"]["variation"] is None


def test_names_that_are_not_utf8_are_replaced(samples):
    answer = replace(samples.two(), comparisons=(), variants=(samples.variant("a\udcffb"),))
    document = checked(comparison_document(answer, samples.experiment(answer)))
    assert document["variants"][0]["name"] == "a\ufffdb"


def test_warnings_are_codes_with_messages(samples):
    answer = replace(samples.two(), cautions=(Caution("few-blocks", "Run more."),))
    document = checked(comparison_document(answer, samples.experiment(answer)))
    assert document["warnings"] == [{"code": "few-blocks", "message": "Run more."}]


def test_a_field_too_much_is_refused(samples):
    answer = samples.two()
    document = comparison_document(answer, samples.experiment(answer))
    document["variants"][0]["mean"]["half_width"] = 1.0
    with pytest.raises(ValidationError):
        validator("comparison").validate(document)


@pytest.mark.parametrize(
    "error",
    [UsageError("Wrong.", field="--runs"), MissingCapabilityError("No \udcff.")],
)
def test_an_error_keeps_its_schema(error):
    document = checked(error_document(error))
    assert document["code"] == error.code
    assert document["field"] == error.field
