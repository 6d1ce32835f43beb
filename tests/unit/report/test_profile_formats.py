import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.analysis.profiles.profile_samples import Frame, ProfileSamples
from steelyard.report.profile_formats import PROFILE_FORMATS

# The program computes in `busy`, is seen once in `poll`, sleeps for a second, and goes on.
TIMES_NS = [0, 1_000_000, 2_000_000, 1_002_000_000, 1_003_000_000]
FUNCTIONS = [0, 0, 1, 0, 0]


def answer(**header):
    count = len(TIMES_NS)
    times_ns = np.array(TIMES_NS, np.uint64)
    samples = ProfileSamples(
        frames=(Frame("busy", "/bin/a"), Frame("poll", "/bin/a")),
        functions=np.array(FUNCTIONS),
        times_ns=times_ns,
        cpus=np.zeros(count, np.uint16),
        threads=np.full(count, 9, np.uint32),
        processes=np.full(count, 9, np.uint32),
        in_kernel=np.zeros(count, bool),
        inlined=np.zeros(count, bool),
        stacks=np.array(FUNCTIONS),
        stack_lengths=np.ones(count, np.int64),
        thread_names={9: "worker"},
    )
    header = {"spread": "uniform", **header}
    return profile_answer(samples, Recorded("a", header, {}, times_ns, np.zeros(count, np.uint16)))


@pytest.mark.parametrize(
    ("header", "unit", "weight"),
    [
        ({"unit": "ns", "period": 1e6}, "nanoseconds", 1_000_000),
        ({"unit": "cycles", "period": 3e6}, "none", 1),
        ({}, "none", 1),
    ],
)
def test_speedscope_gives_no_function_the_time_that_the_program_slept(header, unit, weight):
    document = json.loads(PROFILE_FORMATS.get("speedscope").render(answer(**header)))
    (profile,) = document["profiles"]
    assert profile["unit"] == unit
    assert profile["samples"] == [[function] for function in FUNCTIONS]
    assert profile["weights"] == [weight] * 5
    assert (profile["startValue"], profile["endValue"]) == (0, 5 * weight)


# docs-developer/CHANGELOG-formats.md of the viewer, versions 53 and 54, tells what was before them.
def test_the_firefox_profiler_is_given_the_grey_category_and_the_column_that_it_asks_for():
    document = json.loads(PROFILE_FORMATS.get("firefox").render(answer()))
    categories = document["meta"]["categories"]
    assert "grey" in {category["color"] for category in categories}
    (thread,) = document["threads"]
    assert thread["frameTable"]["implementation"] == [None, None]
    for number in thread["frameTable"]["category"]:
        assert categories[number]["name"] == "User"


def test_the_program_is_the_first_file_of_a_profile_for_pprof():
    frames = (
        Frame("_dl_start", "/lib/ld.so.2"),
        Frame("[kernel]", "[kernel]"),
        Frame("main", "/bin/a"),
    )
    made = answer(unit="ns", period=1e6)
    samples = replace(made.samples, frames=frames)
    made = profile_answer(samples, made.recorded)
    text = gzip.decompress(PROFILE_FORMATS.get("pprof").render(made))
    assert text.index(b"/bin/a") < text.index(b"/lib/ld.so.2") < text.index(b"[kernel]")
    named = replace(made.recorded, header={**made.recorded.header, "argv": ["/lib/ld.so.2", "a"]})
    text = gzip.decompress(PROFILE_FORMATS.get("pprof").render(profile_answer(samples, named)))
    assert text.index(b"/lib/ld.so.2") < text.index(b"/bin/a")
