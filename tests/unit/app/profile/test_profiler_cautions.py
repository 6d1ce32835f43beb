"""What a reader of profilers of Java is told beside their answers."""

from __future__ import annotations

from steelyard.app.profile.profiler_cautions import profiler_cautions
from steelyard.report.kinds.causality.text import causality_text


def test_profilers_that_take_what_hotspot_notes_are_said_to_name_wrong_methods_and_when():
    (told,) = profiler_cautions(["steelyard-jvm", "jfr", "async-profiler", "jfr"])
    assert told.startswith("async-profiler and jfr: methods are named as HotSpot notes them")
    assert "inlined late" in told
    assert f"caution: {told}" in causality_text([], cautions=[told])


def test_our_own_profilers_and_those_that_nobody_knows_any_more_need_no_caution():
    assert profiler_cautions(["steelyard-jvm", "steelyard", "perf", "one of a plugin"]) == ()
