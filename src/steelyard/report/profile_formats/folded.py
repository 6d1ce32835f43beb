"""Folded stacks: a line a stack, as flamegraph.pl and its kin read them."""

from __future__ import annotations

from steelyard.analysis.profiles.call_stacks import merged_stacks
from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.report.profile_formats import ProfileFormat


def render(answer: ProfileAnswer) -> bytes:
    """Each stack from the outermost caller on, by ``;``, then its samples."""
    frames = answer.samples.frames
    # The separators of the format cannot be escaped in it.
    names = [frame.name.replace(";", ":").replace("\n", " ") for frame in frames]
    lines = [
        f"{';'.join(names[index] for index in stack)} {count}\n"
        for stack, count in merged_stacks(answer.samples)
    ]
    return "".join(lines).encode("utf-8", "replace")


EXTENSION = ProfileFormat("folded", ".folded", "flamegraph.pl, inferno, speedscope", render)
