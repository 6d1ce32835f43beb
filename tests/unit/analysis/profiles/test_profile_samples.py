from dataclasses import replace

import numpy as np
import pytest

from steelyard.analysis.profiles.call_stacks import merged_stacks, stack_counts
from steelyard.analysis.profiles.exported_profile import with_unwatched
from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.analysis.profiles.profile_samples import (
    Frame,
    ProfileSamples,
    function_shares,
    independent_count,
    share_estimate,
    thread_shares,
)

FRAMES = (Frame("main", "/bin/a"), Frame("leaf", "/bin/a"), Frame("again", "/bin/a"))


def samples_of(stacks, threads=None):
    """Samples by their stacks, each from the sample's own function up."""
    count = len(stacks)
    return ProfileSamples(
        frames=FRAMES,
        functions=np.array([stack[0] for stack in stacks]),
        times_ns=np.arange(count, dtype=np.uint64) * 1000,
        cpus=np.zeros(count, np.uint16),
        threads=np.array(threads or [9] * count, np.uint32),
        processes=np.full(count, 9, np.uint32),
        in_kernel=np.zeros(count, bool),
        inlined=np.zeros(count, bool),
        stacks=np.array([index for stack in stacks for index in stack]),
        stack_lengths=np.array([len(stack) for stack in stacks]),
        thread_names={9: "worker"},
    )


# R 4.2.2: print(prop.test(count, total, correct = FALSE)$conf.int, digits = 12), Wilson's interval.
@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        (10, 100, 0.0552291370607, 0.1743656615049),
        (0, 50, 0.0, 0.0713475991334),
        (50, 50, 0.928652400867, 1.0),
        (5714, 20000, 0.279480837865, 0.292001468789),
    ],
)
def test_the_interval_of_a_share_is_that_of_r(count, total, low, high):
    share = share_estimate(count, total)
    assert share.low == pytest.approx(low, abs=1e-11)
    assert share.high == pytest.approx(high, abs=1e-11)


def test_a_share_covers_the_truth_as_often_as_it_says():
    generator = np.random.default_rng(3)
    for truth in (0.02, 1 / 7, 0.6):
        counts = generator.binomial(2000, truth, 4000)
        shares = [share_estimate(int(count), 2000) for count in counts]
        covered = np.mean([share.low <= truth <= share.high for share in shares])
        assert 0.935 < covered < 0.965


def looked_at(times_us, cpus=None, **values):
    """Samples of one function, by the times at which CPUs were looked at."""
    return replace(
        samples_of([[0]] * len(times_us)),
        times_ns=np.array(times_us, np.uint64) * np.uint64(1000),
        cpus=np.array(cpus or [0] * len(times_us), np.uint16),
        **values,
    )


def test_looks_that_a_stopped_cpu_took_together_are_worth_one():
    apart = looked_at([0, 30, 60, 90], apart_ns=20_000)
    assert independent_count(apart) == 4
    # Three at once and one alone: 4² / (3² + 1²).
    together = looked_at([0, 1, 20, 90], apart_ns=20_000)
    assert independent_count(together) == pytest.approx(1.6)
    assert independent_count(replace(together, apart_ns=0)) == 4


def test_looks_at_two_cpus_may_fall_together():
    samples = looked_at([0, 1, 30, 31], cpus=[0, 1, 0, 1], apart_ns=20_000)
    assert independent_count(samples) == 4


def test_shares_cover_the_truth_on_a_cpu_that_stops_now_and_then():
    generator = np.random.default_rng(5)
    truth, count, covered, alone = 0.3, 1000, 0, 0
    for _ in range(800):
        # One look in a hundred is where the CPU stops, for 20 looks more.
        sizes = np.where(generator.random(count) < 0.01, 21, 1)
        functions = np.repeat((generator.random(count) < truth).astype(int), sizes)
        begins_us = np.repeat(np.arange(count) * 1000, sizes)
        samples = replace(
            looked_at(begins_us.tolist(), apart_ns=20_000),
            functions=functions,
            stacks=functions,
        )
        (share,) = (s for s in function_shares(samples) if s.frame.name == "leaf")
        covered += share.share.low <= truth <= share.share.high
        plain = share_estimate(share.sample_count, len(functions))
        alone += plain.low <= truth <= plain.high
    assert 0.93 < covered / 800 < 0.97
    assert alone / 800 < 0.7


def test_functions_come_by_the_time_they_took_themselves():
    shares = function_shares(samples_of([[1, 0], [1, 0], [0], [1, 0]]))
    assert [(share.frame.name, share.sample_count) for share in shares] == [
        ("leaf", 3),
        ("main", 1),
    ]
    assert [share.total_share.estimate for share in shares] == [0.75, 1.0]


def test_a_recursive_function_counts_once_in_its_chain():
    shares = function_shares(samples_of([[2, 2, 2, 0], [1, 0]]))
    totals = {share.frame.name: share.total_share.estimate for share in shares}
    assert totals == {"again": 0.5, "leaf": 0.5, "main": 1.0}


def test_without_chains_there_is_no_share_of_callees():
    assert all(share.total_share is None for share in function_shares(samples_of([[1], [0]])))


