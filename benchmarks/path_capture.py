"""What recordings of call paths copy of stacks, and what a call costs that is a sample.

`--paths auto` on programs of this machine, in turns: where the kernel drops looks at keys that are
believed, and where it may not (without CAP_BPF), so that each look copies a stack. Bytes are
those of the kernel's own records of samples. Then the processor time of a program that calls a
function 200,000 times, with and without `--at-call`. As root: `python -m benchmarks.path_capture
[ROUNDS]` prints two tables.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from steelyard.profile.sampler_command import sampler_path

_STEELYARD = (sys.executable, "-m", "steelyard.cli.main")
_PERL = "sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } f(27); my %h; $h{$_ % 977} .= $_ for 1..900000; print length join '', sort values %h"  # noqa: E501
_PYTHON = "import json; d = {str(i): [i] * 9 for i in range(60000)}; [json.loads(json.dumps(d, indent=1)) for _ in range(4)]"  # noqa: E501
_CALLS = 200_000
_PROGRAM = r"""
#include <stdio.h>
#include <time.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { sink += n; }
FUNCTION void left(long n) { leaf(n); sink++; }
FUNCTION void right(long n) { volatile char room[64]; room[0] = 1; leaf(n); sink += room[0]; }
int main(int count, char** words) {
    struct timespec used;
    for (long k = 0; k < CALLS / 2; k++) { left(k); right(k); }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    fprintf(fopen(words[1], "w"), "%ld.%09ld", used.tv_sec, used.tv_nsec);
    return count > 2;
}
"""


def main() -> None:
    """Print both tables."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory(prefix="steelyard-capture-") as folder:
        _print_walks(folder, rounds)
        _print_calls(folder, rounds)


def _programs(folder: str) -> dict[str, list[str]]:
    lines = os.path.join(folder, "lines")
    with open(lines, "w", encoding="utf-8") as file:
        file.writelines(f"{k * 7919 % 1000003} {k}\n" for k in range(600_000))
    found = {
        "perl": ["perl", "-e", _PERL],
        "sort": ["sort", "--parallel=1", "-n", lines],
        "python3": ["/usr/bin/python3", "-c", _PYTHON],
    }
    return {name: argv for name, argv in found.items() if shutil.which(argv[0])}


def _print_walks(folder: str, rounds: int) -> None:
    print(
        "| program | looks | way | stacks walked | KiB copied "
        "| samples with a path, of those in the program | checks of believed keys, wrong |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, argv in _programs(folder).items():
        for way, sampler in (("dropped", None), ("each copied", _without_bpf(folder))):
            answers = [_auto(folder, argv, sampler) for _ in range(rounds)]
            print(f"| {name} | {_walks_row(answers, way)} |", flush=True)


def _walks_row(answers: list[dict[str, Any]], way: str) -> str:
    def middle(values: Sequence[float]) -> float:
        return statistics.median(values)

    beside = [answer["learnt_beside"] for answer in answers]
    known = [answer["resolved"] + answer["ambiguous"] for answer in answers]
    unlearnt = [
        sum(one["samples"] for one in answer["missing_in"] if one["reason"] == "key never learnt")
        for answer in answers
    ]
    shares = [got / max(1, got + lost) for got, lost in zip(known, unlearnt, strict=True)]
    looks = [one["looks"]["all"] or 0 for one in beside]
    checks, wrong = (sum(one[name] for one in beside) for name in ("checks", "wrong"))
    return " | ".join(
        (
            f"{middle(looks):,.0f}" if way == "dropped" else "–",
            way,
            f"{middle([one['walks'] for one in beside]):,.0f}",
            f"{middle([one['looks']['copied_bytes'] / 1024 for one in beside]):,.0f}",
            f"{100 * middle(shares):.1f} %",
            f"{checks:,}, {wrong:,}",
        )
    )


def _without_bpf(folder: str) -> str:
    """The sampler without the right to have looks dropped; it may do all else."""
    path = os.path.join(folder, "sampler")
    words = shlex.join(("setpriv", "--bounding-set=-bpf,-sys_admin", sampler_path()))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {words} "$@"\n')
    os.chmod(path, 0o755)
    return path


def _auto(folder: str, argv: list[str], sampler: str | None) -> dict[str, Any]:
    profile = os.path.join(folder, "profile")
    environment = {**os.environ, **({"STEELYARD_SAMPLER": sampler} if sampler else {})}
    words = ("profile", "record", "--paths", "auto", "--period", "200us", "-o", profile, "--")
    _run([*_STEELYARD, *words, *argv], environment)
    document = _run([*_STEELYARD, "profile", "report", profile, "--json", "-"], environment)
    answer: dict[str, Any] = json.loads(document)
    return answer


def _print_calls(folder: str, rounds: int) -> None:
    source, program = os.path.join(folder, "calls.c"), os.path.join(folder, "calls")
    with open(source, "w", encoding="utf-8") as file:
        file.write(_PROGRAM.replace("CALLS", str(_CALLS)))
    subprocess.run(["gcc", "-O2", source, "-o", program], check=True)
    ways = {
        "without a recorder": [],
        "`--at-call leaf`": ["--at-call", "leaf"],
        "`--at-call leaf --stacks=dwarf`": ["--at-call", "leaf", "--stacks=dwarf"],
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    taken: dict[str, int] = {}
    for _ in range(rounds):
        for way, words in ways.items():
            time_s, taken[way] = _called(folder, program, words)
            times[way].append(time_s)
    plain = statistics.median(times["without a recorder"])
    print("\n| way | µs a call: median (least to most) | calls that were samples |\n|---|---|---|")
    for way, found in times.items():
        costs = [1e6 * (one - plain) / _CALLS for one in found]
        shown = f"{statistics.median(costs):.2f} ({min(costs):.2f} to {max(costs):.2f})"
        print(f"| {way} | {shown} | {100 * taken[way] / _CALLS:.1f} % |", flush=True)


def _called(folder: str, program: str, words: list[str]) -> tuple[float, int]:
    """Processor time of a run, and how many calls were samples."""
    noted, profile = os.path.join(folder, "noted"), os.path.join(folder, "called")
    command = [program, noted]
    if words:
        command = [*_STEELYARD, "profile", "record", *words, "-o", profile, "--", *command]
    _run(command, dict(os.environ))
    with open(noted, encoding="utf-8") as file:
        time_s = float(file.read())
    if not words:
        return time_s, 0
    from steelyard.profile.file.profile_file import read_profile

    return time_s, len(read_profile(profile).samples)


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
