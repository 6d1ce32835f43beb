import json
import shutil
import sys

import pytest

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import LaunchSpec, MetricSpec, Variant
from steelyard.measure.layout_report import (
    check_layout,
    moves,
    read_report,
    realised_level,
    reporting_variant,
    tells_layout,
)
from steelyard.measure.trial_artifacts import forget_taken
from steelyard.measure.trial_journal import trial_from_record

REPORT = {"parts": {"heap": True, "code": True, "stack": False}, "interval_ns": 5_000_000}
ASKED = (("STEELYARD_LAYOUT", "code"),)


def report_file(directory, position):
    variant = reporting_variant(Variant("p", LaunchSpec(("./p",))), str(directory), position)
    return dict(variant.launch.environment)["STEELYARD_LAYOUT_REPORT"]


def test_what_the_program_wrote_is_read_until_it_is_forgotten(tmp_path):
    path = report_file(tmp_path, 7)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "steelyard/1", "kind": "layout-run", **REPORT}, file)
    assert read_report(str(tmp_path), 7) == REPORT
    assert read_report(str(tmp_path), 7) == REPORT
    forget_taken(str(tmp_path), 7)
    assert read_report(str(tmp_path), 7) is None


DAMAGED = {
    **{name: name for name in ("", "{", "[]", '{"kind": "layout-audit"}', "\x00")},
    "nested": "[" * 100_000,
    "no number": '{"kind": "layout-run", "moves": NaN}',
    "beyond numbers": '{"kind": "layout-run", "moves": 1e999}',
    "long": '{"kind": "layout-run", "moves": "' + "9" * (1 << 20) + '"}',
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_report_is_told_of(tmp_path, text):
    with open(report_file(tmp_path, 0), "w", encoding="utf-8") as file:
        file.write(text)
    assert "damaged" in read_report(str(tmp_path), 0)["problem"]


def test_a_report_of_a_former_session_is_forgotten(tmp_path):
    with open(report_file(tmp_path, 0), "w", encoding="utf-8") as file:
        json.dump({"kind": "layout-run", **REPORT}, file)
    report_file(tmp_path, 0)
    assert read_report(str(tmp_path), 0) is None


def test_names_of_files_are_as_long_for_every_trial(tmp_path):
    assert len({len(report_file(tmp_path, n)) for n in (-12, 0, 9, 123456)}) == 1


def test_a_file_that_the_user_names_is_left_to_the_user():
    own = (("STEELYARD_LAYOUT_REPORT", "mine.json"), *ASKED)
    assert tells_layout(LaunchSpec(("true",), environment=ASKED))
    assert not tells_layout(LaunchSpec(("true",), environment=own))
    assert not tells_layout(LaunchSpec(("true",)))


def test_a_program_that_was_not_built_for_it_is_refused_by_name():
    launch = LaunchSpec((sys.executable,), environment=ASKED)
    assert not moves(launch)
    with pytest.raises(UsageError, match=sys.executable):
        check_layout(Variant("it", launch))
    check_layout(Variant("it", LaunchSpec(("/bin/sh", "-c", "./p"), environment=ASKED)))
    check_layout(Variant("it", LaunchSpec((sys.executable,))))


def test_a_program_that_is_not_there_does_not_move():
    assert not moves(LaunchSpec(("./nothing-like-this",)))
    assert not moves(LaunchSpec((shutil.which("env") or "env", "./nothing-like-this")))


@pytest.mark.parametrize(
    ("report", "level"),
    [
        (REPORT, "code,heap@5ms"),
        ({**REPORT, "parts": {"code": False}}, "none"),
        ({**REPORT, "interval_ns": 0}, "code,heap@off"),
        ({"problem": "none was written"}, None),
        ({"parts": [], "interval_ns": "x"}, None),
    ],
)
def test_the_realised_level_is_what_the_report_says(report, level):
    assert realised_level(report) == level


RECORD = {
    **{"trial": 0, "block": 0, "variant": 0, "build": 0, "warmup": False, "status": "ok"},
    **{"reason": None, "started_unix_ns": 0, "spent_ns": 5, "wall_ns": 4, "realised": {"aslr": 2}},
}
WALL = (MetricSpec("wall_time", "s"),)


def test_a_trial_keeps_its_values_whether_or_not_the_report_is_there():
    told = trial_from_record(RECORD, WALL, {"printed": 0, "layout": REPORT})
    assert told.realised == {"aslr": 2, "layout": "code,heap@5ms"}
    assert told.details["layout"] == REPORT
    untold = trial_from_record(RECORD, WALL, {"printed": 0, "layout": {"problem": "none"}})
    assert (untold.status, untold.realised) == ("ok", {"aslr": 2})
    assert untold.measurements == told.measurements != {}
