"""The journal: what is read is what was committed, and nothing that is damaged passes."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.core.errors import BusyError, DataError, StoreError
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.measure.journal_reader import read_journal
from steelyard.measure.trial_journal import JournalWriter, trial_from_record

PRINTED = MetricSpec("score", "points", source="regex", pattern="(.*)")
SPEC = ExperimentSpec(
    "01HZX000000000000000000000",
    "measurement",
    (Variant("a", LaunchSpec(("a", os.fsdecode(b"\xff")))),),
    (MetricSpec("wall_time", "s"), MetricSpec("cycles", "count", source="counter")),
    seed=7,
)


def record(position: int, **changes: Any) -> dict[str, Any]:
    return {
        "trial": position,
        "block": position,
        "variant": 0,
        "build": 0,
        "warmup": False,
        "status": "ok",
        "reason": None,
        "exit_code": 0,
        "signal": None,
        "started_unix_ns": 1_700_000_000_500_000_000,
        "wall_ns": 2_000_000,
        "spent_ns": 3_000_000,
        "rusage": {"user_us": 1},
        "counters": {"cycles": None},
        "output": None,
        "stderr_tail": "",
        "leftover_processes": 0,
        "realised": {"nice": 5},
        **changes,
    }


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "journals" / "one.jsonl")


def write(path: str, *lines: dict[str, Any], spec: ExperimentSpec = SPEC) -> None:
    with JournalWriter(path, spec, {"kernel": "6.1"}, 100.5) as journal:
        for line in lines:
            journal.append(line)


def positions(path: str) -> list[int]:
    return [trial.position for trial in read_journal(path).trials]


def test_an_experiment_comes_back_with_its_trials(path: str) -> None:
    write(path, record(0), record(1, warmup=True), {"stopped": "precision"})
    experiment = read_journal(path)
    assert experiment.spec == SPEC
    assert experiment.provenance == {"kernel": "6.1"}
    assert (experiment.created_unix_s, experiment.stopped) == (100.5, "precision")
    first, second = experiment.trials
    assert (first.started_unix_s, first.spent_s) == (1_700_000_000.5, 0.003)
    assert first.measurements == {"wall_time": (0.002,)}
    assert first.realised == {"nice": 5}
    assert (first.warmup, second.warmup) == (False, True)


def test_a_journal_that_was_removed_meanwhile_is_told_of(path: str) -> None:
    with JournalWriter(path, SPEC, {}) as journal:
        os.unlink(path)
        with pytest.raises(StoreError, match="was removed"):
            journal.sync()


def test_a_torn_last_line_is_dropped(path: str) -> None:
    write(path, record(0), record(1))
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[:-20])
    assert positions(path) == [0]


def test_a_last_line_without_its_end_is_dropped_though_it_is_json(path: str) -> None:
    write(path, record(0), record(1))
    Path(path).write_bytes(Path(path).read_bytes()[:-1])
    assert positions(path) == [0]


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(path: str) -> None:
    write(path, record(0), record(1))
    lines = Path(path).read_bytes().split(b"\n")
    lines[1] = b'{"trial": \xff'
    Path(path).write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match="damaged at line 2"):
        read_journal(path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no whole first line"),
        (b'{"journal": 1', "no whole first line"),
        (b"[]\n", "line 1: it is not an object"),
        (b"{}\n", "its version is None"),
        (b'{"journal": 2}\n', "its version is 2, not 1"),
        (b'{"journal": 1}\n', "lacks 'created_unix_s'"),
    ],
)
def test_what_is_no_journal_is_told_apart(path: str, content: bytes, why: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(content)
    with pytest.raises(DataError, match=why):
        read_journal(path)


def test_a_journal_that_is_not_there_is_an_error(path: str) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_journal(path)


def test_a_journal_is_gone_on_with(path: str) -> None:
    write(path, record(0), {"stopped": "interrupted"})
    with open(path, "ab") as file:
        file.write(b'{"trial": 1, "blo')
    changed = replace(SPEC, confidence=0.99)
    write(path, record(2), spec=changed)
    experiment = read_journal(path)
    assert positions(path) == [0, 2]
    assert (experiment.spec, experiment.stopped) == (changed, None)
    assert experiment.provenance["resumed"] == [{"unix_s": 100.5, "kernel": "6.1"}]


def test_a_trial_that_is_there_twice_counts_once_as_it_was_first(path: str) -> None:
    write(path, record(0), record(0, wall_ns=9))
    (trial,) = read_journal(path).trials
    assert trial.measurements["wall_time"] == (0.002,)


def test_values_that_were_printed_join_their_trial(path: str) -> None:
    spec = replace(SPEC, metrics=(PRINTED,))
    write(path, record(0), record(1), {"printed": 0, "values": {"score": [1.5, 2]}}, spec=spec)
    first, second = read_journal(path).trials
    assert (first.status, first.measurements["score"]) == ("ok", (1.5, 2))
    assert (second.status, second.reason) == ("failed", "metric")
    assert "no value for score" in second.details["error"]


def test_output_not_yet_read_when_steelyard_was_killed_is_read_late(
    path: str, tmp_path: Path
) -> None:
    output = tmp_path / "0.out"
    output.write_text("42\n")
    write(path, record(0, output=str(output)), spec=replace(SPEC, metrics=(PRINTED,)))
    (trial,) = read_journal(path).trials
    assert trial.measurements["score"] == (42.0,)


def test_a_failed_trial_keeps_why() -> None:
    failed = record(
        3, status="failed", reason="exit", exit_code=2, stderr_tail="no\n", leftover_processes=1
    )
    trial = trial_from_record(failed, SPEC.metrics)
    assert (trial.status, trial.reason) == ("failed", "exit")
    assert trial.details == {"exit_code": 2, "stderr_tail": "no\n", "leftover_processes": 1}


def test_a_trial_that_was_not_run_has_no_measurements() -> None:
    unrun = record(0, status="failed", reason="spawn", wall_ns=None, rusage=None, counters=None)
    assert trial_from_record(unrun, SPEC.metrics).measurements == {}


def test_a_journal_has_one_writer(path: str) -> None:
    with (
        JournalWriter(path, SPEC, {}),
        pytest.raises(BusyError, match="Another process"),
    ):
        JournalWriter(path, SPEC, {})
    JournalWriter(path, SPEC, {}).close()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="--store"):
        JournalWriter(str(tmp_path / "file" / "journal"), SPEC, {})


@settings(max_examples=200, deadline=None, database=None)
@given(cut=st.integers(min_value=0, max_value=4000))
def test_wherever_a_journal_is_cut_its_whole_trials_are_read(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.jsonl"
    whole = path.with_suffix(".whole")
    if not whole.exists():
        write(str(whole), *(record(position) for position in range(5)))
    data = whole.read_bytes()[:cut]
    path.write_bytes(data)
    ends = data.count(b"\n")
    if ends == 0:
        with pytest.raises(DataError):
            read_journal(str(path))
    else:
        assert positions(str(path)) == list(range(ends - 1))


@settings(max_examples=200, deadline=None, database=None)
@given(garbage=st.binary(max_size=200), line=st.integers(min_value=0, max_value=4))
def test_whatever_a_damaged_line_holds_is_a_data_error_or_left_out(
    garbage: bytes, line: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    whole = path.with_suffix(".whole")
    if not whole.exists():
        write(str(whole), *(record(position) for position in range(3)))
    lines = whole.read_bytes().split(b"\n")
    lines[line] = garbage
    path.write_bytes(b"\n".join(lines))
    with suppress(DataError):
        assert len(read_journal(str(path)).trials) <= 3


@settings(max_examples=100, deadline=None, database=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=5,
    ),
    name=st.sampled_from(sorted(record(0))),
)
def test_whatever_a_field_of_a_record_holds_is_a_data_error_or_a_trial(
    value: Any, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "field.jsonl"
    path.unlink(missing_ok=True)
    write(str(path), record(0), record(1, **{name: value}))
    with suppress(DataError):
        assert read_journal(str(path)).trials[0].position == 0


def test_a_journal_line_is_plain_json_whatever_the_names_hold(path: str) -> None:
    odd = "\udcff \u2028 \n é \x00"
    write(path, record(0, output=odd, stderr_tail=odd))
    lines = [json.loads(line) for line in Path(path).read_text("ascii").splitlines()]
    assert lines[-1]["output"] == lines[-1]["stderr_tail"] == odd
    assert json.dumps(os.fsdecode(b"\xff")) in json.dumps(lines[0])
