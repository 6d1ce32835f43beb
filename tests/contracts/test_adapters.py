"""What every iteration adapter keeps."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from steelyard.core.errors import DataError
from steelyard.harness.adapter import HEAD_CHARACTERS, Source, read_series, recognised
from steelyard.harness.adapters import ADAPTERS

DATA = Path(__file__).parent.parent / "data" / "adapters"
REPORT = "criterion/Fibonacci/Recursive/5/new"
SAMPLES = {
    "google-benchmark.json": "google-benchmark",
    "jmh.json": "jmh",
    "pyperf.json": "pyperf",
    "dacapo.txt": "dacapo",
    "dacapo-2006.txt": "dacapo",
    "renaissance.json": "renaissance",
    "renaissance.csv": "renaissance",
    f"{REPORT}/raw.csv": "criterion",
    f"{REPORT}/sample.json": "criterion",
    "lines.jsonl": "json-lines",
    "benchfmt.txt": "benchfmt",
    "benchmarkdotnet.json": "benchmarkdotnet",
    "catch2.xml": "catch2",
    "divan.txt": "divan",
    "k6.jsonl": "k6",
    "nanobench.json": "nanobench",
    "pytest-benchmark.json": "pytest-benchmark",
    "rebench.txt": "rebench",
    "tinybench.json": "tinybench",
    "vitest.json": "vitest",
}
ALL = list(ADAPTERS)
PATTERN = r"took ([\d.]+) ms:ms"

every_adapter = pytest.mark.parametrize("adapter", ALL, ids=lambda adapter: adapter.name)
every_sample = pytest.mark.parametrize("sample", SAMPLES)


def source_of(sample: str) -> Source:
    return Source((DATA / sample).read_text("utf-8"), f"out/{sample}")


@every_adapter
def test_it_says_what_it_is(adapter) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9-]*", adapter.name)
    assert adapter.harness
    assert adapter.description.endswith(".")
    assert adapter.metrics
    assert all(metric.name and metric.unit for metric in adapter.metrics)


def test_every_adapter_for_a_harness_has_a_sample() -> None:
    built_in = {adapter.name for adapter in ALL if not adapter.takes_pattern}
    assert built_in == set(SAMPLES.values())


@every_sample
def test_a_sample_gives_finite_iterations(sample) -> None:
    adapter = ADAPTERS.get(SAMPLES[sample])
    series = read_series(adapter, source_of(sample), ADAPTERS)
    assert series
    for item in series:
        assert all(type(value) is float and math.isfinite(value) for value in item.values)
        assert item.values or item.error
        assert 0 <= item.warmup_count <= len(item.values)
        assert item.metric
        assert item.unit
    assert {item.metric for item in series} & {metric.name for metric in adapter.metrics}


@every_sample
def test_a_sample_is_recognised_by_its_adapter_alone(sample) -> None:
    head = source_of(sample).text[:HEAD_CHARACTERS]
    found = [adapter.name for adapter in ALL if adapter.recognises(head)]
    assert found == [SAMPLES[sample]]


@pytest.mark.parametrize(
    ("adapter", "sample"),
    [
        pytest.param(adapter, sample, id=f"{adapter.name}-{sample}")
        for adapter in ALL
        for sample in SAMPLES
        if SAMPLES[sample] != adapter.name
    ],
)
def test_another_tools_output_is_refused_and_named(adapter, sample) -> None:
    source = source_of(sample)
    wrong = Source(source.text, source.name, PATTERN)
    with pytest.raises(DataError) as caught:
        read_series(adapter, wrong, ADAPTERS)
    assert source.name in caught.value.message
    assert f"try the adapter {SAMPLES[sample]!r}" in caught.value.message
    assert caught.value.field


@every_adapter
@pytest.mark.parametrize(
    "text",
    ["", "\n \n", "hello world\n", "\x00\ufffd\ufffe" * 9, "{}", "[]", "null", "{" * 100_000, "[["],
    ids=["empty", "blank", "words", "binary", "object", "list", "null", "deep", "open"],
)
def test_what_is_no_output_of_a_harness_is_one_clear_error(adapter, text) -> None:
    with pytest.raises(DataError, match=r"^out/file") as caught:
        read_series(adapter, Source(text, "out/file", PATTERN), ADAPTERS)
    assert caught.value.field


@every_sample
@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.98])
def test_an_output_that_was_cut_off_is_refused_or_gives_what_is_whole(sample, keep) -> None:
    whole, adapter = source_of(sample), ADAPTERS.get(SAMPLES[sample])
    cut = Source(whole.text[: int(len(whole.text) * keep)], whole.name)
    if sample.endswith((".json", ".csv")):
        with pytest.raises(DataError, match=f"^{whole.name}"):
            read_series(adapter, cut, ADAPTERS)
        return
    try:
        series = read_series(adapter, cut, ADAPTERS)
    except DataError:
        return
    known = {
        (s.benchmark, s.metric, s.execution): s.values
        for s in read_series(adapter, whole, ADAPTERS)
    }
    for item in series:
        values = known[item.benchmark, item.metric, item.execution]
        assert item.values[:-1] == values[: len(item.values) - 1]


@pytest.mark.parametrize(
    "sample", [sample for sample in SAMPLES if sample.endswith((".json", ".jsonl"))]
)
@pytest.mark.parametrize("wrong", ["NaN", "Infinity", "true", '"fast"'])
def test_a_value_that_is_no_finite_number_is_named(sample, wrong) -> None:
    source, adapter = source_of(sample), ADAPTERS.get(SAMPLES[sample])
    keys = r'("real_time": |"duration_ns": |"values": \[\s*|"rawData" : \[\s*\[\s*|"times":\[|'
    keys += r'"data": \[\s*|"elapsed": |"samples":\s?\[\s*|"Nanoseconds": |'
    keys += r'"mean": |' if sample == "vitest.json" else ""
    number = re.compile(keys + r'"value":\s?)[-+.\deE]+')
    text, count = number.subn(lambda match: match[1] + wrong, source.text, count=1)
    assert count == 1
    with pytest.raises(DataError) as caught:
        read_series(adapter, Source(text, source.name), ADAPTERS)
    assert source.name in caught.value.message
    assert "must be a finite number" in caught.value.message
    assert caught.value.field


def test_what_no_harness_writes_is_recognised_as_none() -> None:
    assert recognised("hello", ADAPTERS) is None
