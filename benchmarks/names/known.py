"""Generated programs: built, recorded by Steelyard and by perf, and compared with their truth."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.names.languages import LANGUAGES, UNIT, Piece
from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.analysis.profiles.profile_samples import independent_count, share_estimate
from steelyard.app.profile.record_profile import read_answer, record_profile
from steelyard.profile.recording_request import Recording
from steelyard.profile.symbols.demangling import function_name

CONFIDENCE = 0.95
_ATTEMPTS, _SEEDS_APART = 5, 1_000
# A name that stands for less of the time may be the start of a runtime.
_WRONG_RATIO = 0.03
# What tiers of V8's compilers put before a name, and the place that follows.
_SCRIPT_NAME = re.compile(r"^(?:JS|Function|LazyCompile|Script|Eval)?:?[~^*+]*([\w$.]+) .*$")
_DEBUGGING = ("plain", "separate", "compressed", "split")


@dataclass(frozen=True)
class Known:
    """A program whose functions take known shares."""

    language: str
    argv: tuple[str, ...]
    turns: Mapping[str, int]

    def truth(self, name: str) -> float:
        return self.turns[name] / sum(self.turns.values())


def generate(language: str, number: int, seed: int, run_ms: int, folder: Path) -> Known:
    """Write and build one program."""
    drawn = random.Random(f"{seed} {language} {number}")
    kinds = list(LANGUAGES[language].kinds.values())
    pieces: list[Piece] = []
    for index in range(drawn.randint(2, 4)):
        # Compilers make one function of two that do the same.
        a, b = (UNIT * drawn.randint(1, 6) + 8 * (2 * index + more) for more in range(2))
        pieces.append(drawn.choice(kinds)(index, a, b))
    suffix = LANGUAGES[language].suffix
    source = LANGUAGES[language].program
    source = source.replace("@SOURCE@", "".join(piece.source for piece in pieces))
    separator = "\n" if language == "Go" else " "
    source = source.replace("@CALLS@", separator.join(piece.call for piece in pieces))
    source = source.replace("@MS@", str(run_ms))
    folder.mkdir(parents=True)
    path = folder / f"{'Program' if suffix == 'java' else 'program'}.{suffix}"
    path.write_text(source)
    turns = {name: count for piece in pieces for name, count in piece.turns.items()}
    debugging = _DEBUGGING[number % len(_DEBUGGING)]
    return Known(language, _build(language, folder, path.name, debugging), turns)


def _build(language: str, folder: Path, source: str, debugging: str) -> tuple[str, ...]:
    def run(*words: str) -> None:
        subprocess.run(words, cwd=folder, check=True, capture_output=True)

    program = str(folder / "program")
    if language in ("C", "C++"):
        more = {"compressed": ["-gz"], "split": ["-gsplit-dwarf"]}.get(debugging, [])
        compiler = "gcc" if language == "C" else "g++"
        run(compiler, "-O2", "-g", *more, source, "-o", "program")
    elif language == "Rust":
        more = {
            "compressed": ["-Clink-arg=-Wl,--compress-debug-sections=zlib"],
            "split": ["-Csplit-debuginfo=packed"],
        }.get(debugging, [])
        run("rustc", "-g", "-Copt-level=2", *more, source, "-o", "program")
    elif language == "Go":
        # Its linker compresses unless told otherwise, and splits nothing.
        flags = "-ldflags=-compressdwarf=false" if debugging == "plain" else "-ldflags="
        run("go", "build", flags, "-o", "program", source)
    elif language == "Java":
        run("javac", source)
        return ("java", "-cp", str(folder), "Program")
    else:
        # perf's maps do not tell of what V8 inlined.
        kept = ("--no-logfile-per-isolate", f"--logfile={folder / 'v8.log'}")
        flags = ("--perf-basic-prof", "--no-turbo-inlining", *kept)
        return ("node", *flags, str(folder / source))
    if debugging == "separate":
        run("objcopy", "--only-keep-debug", "program", "program.debug")
        run("strip", "program")
        run("objcopy", "--add-gnu-debuglink=program.debug", "program")
    return (program,)


@dataclass(frozen=True)
class Outcome:
    """What one profile says of a program: intervals that cover, and names.

    `wrong` are names with more than 3 % of the time that no function has, or that of another one.
    """

    intervals: int
    covering: int
    missing: tuple[str, ...]
    wrong: tuple[str, ...]


def judged(known: Known, counts: Mapping[str, int], worth_ratio: float) -> Outcome:
    """Compare samples by name with the truth."""
    found = dict.fromkeys(known.turns, 0)
    others: dict[str, int] = {}
    for shown, count in counts.items():
        name = _expected(known, shown)
        if name is None:
            others[shown] = others.get(shown, 0) + count
        else:
            found[name] += count
    total = sum(found.values())
    everything = total + sum(others.values())
    covering = 0
    for name, count in found.items():
        if total:
            estimate = share_estimate(count, total, CONFIDENCE, worth_ratio * total)
            covering += estimate.low <= known.truth(name) <= estimate.high
    wrong = [name for name, count in others.items() if count > _WRONG_RATIO * everything]
    return Outcome(
        len(found),
        covering,
        tuple(name for name, count in found.items() if not count),
        tuple(wrong),
    )


def _expected(known: Known, shown: str) -> str | None:
    """Which of the functions a name stands for: itself, or one with what the compiler chose."""
    if known.language == "JavaScript" and (script := _SCRIPT_NAME.match(shown)):
        shown = script[1].rpartition(".")[2]
    if shown in known.turns:
        return shown
    open_ended = (name for name in known.turns if name.endswith(("<", "[", "{")))
    return next((name for name in open_ended if name in shown), None)


def by_steelyard(known: Known, folder: Path, period_ns: float, seed: int) -> Outcome:
    """One recording of our own."""
    output = str(folder / "steelyard.profile")
    recording = Recording(output, known.argv, period_ns=period_ns, seed=seed)
    answer = _recorded(recording)
    attempt = 1
    # Somebody may take CPUs away, and give them back, while it records; the report says so.
    while (lost := answer.recorded.unwatched_ratio) and attempt < _ATTEMPTS:
        print(f"  recorded again: {lost:.0%} was not watched", file=sys.stderr)
        answer = _recorded(replace(recording, seed=seed + _SEEDS_APART * attempt))
        attempt += 1
    counts = _own_counts(known, answer)
    if known.language == "JavaScript":
        _remove_maps(set(answer.samples.processes.tolist()))
    return judged(known, counts, independent_count(answer.samples) / len(answer.samples.functions))


def _recorded(recording: Recording) -> ProfileAnswer:
    record_profile(recording, lambda _: None)
    return read_answer(recording.output, CONFIDENCE)


def _own_counts(known: Known, answer: ProfileAnswer) -> dict[str, int]:
    counts: dict[str, int] = {}
    samples = answer.samples
    kept = np.ones(len(samples.functions), bool)
    if known.language in ("Java", "JavaScript"):
        # What compilers and collectors do beside the program is none of its functions.
        named = [_expected(known, frame.name) is not None for frame in samples.frames]
        # Names in brackets are the virtual machine's own code.
        made = [
            (frame.object == "[java]" and not frame.name.startswith("["))
            or frame.object.startswith("//anon")
            for frame in samples.frames
        ]
        kept = (np.array(named) | np.array(made))[samples.functions]
    for index in samples.functions[kept].tolist():
        name = samples.frames[index].name
        counts[name] = counts.get(name, 0) + 1
    return counts


def by_perf(known: Known, folder: Path, frequency_hz: int) -> Outcome | None:
    """One recording by perf of the same file; None where perf fails."""
    output = str(folder / "perf.data")
    options = ("-e", "cpu-clock:u", "-F", str(frequency_hz), "-q", "-o", output)
    done = subprocess.run(
        ["perf", "record", *options, "--", *known.argv], capture_output=True, check=False
    )
    columns = ["-F", "sample,sym", "-t", "\t", "--percent-limit", "0"]
    command = [
        "perf",
        "report",
        "-f",
        "-i",
        output,
        "--stdio",
        "--no-children",
        "-q",
        "--no-demangle",
    ]
    told = subprocess.run([*command, *columns], capture_output=True, text=True, check=False)
    if done.returncode or told.returncode:
        return None
    if known.language == "JavaScript":
        _remove_maps(_perf_processes(output))
    counts = _perf_counts(told.stdout.splitlines())
    if known.language in ("Java", "JavaScript"):
        counts = {name: count for name, count in counts.items() if _expected(known, name)}
    return judged(known, counts, 1.0)


def _perf_counts(lines: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in lines:
        count, _, symbol = line.partition("\t")
        if count.strip().isdigit():
            name = symbol.strip().partition("] ")[2] or symbol.strip()
            name = function_name(name.encode())
            counts[name] = counts.get(name, 0) + int(count)
    return counts


def _remove_maps(processes: Iterable[int]) -> None:
    """Take away what V8 left for profilers."""
    for process in processes:
        Path(f"/tmp/perf-{process}.map").unlink(missing_ok=True)


def _perf_processes(output: str) -> set[int]:
    command = ["perf", "script", "-f", "-i", output, "-F", "pid"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return {int(word) for word in told.split() if word.isdigit()}
