from dataclasses import replace

import pytest

from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.kinds.comparison.sentences import (
    further_sentence,
    magnitude_note,
    together_sentence,
    verdict_sentence,
)


def test_a_faster_candidate_is_so_by_the_ratio_below_one(samples):
    sentence = verdict_sentence(samples.comparison("faster"))
    assert sentence == "B is faster than A: 1.058 times as fast, 5.5 % ± 2.5 % less time (95 %)"


def test_a_slower_candidate_is_so_by_the_ratio_above_one(samples):
    sentence = verdict_sentence(samples.comparison("slower"))
    assert sentence == "B is slower than A: 1.055 times as long, 5.5 % ± 2.5 % more time (95 %)"


def test_a_clearly_asymmetric_interval_shows_its_bounds(samples):
    sentence = verdict_sentence(samples.comparison("slower", samples.ratio(1.1, 1.2, 1.5)))
    assert sentence == (
        "B is slower than A: 1.20 times as long, 20 % [10 %, 50 %] more time (95 %)"
    )


def test_bounds_of_a_faster_candidate_go_from_the_smaller_to_the_larger_gain(samples):
    sentence = verdict_sentence(samples.comparison("faster", samples.ratio(0.80, 0.94, 0.97)))
    assert sentence == (
        "B is faster than A: 1.064 times as fast, 6.0 % [3.0 %, 20.0 %] less time (95 %)"
    )


def test_an_equivalence_names_its_margin_and_interval(samples):
    sentence = verdict_sentence(samples.comparison("equivalent"))
    assert sentence == "B is equivalent to A within 1 %: ratio 0.998 [0.993, 1.003] (95 %)"


def test_an_undecided_verdict_says_what_is_still_possible(samples):
    sentence = verdict_sentence(samples.comparison("undecided"))
    assert sentence == (
        "B against A is undecided: ratio 0.998 [0.970, 1.027] (95 %) "
        "leaves room for 3.0 % faster as well as 2.7 % slower"
    )


def test_no_time_is_told_to_be_faster_by_more_than_all_of_it(samples):
    sentence = verdict_sentence(samples.comparison("undecided", samples.ratio(-0.13, 1.62, 3.33)))
    assert sentence.endswith("leaves room for 100.0 % faster as well as 233.0 % slower")


def test_an_undecided_verdict_says_what_would_decide_it(samples):
    open_one = samples.comparison("undecided", further_blocks=34, further_s=130.0)
    two = samples.two()
    words = "about 34 more blocks (2 min 10 s) would decide it"
    assert further_sentence(open_one, two) == f"{words}: steelyard resume {two.experiment}"


def test_nothing_advises_to_resume_what_was_imported(samples):
    open_one = samples.comparison("undecided", further_blocks=34, further_s=None)
    imported = replace(samples.two(), resumable=False)
    assert further_sentence(open_one, imported) == "about 34 more blocks would decide it"


def test_an_undecided_verdict_says_the_side_where_only_the_size_is_open(samples):
    sentence = verdict_sentence(samples.comparison("undecided", samples.ratio(1.002, 1.01, 1.018)))
    assert sentence == (
        "B against A is slower, but undecided at a margin of 1 %: ratio 1.010 [1.002, 1.018] "
        "(95 %) leaves room for 0.2 % slower as well as 1.8 % slower"
    )


def test_the_ends_of_a_narrow_interval_read_differently(samples):
    narrow = samples.comparison("undecided", samples.ratio(1.00985, 1.01, 1.01018))
    assert verdict_sentence(narrow).endswith("0.985 % slower as well as 1.018 % slower")


def test_one_further_block_is_singular(samples):
    open_one = samples.comparison("undecided", further_blocks=1)
    words = further_sentence(open_one, samples.two())
    assert words.startswith("about 1 more block would decide it: steelyard resume ")


@pytest.mark.parametrize("verdict", ["faster", "slower", "equivalent"])
def test_a_decided_verdict_asks_for_nothing_further(samples, verdict):
    assert further_sentence(samples.comparison(verdict, further_blocks=9), samples.two()) is None


