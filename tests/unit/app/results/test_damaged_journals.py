"""Whatever lies among the journals, the rest of the store is read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from steelyard.app.results.library import open_library
from steelyard.core.errors import DataError
from steelyard.core.json_codec import to_json
from steelyard.measure.journal_reader import read_journal
from steelyard.store.store_location import journal_path
from tests.experiments import identifier, make_experiment

RECORD = {
    "trial": 1,
    "block": 0,
    "variant": 1,
    "build": 0,
    "warmup": False,
    "status": "ok",
    "reason": None,
    "exit_code": 0,
    "signal": None,
    "started_unix_ns": 1_700_000_000_500_000_000,
    "wall_ns": 2_000_000,
    "spent_ns": 3_000_000,
    "rusage": {"max_rss_kib": 1},
    "counters": {},
    "output": None,
    "stderr_tail": "",
    "leftover_processes": 0,
    "realised": {},
}
HUGE = 10**400
# Changes of a record that no trial can have.
RECORDS = {
    "a time of 400 digits": {"started_unix_ns": HUGE},
    "a time before 1970": {"started_unix_ns": -1},
    "a time after the year 9999": {"started_unix_ns": 10**30},
    "a block of 2^70": {"block": 2**70},
    "a block of 10^18": {"block": 10**18},
    "a block below 0": {"block": -1},
    "a block that is a text": {"block": "0"},
    "a block that is true": {"block": True},
    "a build of 2^70": {"build": 2**70},
    "a build below 0": {"build": -1},
    "a position of 2^70": {"trial": 2**70},
    "a position that is a list": {"trial": [1]},
    "a position that is true": {"trial": True},
    "a variant that is not there": {"variant": 2},
    "a variant below 0": {"variant": -1},
    "a warm-up of 2": {"warmup": 2},
    "a warm-up that is a text": {"warmup": "yes"},
    "an unknown status": {"status": "good"},
    "a status that is a list": {"status": ["ok"]},
    "an unknown reason": {"status": "failed", "reason": "weather"},
    "a reason of a trial that ran well": {"reason": "exit"},
    "a wall time of 400 digits": {"wall_ns": HUGE},
    "a wall time below 0": {"wall_ns": -5},
    "a wall time that is a text": {"wall_ns": "2"},
    "an infinite wall time": {"wall_ns": float("inf")},
    "a wall time that is no number": {"wall_ns": float("nan")},
    "a cost below 0": {"spent_ns": -1},
    "an infinite cost": {"spent_ns": float("inf")},
    "memory that is a text": {"rusage": {"max_rss_kib": "1"}},
    "usage that is a list": {"rusage": []},
    "what was realised in a list": {"realised": [1]},
    "an infinite detail": {"error": {"a": [float("inf")]}},
}
LINES = {
    "nesting without end": b"[" * 100_000,
    "objects without end": b'{"a":' * 100_000,
    "a number of 5,000 digits": b'{"trial": ' + b"9" * 5000 + b"}",
    "a list": b"[]",
    "no text": b"\xff\xfe",
    "an unknown reason to stop": b'{"stopped": "weather"}',
    "a reason to stop that is a list": b'{"stopped": ["runs"]}',
    "printed values that are texts": b'{"printed": 0, "values": {"wall_time": ["1"]}}',
    "infinite printed values": b'{"printed": 0, "values": {"wall_time": [1e999]}}',
    "printed values in no list": b'{"printed": 0, "values": {"wall_time": 1}}',
    "printed values in no object": b'{"printed": 0, "values": [1]}',
    "differences that are numbers": b'{"printed": 0, "differences": [1]}',
    "a build of infinite cost": b'{"built": 0, "variant": 0, "cost_s": Infinity}',
    "a build that is a list": b'{"built": [], "variant": 0, "cost_s": 1}',
    "a level below 0": b'{"entered": "boot", "index": -1, "cost_s": 1}',
    "levels in a list": b'{"at_levels": 0, "realised": [1]}',
    "a session of nothing": b'{"resumed_unix_s": 1, "spec": {}, "provenance": {}}',
    "a session with a list": b'{"resumed_unix_s": 1, "spec": {}, "provenance": []}',
}
HEADERS = {
    "no version": {"journal": 2},
    "a start of 400 digits": {"created_unix_s": HUGE},
    "a start that is a text": {"created_unix_s": "now"},
    "an infinite start": {"created_unix_s": float("inf")},
    "provenance in a list": {"provenance": []},
    "files in a list": {"files": []},
    "an experiment in a list": {"experiment": []},
    "an experiment without fields": {"experiment": {}},
}
SPECS = {
    "an identifier that is a path": {"identifier": "../../etc/passwd"},
    "no variant": {"variants": []},
    "no metric": {"metrics": []},
    "a metric twice": {"metrics": [{"name": "a", "unit": "s"}, {"name": "a", "unit": "s"}]},
    "a confidence of 2": {"confidence": 2.0},
    "an infinite confidence": {"confidence": float("inf")},
    "a margin below 0": {"margin_ratio": -0.5},
    "an infinite budget": {"stopping": {"budget_s": float("inf")}},
    "a seed of 400 digits": {"seed": HUGE},
    "2^70 runs": {"stopping": {"runs": 2**70}},
    "warm-ups below 0": {"warmup_count": -1},
}


def header(**changes):
    spec = to_json(make_experiment(1).spec)
    plain = {"journal": 1, "created_unix_s": 100.5, "experiment": spec, "provenance": {}}
    return json.dumps({**plain, **changes}).encode()


def record(**changes):
    return json.dumps({**RECORD, **changes}).encode()


def journal_with(*lines):
    return b"".join(line + b"\n" for line in lines)


BAD = {
    **{
        n: journal_with(header(), record(), record(**{"trial": 2, **c})) for n, c in RECORDS.items()
    },
    **{n: journal_with(header(), record(), line) for n, line in LINES.items()},
}
UNREADABLE = {
    **{n: journal_with(header(**change)) for n, change in HEADERS.items()},
    **{
        n: journal_with(header(experiment={**to_json(make_experiment(1).spec), **change}))
        for n, change in SPECS.items()
    },
    "a start that nests without end": journal_with(b"[" * 100_000),
}


def write(store: str, number: int, content: bytes) -> str:
    path = journal_path(store, identifier(number))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_bytes(content)
    return path


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_set_aside_and_what_is_good_is_read(name, tmp_path):
    store = str(tmp_path / "s.sqlite")
    path = write(store, 1, BAD[name])
    other = {**to_json(make_experiment(2).spec)}
    write(store, 2, journal_with(header(experiment=other), record()))
    with open_library(store) as library:
        assert len(library.listing()) == 2
        assert [trial.position for trial in library.load(identifier(1)).trials] == [1]
        (caution,) = library.cautions
    assert caution.code == "damaged-journal"
    assert path in caution.message
    assert Path(f"{path}.damaged").read_bytes() == BAD[name]
    with open_library(store) as library:
        assert library.cautions == ()


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_journal_of_no_experiment_is_set_aside_and_the_rest_is_read(name, tmp_path):
    store = str(tmp_path / "s.sqlite")
    path = write(store, 1, UNREADABLE[name])
    write(store, 2, journal_with(header(experiment=to_json(make_experiment(2).spec)), record()))
    with open_library(store) as library:
        assert [listed.spec.identifier for listed in library.listing()] == [identifier(2)]
        assert [caution.code for caution in library.cautions] == ["damaged-journal"]
    assert not os.path.exists(path)


@pytest.mark.parametrize("name", [*BAD, *UNREADABLE])
def test_read_alone_it_is_one_clear_error(name, tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_bytes({**BAD, **UNREADABLE}[name])
    with pytest.raises(DataError, match=r"is damaged at line \d") as told:
        read_journal(str(path))
    assert "\n" not in told.value.message
    assert len(told.value.message) < len(str(path)) + 300


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_what_is_no_file_among_the_journals_is_named_and_left(kind, tmp_path):
    store = str(tmp_path / "s.sqlite")
    write(store, 2, journal_with(header(experiment=to_json(make_experiment(2).spec)), record()))
    path = journal_path(store, identifier(1))
    os.mkfifo(path) if kind == "pipe" else os.mkdir(path)
    with open_library(store) as library:
        assert len(library.listing()) == 1
        assert [caution.code for caution in library.cautions] == ["journal-left"]
    assert os.path.exists(path)
    with pytest.raises(DataError, match=r"cannot be read"):
        read_journal(path)
