"""Pairs of programs made on purpose: are they told apart, and is the right function blamed?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.commit_pairs.made_programs import Edit, edits, source_of
from steelyard.app.predict.commit_code import Programs, compare_code
from steelyard.predict.commits.pair_rows import PairNames
from steelyard.predict.commits.pair_table import PairTable
from steelyard.predict.commits.predictor import learn_predictor

# No edit may be missed.
_HIT_RATE = 0.99
# How the old version is built; 5 programs by 4 of them are 20 pairs of each kind.
SETTINGS = (("gcc", "-O2"), ("gcc", "-O1"), ("clang", "-O2"), ("clang", "-O1"))


@dataclass(frozen=True)
class MadePair:
    """One pair with what is known of it and what was found."""

    program: str
    setting: str
    edit: Edit
    table: PairTable
    reason: str


def build(folder: Path, text: str, command: Sequence[str], strip: bool = False) -> Path:
    """A program of a source, built in a folder of its own; the source has one name everywhere."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.c").write_text(text)
    call = [*command, "program.c", "-o", "program"]
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    if strip:
        subprocess.run(["strip", "program"], cwd=folder, check=True)
    return folder / "program"


def profile(program: Path) -> Path:
    """What a run of the program does, counted by callgrind."""
    out = program.with_name("callgrind.out")
    options = ("--quiet", "--dump-instr=yes", f"--callgrind-out-file={out}")
    call = ["valgrind", "--tool=callgrind", *options, str(program)]
    subprocess.run(call, check=True, capture_output=True)
    return out


def made_pairs(
    folder: Path, programs: Sequence[str], settings: Sequence[tuple[str, ...]]
) -> Iterator[MadePair]:
    """Every edit of some programs."""
    for program in programs:
        for setting in settings:
            place = folder / program / "-".join(setting)
            old = build(place / "old", source_of(program), setting)
            use = profile(old)
            for edit in edits(program):
                command = [*setting, *edit.flags]
                new = build(
                    place / edit.kind.replace(" ", "-"), source_of(program, edit), command,
                    edit.strip,
                )  # fmt: skip
                pair = Programs(str(old), str(new), (f"{program}={use}",))
                found = compare_code(pair, PairNames(unknown=edit.kind, project=program))
                yield MadePair(program, " ".join(setting), edit, found.table, found.reasons[0][0])


def together(pairs: Sequence[MadePair]) -> PairTable:
    """One table of all pairs, with their labels, in the order of their settings."""
    tables = [pair.table for pair in pairs]
    count = len(pairs)
    return PairTable(
        "made pairs",
        tuple(table.benchmarks[0] for table in tables),
        ("old",) * count,
        tuple(pair.edit.kind for pair in pairs),
        tuple(pair.program for pair in pairs),
        np.array([hash_order(pair) for pair in pairs]),
        np.full(count, np.nan),
        np.full(count, np.nan),
        tables[0].indicators,
        np.vstack([table.values for table in tables]),
        np.array([float(pair.edit.changes) for pair in pairs]),
    )


def hash_order(pair: MadePair) -> float:
    """A place in a made-up history: edits of all kinds are mixed."""
    return float(sum(map(ord, pair.program + pair.setting + pair.edit.kind)) % 97)


def wrong_answers(pairs: Sequence[MadePair]) -> list[MadePair]:
    """Pairs that a predictor, learnt from the other programs, answers wrongly."""
    table = together(pairs)
    wrong: list[MadePair] = []
    for program in dict.fromkeys(table.projects):
        here = np.array([one == program for one in table.projects])
        run = learn_predictor(table.rows(~here), _HIT_RATE).run(table.rows(here))
        for pair, answer in zip(
            (pairs[at] for at in np.flatnonzero(here).tolist()), run, strict=True
        ):
            if bool(answer) != pair.edit.changes:
                wrong.append(pair)
    return wrong


def wrongly_blamed(pairs: Sequence[MadePair]) -> list[MadePair]:
    """Pairs with a planted function that is not the one named first."""
    return [
        pair
        for pair in pairs
        if pair.edit.function and not pair.reason.startswith(f"Function {pair.edit.function},")
    ]
