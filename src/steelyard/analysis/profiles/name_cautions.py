"""What limits the names that a profile gives to its samples."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.profiles.profile_samples import ProfileSamples, SharedCode
from steelyard.core.experiment_results import Caution

_TOLD_MENDED_RATIO = 0.01
_TOLD_NAMELESS_RATIO = 0.05
_TOLD_SHARED_RATIO = 0.01
_TOLD_UNDESCRIBED_RATIO = 0.01
_MOST_TOLD_COUNT = 3
_LONGEST_NAME = 60
# A program that begins is in none of its files yet, for a sample or two.
_TOLD_UNMAPPED_COUNT = 20
# Files that the kernel calls so hold what a program has written into its memory.
_MADE_AT_RUN_TIME = ("//anon", "[anon", "/memfd:", "/dev/zero")
# The file of places of which nothing is known.
UNMAPPED = "[unknown]"


def cautions_of_names(samples: ProfileSamples) -> list[Caution]:
    """What limits the names of a profile: what to know of them before they are trusted."""
    found = [*_of_shared_code(samples), *_of_undescribed_files(samples)]
    if samples.changed_files:
        message = (
            f"After the recording {', '.join(samples.changed_files)} changed: functions in there "
            "may have the names of others. Report before you build anew."
        )
        found.append(Caution("changed-files", message))
    if samples.foreign_files:
        within = np.array([frame.object in samples.foreign_files for frame in samples.frames])
        percent = 100 * float(within[samples.functions].mean())
        message = (
            f"{percent:.1f} % of the samples have no names: the program had other files than there "
            f"are now under {', '.join(samples.foreign_files)}. They are gone, replaced by another "
            "build, or in a container. Report before you build anew, and while containers run."
        )
        found.append(Caution("foreign-files", message))
    unmapped = np.array([frame.object == UNMAPPED for frame in samples.frames])
    count = int(unmapped[samples.functions].sum())
    if count >= max(_TOLD_UNMAPPED_COUNT, _TOLD_NAMELESS_RATIO * len(samples.functions)):
        percent = 100 * count / len(samples.functions)
        message = (
            f"{percent:.0f} % of the samples have no names: the profile does not tell "
            "what the program had mapped there. It was cut off, or the program ran where nobody "
            "watched."
        )
        found.append(Caution("unmapped-samples", message))
    nameless = np.array([frame.object.startswith(_MADE_AT_RUN_TIME) for frame in samples.frames])
    nameless &= np.array([frame.name.startswith("[") for frame in samples.frames])
    ratio = float(nameless[samples.functions].mean()) if len(samples.functions) else 0.0
    if ratio >= _TOLD_NAMELESS_RATIO:
        message = (
            f"{100 * ratio:.0f} % of the samples are in code that was made at run time and that "
            "nothing names. Let the program write a map for perf (node --perf-basic-prof); of "
            "virtual machines of Java that another one starts, record with --java -- sh -c 'CMD'."
        )
        found.append(Caution("nameless-code", message))
    ratio = samples.mended_count / len(samples.functions)
    if ratio < _TOLD_MENDED_RATIO:
        return found
    message = (
        f"{100 * ratio:.0f} % of the samples are in code of which the Java virtual machine names "
        "the wrong method (after calls that it inlined late); they count for the method that it "
        "names next, or behind the last one for the method that was compiled."
    )
    return [*found, Caution("mended-places", message)]


def _of_shared_code(samples: ProfileSamples) -> list[Caution]:
    count = len(samples.functions)
    told = [code for code in samples.shared_code if code.samples >= _TOLD_SHARED_RATIO * count]
    if not told:
        return []
    percent = 100 * sum(code.samples for code in told) / count
    which = "; ".join(_shared(code) for code in told[:_MOST_TOLD_COUNT])
    more = f"; and {len(told) - _MOST_TOLD_COUNT} more" if len(told) > _MOST_TOLD_COUNT else ""
    message = (
        f"{percent:.1f} % of the samples are in code that is one for several functions: {which}"
        f"{more}. Compilers and linkers keep one of functions that are alike (identical code "
        "folding), and code that is made at run time is replaced: which of them ran is not known."
    )
    return [Caution("shared-code", message)]


def _of_undescribed_files(samples: ProfileSamples) -> list[Caution]:
    found: list[Caution] = []
    for file, missing in samples.undescribed_files.items():
        within = np.array([frame.object == file for frame in samples.frames])
        ratio = float(within[samples.functions].mean())
        if ratio < _TOLD_UNDESCRIBED_RATIO:
            continue
        names = [_short(name.rpartition("/")[2]) for name in missing[:_MOST_TOLD_COUNT]]
        left_count = len(missing) - len(names)
        message = (
            f"{file} has {100 * ratio:.1f} % of the samples, and debugging information of it is "
            f"not there: {', '.join(names)}{f' and {left_count} more' if left_count else ''}. The "
            "time of functions that were inlined is that of their callers there. Leave the .dwo "
            "files where they were compiled, or put a package beside the program (dwp -e)."
        )
        found.append(Caution("missing-debug-files", message))
    return found[:_MOST_TOLD_COUNT]


def _shared(code: SharedCode) -> str:
    others = [_short(name) for name in code.others[:_MOST_TOLD_COUNT]]
    left_count = len(code.others) - len(others)
    rest = f" and {left_count} more" if left_count else ""
    return f"{_short(code.function)} is also {', '.join(others)}{rest}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
