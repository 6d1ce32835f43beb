"""The programs whose truth is known, and what the sampler says of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steelyard.analysis.profiles.profile_samples import ProfileSamples
from steelyard.profile.attribution import attribute
from steelyard.profile.file.profile_file import RawProfile, read_profile
from steelyard.profile.recording_request import Recording
from steelyard.profile.sampler import record
from steelyard.profile.symbols.place_names import NamingRules

SOURCES = Path(__file__).parent
STEELYARD = Path(sys.executable).with_name("steelyard")


@dataclass(frozen=True)
class Programs:
    """The programs, built."""

    folder: Path

    @property
    def aliasing(self) -> str:
        return str(self.folder / "aliasing")

    @property
    def clock_watcher(self) -> str:
        return str(self.folder / "clock_watcher")

    @property
    def handover(self) -> str:
        return str(self.folder / "handover")

    @property
    def shares(self) -> str:
        return str(self.folder / "shares")

    @property
    def profile(self) -> str:
        return str(self.folder / "profile")


def build(folder: str) -> Programs:
    """Compile the programs into `folder`."""
    flags = ("-O1", "-fno-omit-frame-pointer", "-Wall", "-Wextra", "-Werror")
    for output, words in {
        "aliasing": ("-pthread", "aliasing.c"),
        "clock_watcher": ("clock_watcher.c",),
        "handover": ("handover.c",),
        "libshares.so": ("-shared", "-fPIC", "shares_library.c"),
        "shares": ("-pthread", "shares.c", f"-L{folder}", "-lshares", f"-Wl,-rpath,{folder}"),
    }.items():
        command = ["cc", *flags, *words, "-o", f"{folder}/{output}"]
        subprocess.run(command, check=True, cwd=SOURCES)
    return Programs(Path(folder))


@dataclass(frozen=True)
class Recorded:
    """What was recorded, and the functions of its samples."""

    raw: RawProfile
    samples: ProfileSamples
    summary: Mapping[str, object]

    def counts(self, names: Sequence[str], thread: int | None = None) -> list[int]:
        """Samples in each of these functions, of one thread or of all."""
        found = np.array([frame.name for frame in self.samples.frames])[self.samples.functions]
        if thread is not None:
            found = found[self.samples.threads == thread]
        return [int((found == name).sum()) for name in names]


def recorded(recording: Recording) -> Recorded:
    """Record, and read it back."""
    summary = record(recording)
    raw = read_profile(recording.output)
    return Recorded(raw, attribute(raw, rules=NamingRules(inlined=False)), summary)


def verdict(holds: bool) -> str:
    """How every part ends."""
    return "holds" if holds else "DOES NOT HOLD"
