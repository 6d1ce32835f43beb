"""Time that was not watched, everywhere a profile is shown: intervals that hold, or none."""

import gzip
import json

import numpy as np
import pytest

from steelyard.analysis.profiles.exported_profile import exported
from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.analysis.profiles.profile_samples import Frame, ProfileSamples, share_estimate
from steelyard.analysis.profiles.unwatched_time import (
    NOT_WATCHED,
    UNWATCHED,
    unwatched_ratio_of,
    widened,
)
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.report.kinds.profile.document import profile_document
from steelyard.report.kinds.profile.page import profile_page
from steelyard.report.kinds.profile.text import profile_text
from steelyard.report.profile_formats import PROFILE_FORMATS
from tests.integration.conftest import validate

HEADER = {
    **{"period": 1e6, "unit": "ns", "spread": "uniform", "event": "cpu-clock", "argv": ["./a"]},
    "threads_only": True,
}
HALF = {"scope": "threads", "unwatched_threads": 70, "program_ns": 80, "watched_ns": 40}
UNKNOWN = {"scope": "threads", "unwatched_threads": 70}


def answer_for(summary, are_cpus_looked_at=False):
    functions = np.array([0] * 30 + [1] * 10)
    count = len(functions)
    times_ns = np.arange(count, dtype=np.uint64)
    samples = ProfileSamples(
        frames=(Frame("busy", "/bin/a"), Frame("poll", "/bin/a")),
        functions=functions,
        times_ns=times_ns,
        cpus=np.zeros(count, np.uint16),
        threads=np.full(count, 9, np.uint32),
        processes=np.full(count, 9, np.uint32),
        in_kernel=np.zeros(count, bool),
        inlined=np.zeros(count, bool),
        stacks=functions,
        stack_lengths=np.ones(count, np.int64),
        thread_names={9: "worker"},
    )
    recorded = Recorded(
        *("a", HEADER, summary, times_ns, np.full(count, 9, np.uint32)),
        are_cpus_looked_at=are_cpus_looked_at,
    )
    return profile_answer(samples, recorded)


def test_an_interval_reaches_from_all_that_was_not_watched_elsewhere_to_all_of_it_here():
    watched = share_estimate(30, 40)
    share = widened(watched, 0.5)
    assert isinstance(share, Estimate)
    assert share.estimate == watched.estimate
    assert share.low == pytest.approx(0.5 * watched.low)
    assert share.high == pytest.approx(0.5 * watched.high + 0.5)
    assert share.method == "wilson-widened"
    assert widened(watched, 0.0) is watched


@pytest.mark.parametrize("ratio", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("unseen_share", [0.0, 0.4, 1.0])
def test_widened_intervals_hold_whatever_passed_unwatched(ratio, unseen_share):
    draws = np.random.default_rng(3)
    watched_share, count = 0.2, 200
    truth = (1 - ratio) * watched_share + ratio * unseen_share
    seen = draws.binomial(count, watched_share, 2000)
    shares = [widened(share_estimate(int(number), count), ratio) for number in seen]
    # Four standard errors of a coverage of 95 % in 2000 are 2 %.
    assert np.mean([share.low <= truth <= share.high for share in shares]) > 0.93


@pytest.mark.parametrize(
    ("summary", "are_cpus_looked_at", "ratio"),
    [
        ({"scope": "cpus"}, False, 0.0),
        ({}, True, 0.0),
        ({}, False, None),
        (UNKNOWN, True, None),
        (HALF, False, 0.5),
        ({**HALF, "watched_ns": 90}, False, 0.0),
        ({**HALF, "program_ns": 0}, False, 0.0),
    ],
)
def test_what_was_not_watched_is_known_where_both_times_were_counted(
    summary, are_cpus_looked_at, ratio
):
    assert unwatched_ratio_of(summary, are_cpus_looked_at) == ratio


def test_every_share_of_a_program_half_unwatched_is_wide_in_text_page_and_document():
    answer = answer_for(HALF)
    for share in (*answer.functions, *answer.threads):
        assert share.share.high - share.share.low > 0.5
    document = profile_document(answer)
    validate(document)
    assert document["unwatched_ratio"] == 0.5
    assert all(item["share"]["method"] == "wilson-widened" for item in document["functions"])
    (warning,) = [item for item in document["warnings"] if item["code"] == UNWATCHED]
    assert "Root, without --threads-only," in warning["message"]
    text = profile_text(answer)
    assert "50 % of its time not watched" in text
    low, high = 100 * answer.functions[0].share.low, 100 * answer.functions[0].share.high
    assert f"75.0 % ({low:.1f} – {high:.1f})" in text
    assert f"75.0 % ({low:.1f} – {high:.1f})" in profile_page(answer)


@pytest.mark.parametrize("summary", [UNKNOWN, {}])
def test_shares_have_no_bounds_where_nobody_knows_what_was_not_watched(summary):
    answer = answer_for(summary)
    for share in (*answer.functions, *answer.threads):
        assert isinstance(share.share, Unbounded)
        assert share.share.reason == UNWATCHED
    document = profile_document(answer)
    validate(document)
    assert document["unwatched_ratio"] is None
    assert document["functions"][0]["share"]["low"] is None
    assert "75.0 % (unbounded)" in profile_text(answer)
    assert "75.0 % (unbounded)" in profile_page(answer)


@pytest.mark.parametrize("name", ["folded", "speedscope", "pprof", "firefox"])
def test_formats_without_intervals_have_what_was_not_watched_as_a_function(name):
    assert exported(answer_for({"scope": "cpus"})).samples is not None
    written = PROFILE_FORMATS.get(name).render(exported(answer_for(HALF)))
    text = (gzip.decompress(written) if name == "pprof" else written).decode("utf-8", "replace")
    assert NOT_WATCHED in text
    if name == "folded":
        assert text.splitlines() == ["busy 30", "poll 10", f"{NOT_WATCHED} 40"]
    if name == "speedscope":
        profiles = json.loads(text)["profiles"]
        assert [profile["endValue"] for profile in profiles] == [40_000_000, 40_000_000]
    whole = PROFILE_FORMATS.get(name).render(exported(answer_for({"scope": "cpus"})))
    text = (gzip.decompress(whole) if name == "pprof" else whole).decode("utf-8", "replace")
    assert NOT_WATCHED not in text
