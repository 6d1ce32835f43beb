import json
import re

import numpy as np
import pytest

from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.analysis.profiles.profile_samples import Frame, ProfileSamples
from steelyard.report.kinds.profile.page import profile_page

LONG = "org.example.a.package.of.many.words.and.a.Class"


def page(*frames, **header):
    """The page of a profile with a sample in each of the functions."""
    count = len(frames)
    samples = ProfileSamples(
        frames=frames,
        functions=np.arange(count),
        times_ns=np.arange(count, dtype=np.uint64),
        cpus=np.zeros(count, np.uint16),
        threads=np.full(count, 9, np.uint32),
        processes=np.full(count, 9, np.uint32),
        in_kernel=np.zeros(count, bool),
        inlined=np.zeros(count, bool),
        stacks=np.arange(count),
        stack_lengths=np.ones(count, np.int64),
        thread_names={9: "worker"},
    )
    header = {"spread": "uniform", "period": 1e6, "unit": "ns", **header}
    looks = np.arange(count, dtype=np.uint64)
    recorded = Recorded("a.profile", header, {}, looks, np.zeros(count, np.uint16))
    return profile_page(profile_answer(samples, recorded))


def bars(text):
    figures = re.search(r'<script id="figures"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert figures is not None
    return json.loads(figures.group(1))["figures"]["where"]["data"][0]["y"]


def test_bars_of_functions_with_one_beginning_or_one_name_are_told_apart():
    frames = (
        Frame(f"{LONG}.first", "[java]"),
        Frame(f"{LONG}.second", "[java]"),
        Frame("init", "/lib/a.so"),
        Frame("init", "/lib/b.so"),
    )
    assert len(set(bars(page(*frames)))) == 4


@pytest.mark.parametrize(
    ("header", "title", "command"),
    [
        ({"argv": ["/usr/bin/java", "-cp", "a b", "Main"]}, "java", "-cp &#39;a b&#39; Main"),
        ({"argv": [], "process": 7}, "process 7", None),
    ],
)
def test_a_page_is_titled_by_the_program_and_has_the_command_beneath(header, title, command):
    text = page(Frame("main", "/bin/a"), **header)
    assert f"<title>Profile of {title} " in text
    assert command is None or command in text
