import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from steelyard.analysis.profiles.speedup import BlockShares, BlockTimes, ProfiledBlocks, speedup
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.report.documents.schemas import schema
from steelyard.report.kinds.speedup.document import speedup_document
from steelyard.report.kinds.speedup.page import speedup_page
from steelyard.report.kinds.speedup.text import speedup_text

# A program of 1 s, of which the function takes 0.5 s before and 0.1 s after.
BEFORE_S, AFTER_S, SHARE_BEFORE, SHARE_AFTER = 1.0, 0.6, 0.5, 0.1 / 0.6
GAIN = 0.4


def simulated(seed, count=10, noise=0.02, seen=1.0, after_s=AFTER_S, factor=None):
    """What a profiler that sees the part `seen` of the function says; blocks are busy together."""
    generator = np.random.default_rng(seed)
    busy = generator.uniform(1, 1.5, count)
    before = busy * generator.normal(BEFORE_S, noise, count)
    after = busy * generator.normal(after_s, noise * after_s, count)
    shares = [
        generator.binomial(1000, seen * share, count) / 1000
        for share in (SHARE_BEFORE, SHARE_AFTER)
    ]
    times = [BlockTimes(*pair) for pair in zip(before.tolist(), after.tolist(), strict=True)]
    if factor is not None:
        shares[1] = np.array([None] * count)
    blocks = tuple(BlockShares(*pair) for pair in zip(*(s.tolist() for s in shares), strict=True))
    return speedup("f", times, [ProfiledBlocks("p", 1, blocks)], factor)


def test_gain_promise_and_rest_are_what_the_means_say():
    times = [BlockTimes(1.0, 0.5), BlockTimes(1.2, 0.7), BlockTimes(1.1, 0.6)]
    shares = (BlockShares(0.6, 0.2), BlockShares(0.5, 0.1), BlockShares(0.7, 0.3))
    found = speedup("f", times, [ProfiledBlocks("p", 2, shares)])
    (promise,) = found.promises
    promised_s = 0.6 * 1.0 - 0.2 * 0.5 + 0.5 * 1.2 - 0.1 * 0.7 + 0.7 * 1.1 - 0.3 * 0.6
    assert found.gain.estimate == pytest.approx(1 - 1.8 / 3.3)
    assert promise.gain.estimate == pytest.approx(promised_s / 3.3)
    assert promise.ratio.estimate == pytest.approx(promised_s / 1.5)
    rest_s = (0.4 * 1.0 + 0.5 * 1.2 + 0.3 * 1.1, 0.8 * 0.5 + 0.9 * 0.7 + 0.7 * 0.6)
    assert promise.rest is not None
    assert promise.rest.estimate == pytest.approx(rest_s[1] / rest_s[0] - 1)
    assert promise.share.estimate == pytest.approx(0.6)


def test_a_known_factor_promises_its_part_of_the_share():
    times = [BlockTimes(1.0, 0.5), BlockTimes(1.2, 0.7), BlockTimes(1.1, 0.6)]
    shares = tuple(BlockShares(share) for share in (0.6, 0.5, 0.7))
    (promise,) = speedup("f", times, [ProfiledBlocks("p", 1, shares)], factor=4).promises
    assert promise.gain.estimate == pytest.approx(0.6 * 0.75)
    assert promise.ratio.estimate == pytest.approx(0.75 * (0.6 + 0.6 + 0.77) / 1.5)
    assert promise.rest is None


def held(interval, truth):
    assert isinstance(interval, Estimate)
    return interval.low <= truth <= interval.high


def test_intervals_hold_as_often_as_they_say():
    count = 400
    hits = np.zeros(4)
    for seed in range(count):
        found = simulated(seed)
        (promise,) = found.promises
        hits += [
            held(found.gain, GAIN),
            held(promise.gain, GAIN),
            held(promise.ratio, 1),
            held(promise.rest, 0),
        ]
    assert (hits / count > 0.92).all(), hits / count
    assert (hits / count < 0.98).all(), hits / count