def test_an_unbounded_ratio_says_why(samples):
    sentence = verdict_sentence(samples.comparison("undecided", samples.unbounded()))
    assert sentence == (
        "B against A is undecided: The baseline's mean cannot be told from 0. "
        "More blocks would mend it"
    )


def test_simultaneous_intervals_say_so(samples):
    sentence = verdict_sentence(samples.comparison("faster", simultaneous=True))
    assert sentence.endswith("(95 %, simultaneous)")
    assert "hold at once" in together_sentence(samples.five())
    assert together_sentence(samples.two()) is None


@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [
        (
            MetricSpec("cpu_time", "s"),
            "B is faster than A in cpu_time: "
            "1.058 times as fast, 5.5 % ± 2.5 % less cpu_time (95 %)",
            "B is slower than A in cpu_time: "
            "1.055 times as long, 5.5 % ± 2.5 % more cpu_time (95 %)",
        ),
        (
            MetricSpec("max_rss", "bytes"),
            "B uses 5.5 % ± 2.5 % less max_rss than A, 0.945 times as much (95 %)",
            "B uses 5.5 % ± 2.5 % more max_rss than A, 1.055 times as much (95 %)",
        ),
        (
            MetricSpec("cycles", "count"),
            "B needs 5.5 % ± 2.5 % fewer cycles than A, 0.945 times as many (95 %)",
            "B needs 5.5 % ± 2.5 % more cycles than A, 1.055 times as many (95 %)",
        ),
        (
            MetricSpec("requests", "1/s", "higher"),
            "B is slower than A: requests 5.5 % ± 2.5 % lower, 0.945 times as high (95 %)",
            "B is faster than A: requests 5.5 % ± 2.5 % higher, 1.055 times as high (95 %)",
        ),
        (
            MetricSpec("score", "points", "higher"),
            "B is worse than A: score 5.5 % ± 2.5 % lower, 0.945 times as high (95 %)",
            "B is better than A: score 5.5 % ± 2.5 % higher, 1.055 times as high (95 %)",
        ),
        (
            MetricSpec("power", "W"),
            "B is better than A: power 5.5 % ± 2.5 % lower, 0.945 times as high (95 %)",
            "B is worse than A: power 5.5 % ± 2.5 % higher, 1.055 times as high (95 %)",
        ),
    ],
)
def test_sentences_read_right_for_every_kind_of_metric(samples, metric, low, high):
    falls, rises = ("slower", "faster") if metric.direction == "higher" else ("faster", "slower")
    lower, higher = samples.ratio(0.92, 0.945, 0.97), samples.ratio(1.03, 1.055, 1.08)
    assert verdict_sentence(samples.comparison(falls, lower, metric=metric)) == low
    assert verdict_sentence(samples.comparison(rises, higher, metric=metric)) == high


def test_room_in_a_rate_is_named_from_its_direction(samples):
    sentence = verdict_sentence(samples.comparison("undecided", metric=samples.REQUESTS))
    assert "3.0 % slower as well as 2.7 % faster" in sentence


def test_names_that_a_terminal_would_obey_are_defused(samples):
    sentence = verdict_sentence(samples.comparison("faster", candidate="\x1b[31mB\n\udcff"))
    assert sentence.startswith("\ufffd[31mB \ufffd is faster")


def test_a_magnitude_says_times_and_percent_that_agree(samples):
    sentence = verdict_sentence(samples.comparison("faster", samples.ratio(0.145, 0.148, 0.151)))
    assert "6.76 times as fast, 85.20 % ± 0.30 % less time" in sentence


def test_what_times_and_percent_mean_is_defined_where_a_verdict_on_a_time_uses_them(samples):
    assert "quotient of the two means" in magnitude_note(samples.two("faster"))
    assert magnitude_note(samples.two("equivalent")) is None
    assert magnitude_note(samples.one()) is None