def test_threads_come_by_their_time_with_their_names():
    shares = thread_shares(samples_of([[1]] * 4, threads=[9, 8, 9, 9]))
    assert [(share.thread, share.name, share.sample_count) for share in shares] == [
        (9, "worker", 3),
        (8, "", 1),
    ]


def test_stacks_are_counted_from_the_outermost_caller_by_thread_and_together():
    samples = samples_of([[1, 0], [1, 0], [1, 0]], threads=[9, 8, 9])
    assert [(s.thread, s.frames, s.sample_count) for s in stack_counts(samples)] == [
        (8, (0, 1), 1),
        (9, (0, 1), 2),
    ]
    assert merged_stacks(samples) == [((0, 1), 3)]


def answer_for(intervals, *, summary=None, samples=None, **header):
    times = np.cumsum(np.asarray(intervals)).astype(np.uint64)
    recorded = Recorded(
        "a.profile",
        {"spread": "uniform", **header},
        summary or {},
        times,
        np.zeros(len(times), np.uint16),
    )
    return profile_answer(samples or samples_of([[1]]), recorded)


def test_intervals_drawn_independently_are_healthy():
    intervals = np.random.default_rng(5).uniform(0, 2e6, 10_000)
    answer = answer_for(intervals)
    (health,) = answer.health
    assert health.variation == pytest.approx(1 / np.sqrt(3), rel=0.03)
    assert health.outside_ratio <= 0.15
    assert answer.cautions == ()


def test_intervals_that_depend_on_each_other_are_told_of():
    wave = 1e6 + 5e5 * np.sin(np.arange(2000) / 3)
    assert [caution.code for caution in answer_for(wave).cautions] == ["dependent-intervals"]


def test_a_fixed_period_is_told_of_whatever_its_times_look_like():
    intervals = np.full(500, 1e6)
    codes = [caution.code for caution in answer_for(intervals, spread="fixed").cautions]
    assert codes == ["fixed-period"]


def test_too_few_intervals_have_no_health():
    assert answer_for([1e6] * 20).health == ()


@pytest.mark.parametrize(("late", "unseen", "told"), [(0, 3, False), (4, 0, True), (0, 9, True)])
def test_looks_that_went_otherwise_than_planned_are_told_of_from_one_in_a_hundred(
    late, unseen, told
):
    intervals = np.random.default_rng(1).exponential(1e6, 300)
    answer = answer_for(intervals, summary={"late": late, "unseen": unseen})
    assert ("delayed-samples" in [caution.code for caution in answer.cautions]) == told


@pytest.mark.parametrize(("mended", "told"), [(0, []), (1, []), (2, ["mended-places"])])
def test_code_that_java_names_wrongly_is_told_of_from_one_sample_in_a_hundred(mended, told):
    samples = replace(samples_of([[1]] * 200), mended_count=mended)
    answer = answer_for(np.random.default_rng(1).exponential(1e6, 300), samples=samples)
    assert [caution.code for caution in answer.cautions] == told


@pytest.mark.parametrize(("count", "told"), [(9, []), (10, ["nameless-code"])])
def test_code_that_nothing_names_is_told_of_from_one_sample_in_twenty(count, told):
    made = (Frame("[anon]", "//anon"), Frame("a method", "//anon"), Frame("[program]", "/program"))
    stacks = [[0]] * count + [[1]] * 90 + [[2]] * (110 - count)
    samples = replace(samples_of(stacks), frames=made)
    answer = answer_for(np.random.default_rng(1).exponential(1e6, 300), samples=samples)
    assert [caution.code for caution in answer.cautions] == told


@pytest.mark.parametrize(("count", "told"), [(19, []), (20, ["unmapped-samples"])])
def test_samples_where_nothing_was_mapped_are_told_of_unless_they_are_few(count, told):
    stacks = [[0]] * count + [[1]] * 200
    frames = (Frame("[unknown]", "[unknown]"), Frame("work", "/program"))
    samples = replace(samples_of(stacks), frames=frames)
    answer = answer_for(np.random.default_rng(1).exponential(1e6, 300), samples=samples)
    assert [caution.code for caution in answer.cautions] == told


def test_a_program_that_was_hardly_watched_is_exported_with_a_million_samples_more_at_most():
    extended = with_unwatched(samples_of([[0]] * 3), 1 - 1e-15)
    assert len(extended.functions) == 1_000_003
    assert len(with_unwatched(samples_of([[0]] * 3), 0.25).functions) == 4


# Of 100 ms 100 looks at 1 ms, and of what 145 looks of 12 µs take 2; four standard deviations of a
# Poisson count more are 142.
@pytest.mark.parametrize(("unseen", "missed"), [(100, 0), (142, 0), (148, 5)])
def test_looks_without_a_sample_are_missed_where_idle_time_does_not_explain_them(unseen, missed):
    intervals = np.random.default_rng(1).exponential(1e6, 300)
    summary = {"unseen": unseen, "idle_ns": 100e6}
    answer = answer_for(intervals, summary=summary, period=1e6)
    assert answer.recorded.missed_count == missed
    assert ("delayed-samples" in [caution.code for caution in answer.cautions]) == (missed > 3)
