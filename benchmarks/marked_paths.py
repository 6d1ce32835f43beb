"""How many call paths of finished programs marked calls tell, and what they cost.

    python -m benchmarks.marked_paths [--folder FOLDER] [--goal SHARE] [--period-us N] [--by-calls]
        [NAME ...]

Programs of the suite in C and C++, built by gcc -O2 (Mytkowicz 2010, section 5.4.4; the anchor is
W. N. Sumner and others, *Precise Calling Context Encoding*, ICSE 2010). Paths are learnt of the
input `test`; calls are marked in the finished program, which is run with `record --paths`.
Instructions are those of callgrind; with
--by-calls the marked program is not run by it, and each learnt pass of a mark counts as ten.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.keys_of_paths.changed_program import instructions, learnt_map
from benchmarks.keys_of_paths.key_tables import MOST_GROWTH, percent
from benchmarks.path_learning import PROGRAMS, run_of
from steelyard.analysis.paths.path_check import judged
from steelyard.analysis.paths.sampled_paths import NOT_LEARNT, OTHER_MARK, SampledPaths
from steelyard.app.profile.path_profile import read_paths
from steelyard.app.profile.path_recording import PathsAsked, record_paths
from steelyard.app.profile.path_resizing import ResizingRequest, map_of_output, resize_paths
from steelyard.app.profile.sampled_judging import apart
from steelyard.core.errors import SteelyardError
from steelyard.profile.paths.learning_run import Surroundings
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.recording_request import Recording

MOST_MORE = 0.01
_MARK_INSTRUCTIONS = 10
# Of larger maps frames are left as they are: the search would take minutes.
MOST_RESIZED, MOST_PATHS = 100_000, 1_000_000


@dataclass(frozen=True)
class Told:
    """What one program gave."""

    name: str
    path_count: int
    before: float
    after: float
    calls: int
    call_count: int
    passed: float
    search_s: float
    more_instructions: float
    growth: float
    samples: SampledPaths


def told(name: str, folder: str, goal: float, period_us: float, by_calls: bool) -> Told:
    """Learn, mark, count, and record."""
    learnt, program = learnt_map(name, "test", folder), run_of(name, "test").argv[0]
    if len(learnt.nodes) > MOST_PATHS:
        raise SteelyardError(f"more than {MOST_PATHS:,} paths")
    changed = os.path.join(folder, f"{name}-marked")
    before_s = time.process_time()
    request = ResizingRequest(
        map_path=os.path.join(folder, f"{name}-test.paths"),
        seed=1,
        wraps_calls=False,
        marks_calls=True,
        budget_ratio=MOST_GROWTH,
        goal=goal if len(learnt.nodes) <= MOST_RESIZED else 0.0,
        program=program,
        output=changed,
    )
    found = resize_paths(request)
    search_s = time.process_time() - before_s
    marks = found.marks
    assert marks is not None
    run = run_of(name, "test")
    before = instructions(run)
    if by_calls:
        more = _MARK_INSTRUCTIONS * marks.passed_share * learnt.call_count / before
    else:
        more = instructions(replace(run, argv=(changed, *run.argv[1:]))) / before - 1
    check = judged(read_map(map_of_output(changed))).offline
    return Told(
        name=name,
        path_count=check.path_count,
        before=found.before.paths.resolved,
        after=check.paths.resolved,
        calls=len(marks.calls),
        call_count=marks.call_count,
        passed=marks.passed_share,
        search_s=search_s,
        more_instructions=more,
        growth=found.growth_ratio,
        samples=sampled(name, folder, changed, period_us),
    )


def sampled(name: str, folder: str, changed: str, period_us: float) -> SampledPaths:
    """The samples of a marked program at the input that its paths were learnt of."""
    run = run_of(name, "test")
    command = apart((changed, *run.argv[1:]), Surroundings(run.directory, run.stdin))
    profile = os.path.join(folder, f"{name}-marked.profile")
    recording = Recording(output=profile, argv=command, period_ns=period_us * 1000)
    asked = PathsAsked(map_of_output(changed), program=changed)
    record_paths(recording, asked, lambda _: None, java=False)
    return read_paths(profile)


def unlearnt(paths: SampledPaths) -> int:
    """Samples in the program whose key is not in the map."""
    own = (NOT_LEARNT, OTHER_MARK)
    return sum(
        one.sample_count
        for one in paths.missing
        if one.reason in own and ".steelyard" not in one.function
    )


def row(one: Told) -> str:
    """A line of the table."""
    counts = one.samples.counts
    own = counts["resolved"] + counts["ambiguous"] + unlearnt(one.samples)
    share = counts["resolved"] / own if own else 1.0
    return (
        f"| {one.name} | {one.path_count:,} | {percent(one.before)} | {percent(one.after)} "
        f"| {one.calls:,} of {one.call_count:,} | {100 * one.passed:.2f} % | {one.search_s:.1f} "
        f"| {100 * one.more_instructions:.3f} % | {one.growth:.2f} | {own:,} | {percent(share)} |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder")
    parser.add_argument("--goal", type=float, default=1.0)
    parser.add_argument("--by-calls", action="store_true")
    parser.add_argument("--period-us", type=float, default=200.0)
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    given = parser.parse_args(arguments)
    print(
        "| program | paths | as it is | marked | marked calls | learnt calls that pass one ", end=""
    )
    print("| search, s | more instructions | stack | samples in the program | resolved |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    found: list[Told] = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.programs:
            try:
                one = told(
                    name, given.folder or temporary, given.goal, given.period_us, given.by_calls
                )
            except (SteelyardError, subprocess.SubprocessError) as error:
                print(f"{name} is left out: {str(error).splitlines()[0][:200]}", flush=True)
                continue
            print(row(one), flush=True)
            found.append(one)
    inexact = [one.name for one in found if one.after < 1]
    dear = [one.name for one in found if one.more_instructions > MOST_MORE]
    print(f"not all paths exact: {', '.join(inexact) or 'none'}")
    print(f"more than {percent(MOST_MORE)} of instructions: {', '.join(dear) or 'none'}")
    return int(bool(inexact or dear or not found))


if __name__ == "__main__":
    sys.exit(main())
