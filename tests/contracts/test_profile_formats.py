import numpy as np
import pytest

from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.analysis.profiles.profile_samples import Frame, ProfileSamples
from steelyard.report.profile_formats import PROFILE_FORMATS


def awkward_answer():
    """Two threads, chains of several depths, and names that formats must not trip over."""
    frames = (Frame("a;b\n<c>", "/bin/ä"), Frame("\udc80", "[kernel]"), Frame("main", "/bin/ä"))
    samples = ProfileSamples(
        frames=frames,
        functions=np.array([0, 1, 2]),
        times_ns=np.array([5, 9, 30], np.uint64),
        cpus=np.zeros(3, np.uint16),
        threads=np.array([4, 4, 5], np.uint32),
        processes=np.full(3, 4, np.uint32),
        in_kernel=np.array([False, True, False]),
        inlined=np.array([False, False, True]),
        stacks=np.array([0, 2, 1, 0, 2, 2]),
        stack_lengths=np.array([2, 3, 1]),
        thread_names={4: "wörker"},
    )
    header = {"argv": ["./a"], "period": 1e6, "unit": "ns", "spread": "uniform"}
    looks = np.array([5, 9, 30], np.uint64)
    return profile_answer(samples, Recorded("a", header, {}, looks, np.zeros(3, np.uint16)))


@pytest.mark.parametrize("name", PROFILE_FORMATS.names())
def test_a_format_says_what_it_is_and_writes_a_file_with_every_function(name):
    extension = PROFILE_FORMATS.get(name)
    assert extension.name == name
    assert extension.suffix.startswith(".")
    assert extension.description
    assert len(extension.render(awkward_answer())) > 0


@pytest.mark.parametrize("name", PROFILE_FORMATS.names())
def test_the_same_profile_gives_the_same_bytes(name):
    render = PROFILE_FORMATS.get(name).render
    assert render(awkward_answer()) == render(awkward_answer())