@pytest.mark.parametrize(
    ("seen", "factor", "verdict"),
    [
        (1.0, None, "predicts"),
        (1.0, 5.0, "predicts"),
        (0.0, None, "too-little"),
        (0.6, None, "too-little"),
        (1.6, None, "too-much"),
        (1.6, 5.0, "too-much"),
    ],
)
def test_a_profiler_gets_the_verdict_that_it_deserves(seen, factor, verdict):
    verdicts = [simulated(seed, seen=seen, factor=factor).promises[0].verdict for seed in range(50)]
    assert verdicts.count(verdict) >= 48
    assert set(verdicts) <= {verdict, "undecided"}


@pytest.mark.parametrize("count", [2, 5, 10])
def test_the_same_build_twice_has_no_gain_to_be_promised(count):
    verdicts = [
        simulated(seed, count, noise=0.01, after_s=BEFORE_S).promises[0] for seed in range(300)
    ]
    assert sum(promise.verdict != "undecided" for promise in verdicts) <= 2
    reasons = {promise.ratio.reason for promise in verdicts if isinstance(promise.ratio, Unbounded)}
    assert reasons <= {"noise", "no-gain"}


def test_noise_hides_a_small_gain_and_a_wide_interval_is_no_verdict():
    (promise,) = simulated(1, noise=0.3, after_s=0.97).promises
    assert isinstance(promise.ratio, Unbounded)
    assert "is not clear of noise" in promise.ratio.explanation
    wide = simulated(5, noise=0.15).promises[0]
    assert isinstance(wide.ratio, Estimate)
    assert wide.ratio.half_width > 0.15
    assert wide.verdict == "undecided"


def test_a_build_that_got_slower_says_so():
    found = simulated(1, after_s=1.3)
    (promise,) = found.promises
    assert promise.verdict == "undecided"
    assert "% longer: nothing was gained" in speedup_text(found)


def test_a_rounded_nothing_has_no_sign():
    times = [BlockTimes(1.0, 0.5), BlockTimes(1.2, 0.6), BlockTimes(1.1, 0.55)]
    shares = (BlockShares(0.0001, 0.001), BlockShares(0.0001, 0.001), BlockShares(0.0002, 0.001))
    text = speedup_text(speedup("f", times, [ProfiledBlocks("p", 9, shares)]))
    assert "  0.0 % (-0.1 – 0.0)" in text
    assert "-0.0 " not in text


def test_one_block_has_no_interval():
    found = speedup("f", [BlockTimes(1, 0.5)], [ProfiledBlocks("p", 1, (BlockShares(0.6, 0.2),))])
    assert found.promises[0].verdict == "undecided"
    assert "at least two are needed" in speedup_text(found)


def test_a_function_that_went_from_the_profiles_is_warned_of():
    times = [BlockTimes(1.0, 0.5), BlockTimes(1.2, 0.7)]
    shares = (BlockShares(0.6, 0.0), BlockShares(0.5, 0.0))
    found = speedup("f", times, [ProfiledBlocks("perf", 1, shares)])
    assert [caution.code for caution in found.cautions] == ["function-gone"]
    assert "warning: f is not in the mended build's profiles by perf." in speedup_text(found)
    assert simulated(1).cautions == ()


@pytest.mark.parametrize("factor", [None, 5.0])
@pytest.mark.parametrize("count", [1, 10])
def test_the_document_keeps_its_schema_and_the_page_shows_the_table(factor, count):
    found = simulated(2, count, factor=factor)
    document = json.loads(json.dumps(speedup_document(found, ["./p"], ["./q"]), allow_nan=False))
    shared = Registry().with_resource(
        "definitions.json", Resource.from_contents(schema("definitions"))
    )
    Draft202012Validator(schema("speedup"), registry=shared).validate(document)
    assert len(document["observations"]) == count
    page = speedup_page(found, ["./p", "<x>"])
    assert "Does mending f in ./p &lt;x&gt; bring what was promised?" in page
    assert "promised / measured" in page
