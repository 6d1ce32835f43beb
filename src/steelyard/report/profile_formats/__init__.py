"""Profiles in the formats of other tools' viewers. One format is one file with an `EXTENSION`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.core.registry import Registry


@dataclass(frozen=True)
class ProfileFormat:
    """A way to write a profile down for another tool.

    Parameters
    ----------
    name : str
        What ``--format`` takes.
    suffix : str
        Of its files, with the dot.
    description : str
        What reads it.
    render : callable
        The whole file for a profile.
    """

    name: str
    suffix: str
    description: str
    render: Callable[[ProfileAnswer], bytes]


PROFILE_FORMATS: Registry[ProfileFormat] = Registry(
    "profile format", "steelyard.report.profile_formats", "steelyard.profile_formats"
)
