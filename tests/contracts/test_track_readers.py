"""What every reader of values along revisions keeps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.core.errors import DataError
from steelyard.harness.adapter import HEAD_CHARACTERS, Source
from steelyard.harness.track_reader import read_track_file, recognised_reader
from steelyard.harness.track_readers import TRACK_READERS

DATA = Path(__file__).parent.parent / "data" / "track_readers"
SAMPLES = {
    "asv.json": "asv",
    "asv-1.json": "asv",
    "bencher.bmf.json": "bencher",
    "go.txt": "benchfmt",
    "data.js": "github-action-benchmark",
    "custom.json": "github-action-benchmark",
    "lnt-1.json": "lnt",
    "lnt-2.json": "lnt",
    "otava.csv": "otava-csv",
    "plain.csv": "csv",
}
ALL = list(TRACK_READERS)

every_reader = pytest.mark.parametrize("reader", ALL, ids=lambda reader: reader.name)
every_sample = pytest.mark.parametrize("sample", SAMPLES)


def source_of(sample: str) -> Source:
    return Source((DATA / sample).read_text("utf-8"), f"out/{sample}")


def _read_or_told(reader, source) -> str:
    """What the error says; ``read`` where there is none."""
    try:
        assert read_track_file(reader, source).rows
    except DataError as error:
        return error.message
    return "read"


@every_reader
def test_it_says_what_it_is(reader) -> None:
    assert re.fullmatch(r"[a-z][a-z-]*", reader.name)
    assert reader.tool
    assert reader.description.endswith(".")


def test_every_reader_has_a_sample() -> None:
    assert {reader.name for reader in ALL} == set(SAMPLES.values())


@every_sample
def test_a_sample_gives_values_that_can_be_kept(sample) -> None:
    found = read_track_file(TRACK_READERS.get(SAMPLES[sample]), source_of(sample))
    assert found.rows
    for row in found.rows:
        assert row.benchmark
        assert type(row.value) is float
        assert row.direction in ("lower", "higher")
        assert (row.low is None) == (row.high is None)
        assert row.trial_count >= len(row.observations) or not row.observations
    units = {(row.benchmark, row.metric, row.unit, row.direction) for row in found.rows}
    assert len(units) == len({key[:2] for key in units})


@every_sample
def test_a_sample_is_recognised_by_its_reader_alone(sample) -> None:
    head = source_of(sample).text[:HEAD_CHARACTERS]
    assert [reader.name for reader in ALL if reader.recognises(head)] == [SAMPLES[sample]]
    found = recognised_reader(head, TRACK_READERS)
    assert found is not None
    assert found.name == SAMPLES[sample]


@every_reader
@pytest.mark.parametrize(
    "text",
    [
        *("", "\n \n", "hello world\n", "\x00\ufffd\ufffe" * 9, "{}", "[]", "null", "{" * 100_000),
        *("[[", '{"a": 1}', "time,value\n", "a,b\n1,2\n", "x" * 200_000, '"' + "x" * 200_000),
    ],
    ids=range(14),
)
def test_what_is_no_file_of_the_tool_is_one_clear_error(reader, text) -> None:
    with pytest.raises(DataError, match=r"^out/file") as caught:
        read_track_file(reader, Source(text, "out/file"))
    assert "\n" not in caught.value.message
    assert caught.value.field


@every_reader
@every_sample
def test_another_tools_file_is_refused_or_read_as_values(reader, sample) -> None:
    told = _read_or_told(reader, source_of(sample))
    assert told.startswith(f"out/{sample}") or told == "read"


@every_sample
@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.98])
def test_a_file_that_was_cut_off_is_refused_or_gives_what_is_whole(sample, keep) -> None:
    whole, reader = source_of(sample), TRACK_READERS.get(SAMPLES[sample])
    cut = Source(whole.text[: int(len(whole.text) * keep)], whole.name)
    if sample.endswith((".json", ".js")):
        with pytest.raises(DataError, match=f"^{whole.name}"):
            read_track_file(reader, cut)
        return
    assert _read_or_told(reader, cut).startswith((whole.name, "read"))


@pytest.mark.parametrize("wrong", ["NaN", "Infinity", "true", '"fast"', "1e999", "9" * 400])
@pytest.mark.parametrize(
    ("sample", "number"),
    [
        ("bencher.bmf.json", "88.0"),
        ("data.js", "135"),
        ("custom.json", "1500000.0"),
        ("lnt-1.json", "2.5"),
        ("plain.csv", "12.5"),
        ("otava.csv", "143112"),
    ],
)
def test_a_value_that_is_no_finite_number_is_named(sample, number, wrong) -> None:
    source, reader = source_of(sample), TRACK_READERS.get(SAMPLES[sample])
    assert number in source.text
    text = source.text.replace(number, wrong.strip('"') if sample.endswith(".csv") else wrong, 1)
    with pytest.raises(DataError) as caught:
        read_track_file(reader, Source(text, source.name))
    assert caught.value.message.startswith(source.name)
    assert "\n" not in caught.value.message
