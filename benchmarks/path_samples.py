"""What a sample costs whose call path is looked up in a map, beside samples with stacks.

The processor time of what watches a program, at two rates of samples: the price of a sample is the
difference by the difference of samples, so that what starting costs is not in it. What the kernel
does for a sample is in the program's own time, which varies more than that; by `--paths` it is
asked for the same as without. A program with marked calls takes its samples in its own time, so the
price by both times together is shown too. Kinds take turns.
`python -m benchmarks.path_samples [ROUNDS]` prints the table.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_map import PathMap
from steelyard.app.profile.path_maps import learn_paths
from steelyard.app.profile.path_resizing import ResizingRequest, resize_paths
from steelyard.profile.file.profile_file import read_profile
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.paths.mark_samples import sampling_marks
from steelyard.profile.paths.stack_notes import noting_stacks
from steelyard.profile.recording_request import Recording
from steelyard.profile.sampler import record

_PROGRAM = r"""
#include <stdio.h>
#include <time.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
FUNCTION void deep(long depth, long n) {
    volatile char room[200];
    room[0] = 1;
    if (depth == 0) leaf(n); else deep(depth - 1, n);
    sink += room[0];
}
FUNCTION void left(long n) { leaf(n); sink += 1; }
FUNCTION void right(long n) { leaf(n); sink += 1; }
int main(int count, char** words) {
    struct timespec used;
    for (int k = 0; k < 4000; k++) deep(20 + k % 5, 100000);
    left(1000);
    right(1000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    if (count > 1) fprintf(fopen(words[1], "w"), "%ld.%09ld", used.tv_sec, used.tv_nsec);
    return 0;
}
"""
_SLOW_NS, _FAST_NS = 10e6, 200e3
_LOOKUPS = 1_000_000


@dataclass(frozen=True)
class Cost:
    """Processor time of what watched a run, that of both, and how many samples were taken."""

    time_s: float
    whole_s: float
    sample_count: int


Runner = Callable[[str, float], Cost]


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watcher_s(before_s: float, spent: str) -> float:
    """What children took since, without the program, which has written its own time."""
    with open(spent, encoding="ascii") as file:
        return _children_s() - before_s - float(file.read())


def _of(recording: Recording, program: str, period_ns: float) -> Recording:
    return replace(recording, argv=(program,), period_ns=period_ns)


def _cost(recording: Recording) -> Cost:
    """Of all looks: one that finds another program costs the same."""
    before_s = _children_s()
    summary = record(recording)
    whole_s = _children_s() - before_s
    looks = len(read_profile(recording.output).samples)
    return Cost(summary["handling_ns"] * 1e-9, whole_s, looks)


def _by_steelyard(folder: str, **options: str) -> Runner:
    recording = Recording(os.path.join(folder, "profile"), **options)  # type: ignore[arg-type]

    def run(program: str, period_ns: float) -> Cost:
        return _cost(_of(recording, program, period_ns))

    return run


def _by_paths(folder: str) -> Runner:
    recording = Recording(os.path.join(folder, "profile"))

    def run(program: str, period_ns: float) -> Cost:
        with noting_stacks(_of(recording, program, period_ns)) as noting:
            return _cost(noting)

    return run


def _by_marks(folder: str, marked: str) -> Runner:
    recording = Recording(os.path.join(folder, "profile"))

    def run(_: str, period_ns: float) -> Cost:
        with (
            noting_stacks(_of(recording, marked, period_ns)) as noting,
            sampling_marks(noting) as sampling,
        ):
            return _cost(sampling)

    return run


def _by_perf(folder: str, graph: str | None) -> Runner:
    output = os.path.join(folder, "perf.data")
    spent = os.path.join(folder, "spent")
    words = ["--call-graph", graph] if graph else []

    def run(program: str, period_ns: float) -> Cost:
        before_s = _children_s()
        rate = str(round(1e9 / period_ns))
        # Without build ids, which some versions of perf abort on; it then reads no sample again.
        asked = ["perf", "record", "-q", "-B", "-e", "cpu-clock:u", "-F", rate]
        asked += [*words, "-o", output]
        subprocess.run([*asked, "--", program, spent], check=True, stderr=subprocess.DEVNULL)
        whole_s = _children_s() - before_s
        cost_s = _watcher_s(before_s, spent)
        listed = subprocess.run(
            ["perf", "script", "-i", output, "-F", "time", "-G"],
            capture_output=True,
            check=True,
        )
        return Cost(cost_s, whole_s, len(listed.stdout.split()))

    return run


def _prices_us(slow: Cost, fast: Cost) -> tuple[float, float]:
    """By what watches, and by that and the program."""
    looks = fast.sample_count - slow.sample_count
    times_s = fast.time_s - slow.time_s, fast.whole_s - slow.whole_s
    return 1e6 * times_s[0] / looks, 1e6 * times_s[1] / looks


def lookup_ns(path_map: PathMap) -> float:
    """The least time of three for a look-up, over keys of the map in turn."""
    keyed = KeyedPaths(path_map, {})
    keys = [(node.function, node.height_bytes) for node in path_map.nodes]
    keys = (keys * (_LOOKUPS // len(keys) + 1))[:_LOOKUPS]
    times_ns: list[int] = []
    for _ in range(3):
        began_ns = time.process_time_ns()
        for function, height in keys:
            keyed.candidates(function, height)
        times_ns.append(time.process_time_ns() - began_ns)
    return min(times_ns) / _LOOKUPS


def _built(folder: str) -> str:
    program = os.path.join(folder, "program")
    source = os.path.join(folder, "program.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(_PROGRAM)
    subprocess.run(["gcc", "-O2", "-fno-omit-frame-pointer", source, "-o", program], check=True)
    return program


def _marked(folder: str, program: str, path_map: str) -> str:
    """The program with the calls marked that its heights do not tell apart."""
    found = resize_paths(
        ResizingRequest(
            map_path=path_map,
            seed=1,
            wraps_calls=False,
            marks_calls=True,
            budget_ratio=1.0,
            goal=0.0,
            program=program,
            output=os.path.join(folder, "marked"),
        )
    )
    if found.marks is None or not found.marks.numbers:
        raise SystemExit("No call of the program needs a mark.")
    return os.path.join(folder, "marked")


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
        program, path_map = _built(folder), os.path.join(folder, "map")
        learn_paths((program,), path_map, None)
        kinds: dict[str, Runner] = {
            "steelyard, no stacks": _by_steelyard(folder),
            "steelyard, --paths": _by_paths(folder),
            "steelyard, --paths, marked calls": _by_marks(
                folder, _marked(folder, program, path_map)
            ),
            "steelyard, --stacks (frame pointers)": _by_steelyard(folder, stacks="frame-pointers"),
            "steelyard, --stacks=dwarf": _by_steelyard(folder, stacks="dwarf"),
            "perf, no stacks": _by_perf(folder, None),
            "perf, frame pointers": _by_perf(folder, "fp"),
            "perf, dwarf": _by_perf(folder, "dwarf"),
        }
        prices: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
        for _ in range(rounds):
            for name, run in list(kinds.items()):
                try:
                    slow, fast = run(program, _SLOW_NS), run(program, _FAST_NS)
                except (OSError, subprocess.CalledProcessError) as error:
                    print(f"{name} is left out: {error}", file=sys.stderr)
                    del kinds[name], prices[name]
                    continue
                prices[name].append(_prices_us(slow, fast))
        print("| kind | µs a sample: median | least | most | and in the program | least | most |")
        print(f"|{'---|' * 7}")
        for name, found in prices.items():
            shown = [
                pick(price)
                for price in zip(*found, strict=True)
                for pick in (statistics.median, min, max)
            ]
            print(f"| {name} | {' | '.join(f'{value:.1f}' for value in shown)} |")
        learnt = read_map(path_map)
        print(f"look-up: {lookup_ns(learnt):.0f} ns, {len(learnt.nodes)} nodes")


if __name__ == "__main__":
    main()
