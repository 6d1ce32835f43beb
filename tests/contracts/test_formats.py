"""What every file format keeps."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.repetition import RepetitionLevel
from steelyard.store.file_format import detect_format
from steelyard.store.formats import FORMATS
from tests.experiments import failed_trial, make_experiment, make_trial

ALL = list(FORMATS)
WRITTEN = [chosen for chosen in ALL if chosen.write]
READ = [chosen for chosen in ALL if chosen.read]
BOTH = [chosen for chosen in WRITTEN if chosen.read]
READ_BY_ANOTHER = {"hyperfine-2"}


def _named(formats):
    return pytest.mark.parametrize("chosen", formats, ids=lambda chosen: chosen.name)


def _wall_times(experiment):
    return [
        [
            value
            for trial in experiment.trials
            if trial.variant == index and trial.status == "ok" and not trial.warmup
            for value in trial.measurements.get("wall_time", ())
        ]
        for index in range(len(experiment.spec.variants))
    ]


def _mixed_experiment():
    trials = (
        make_trial(-1, variant=0, block=0, warmup=True),
        make_trial(0),
        failed_trial(1),
        make_trial(2, measurements={"wall_time": (1 / 3,)}),
        make_trial(3),
    )
    return make_experiment(trials=trials)


@_named(ALL)
def test_a_format_says_what_it_is(chosen):
    assert chosen.description.endswith(".")
    assert chosen.read or chosen.write
    assert all(suffix.startswith(".") for suffix in chosen.suffixes)


@_named(BOTH)
def test_the_times_come_back_exactly(chosen, tmp_path):
    path, experiment = str(tmp_path / "file"), _mixed_experiment()
    chosen.write(experiment, path)
    again = chosen.read(path)
    assert _wall_times(again) == _wall_times(experiment)
    names = [variant.name for variant in experiment.spec.variants]
    assert [variant.name for variant in again.spec.variants] == names


@_named(WRITTEN)
def test_what_is_written_is_found_again_by_its_content(chosen, tmp_path):
    path = str(tmp_path / "file")
    chosen.write(_mixed_experiment(), path)
    if chosen.read is None and chosen.name not in READ_BY_ANOTHER:
        with pytest.raises(DataError, match="looks like none of the formats"):
            detect_format(path, FORMATS)
        return
    found = detect_format(path, FORMATS)
    assert found is chosen or chosen.read is None
    assert found.read(path).trials


@_named(WRITTEN)
def test_nothing_but_the_file_is_left_behind(chosen, tmp_path):
    chosen.write(_mixed_experiment(), str(tmp_path / "file"))
    assert os.listdir(tmp_path) == ["file"]


@_named(WRITTEN)
def test_a_file_that_cannot_be_written_is_named(chosen, tmp_path):
    path = str(tmp_path / "absent" / "file")
    with pytest.raises(DataError, match="absent/file cannot be written: No such file"):
        chosen.write(_mixed_experiment(), path)


@_named(WRITTEN)
def test_a_failed_export_leaves_the_former_file(chosen, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("former")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(DataError, match="No space left"):
        chosen.write(_mixed_experiment(), str(path))
    assert os.listdir(tmp_path) == ["file"]
    assert path.read_text() == "former"


@_named(WRITTEN)
@pytest.mark.parametrize("provenance", [{}, {"host": None}, {"host": 7}])
def test_odd_names_and_an_unknown_machine_are_written(chosen, tmp_path, provenance):
    spec = make_experiment().spec
    names = ("\ud800 of no encoding", '<b> "|`&, \U0001f40c')
    variants = [replace(v, name=name) for v, name in zip(spec.variants, names, strict=True)]
    metrics = (*spec.metrics, MetricSpec("\udcff of no encoding", "s"))
    spec = replace(spec, variants=tuple(variants), metrics=metrics)
    measurements = {metric.name: (1.0,) for metric in metrics}
    trials = tuple(make_trial(position, measurements=measurements) for position in range(4))
    experiment = make_experiment(spec=spec, trials=trials, provenance=provenance)
    chosen.write(experiment, str(tmp_path / "file"))
    assert b"no encoding" in (tmp_path / "file").read_bytes().replace(b"_", b" ")


SINGLE_EXECUTIONS = {
    "asv",
    "benchfmt",
    "google-benchmark",
    "hyperfine",
    "hyperfine-2",
    "pyperf",
}


@_named(WRITTEN)
@pytest.mark.parametrize("imported", [False, True])
def test_a_format_of_single_executions_says_that_builds_are_left_out(chosen, tmp_path, imported):
    levels = (RepetitionLevel("build"), RepetitionLevel("execution", 2))
    spec = replace(make_experiment().spec, levels=() if imported else levels)
    trials = tuple(make_trial(position, build=position // 4) for position in range(8))
    cautions = chosen.write(make_experiment(spec=spec, trials=trials), str(tmp_path / "file"))
    told = [caution.message for caution in cautions if caution.code == "levels-left-out"]
    assert [("(build)" in message) for message in told] == [True] * (
        chosen.name in SINGLE_EXECUTIONS
    )


@_named(READ)
@pytest.mark.parametrize(
    "content",
    [b"", b"\n \n", b"hello world\n", b"\x00\xff\xfe" * 50, b"{}", b"[]", b"null", b"{" * 100_000],
    ids=["empty", "blank", "text", "binary", "object", "list", "null", "deep"],
)
def test_other_content_is_refused_with_the_name_of_the_file(chosen, tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DataError, match=str(path)) as caught:
        chosen.read(str(path))
    assert caught.value.field


@_named(READ)
def test_a_missing_file_is_named(chosen, tmp_path):
    with pytest.raises(DataError, match=r"absent cannot be read: No such file"):
        chosen.read(str(tmp_path / "absent"))


@_named(BOTH)
@pytest.mark.parametrize("keep", [0.3, 0.7, 0.99])
def test_a_file_that_was_cut_off_is_refused(chosen, tmp_path, keep):
    path = tmp_path / "file"
    chosen.write(_mixed_experiment(), str(path))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(DataError, match=str(path)):
        chosen.read(str(path))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("position", 2**63),
        ("block", -(2**70)),
        ("build", 2**64),
        ("started_unix_s", 1.8e18),
        ("started_unix_s", -1),
        ("spent_s", float("nan")),
        ("spent_s", -1),
    ],
)
def test_a_number_out_of_range_in_steelyards_own_format_is_named(name, value, tmp_path):
    chosen, path = FORMATS.get("steelyard-json"), tmp_path / "file"
    chosen.write(make_experiment(), str(path))
    document = json.loads(path.read_text())
    document["trials"][1][name] = value
    path.write_text(json.dumps(document))
    with pytest.raises(DataError) as caught:
        chosen.read(str(path))
    assert caught.value.message.startswith(f"{path}: trials[1].{name} must be ")


def test_steelyards_own_format_loses_nothing(tmp_path):
    chosen, path = FORMATS.get("steelyard-json"), str(tmp_path / "file")
    experiment = replace(_mixed_experiment(), provenance={"host": {"cpus": [1, 2]}, "x": None})
    assert chosen.write(experiment, path) == ()
    assert chosen.read(path) == experiment
